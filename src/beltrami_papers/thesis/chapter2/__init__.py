"""Laplacian eigenmaps: figures A.2 to A.8 and section 2.5."""
