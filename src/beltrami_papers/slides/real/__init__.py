"""Multi-manifold separation on real data."""
