"""How multi-manifold separation grows with the number of points."""
