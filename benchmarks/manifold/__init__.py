"""Manifold regularisation: how well the Laplacian machines learn, how fast, and how far they go."""
