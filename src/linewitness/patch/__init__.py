"""What changed: git objects or a diff file, read so that neither settings nor attributes can hide a line."""
