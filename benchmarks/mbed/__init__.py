"""Mbed: how fast one gradient of its cost is."""
