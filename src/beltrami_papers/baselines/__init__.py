"""Learners that see the labelled points alone: the baselines of the papers and of the contests."""
