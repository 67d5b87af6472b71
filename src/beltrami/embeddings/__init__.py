"""Graphs become coordinates and clusters."""

from beltrami.embeddings.clustering import SpectralClustering
from beltrami.embeddings.eigenmaps import LaplacianEigenmaps
from beltrami.embeddings.neighbors import StochasticNeighborEmbedding

__all__ = ["LaplacianEigenmaps", "SpectralClustering", "StochasticNeighborEmbedding"]
