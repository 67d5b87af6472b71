"""Kernels, feature maps, and fits with them on labelled and unlabelled points."""
