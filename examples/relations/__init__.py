"""Relations at work: six families of programs, and three projects from the package index."""
