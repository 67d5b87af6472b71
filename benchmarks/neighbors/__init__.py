"""Neighbour search: ours, what it was, brute force and peers."""
