"""A graph becomes a Laplacian, a smoothness operator or an extension to new points."""
