"""Builds real projects as patches, runs the gate on them and compares its map with an independent oracle."""
