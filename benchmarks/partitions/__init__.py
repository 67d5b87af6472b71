"""Rows in partitions, more than memory holds: pace, peak, coverage, and what it costs in errors."""
