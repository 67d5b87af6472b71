"""A kept labeller on rows that it has not seen: what it calls unlike, and what not."""
