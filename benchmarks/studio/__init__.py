"""The studio, measured in a real browser and from scripts."""
