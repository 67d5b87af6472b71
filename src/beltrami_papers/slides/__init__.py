"""Zhu (2009), slides on multi-manifold learning, which print no numbers; and real data."""
