"""A table becomes one matrix of features, checked for gaps."""
