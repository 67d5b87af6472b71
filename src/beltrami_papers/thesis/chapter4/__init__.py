"""The graph's Laplacian tends to the manifold's."""
