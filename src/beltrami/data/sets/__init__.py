"""Data sets by name: where their files are, how they are read and checked."""
