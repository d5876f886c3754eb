"""The first hour: preparing a repository, finding out what it lacks, and seeing the gate at work."""
