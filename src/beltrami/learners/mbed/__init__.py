"""Mbed as a learner: what is known of the labels, and the map that keeps it."""
