"""Benchmarks of Beltrami."""
