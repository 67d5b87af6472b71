"""Regularisation on graphs: labels kept or nearly kept, and smooth between."""
