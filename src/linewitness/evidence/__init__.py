"""Who saw it run."""
