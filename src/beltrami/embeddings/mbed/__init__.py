"""Mbed: boundaries are fixed, the points are placed. Neighbour and class terms, and their path."""
