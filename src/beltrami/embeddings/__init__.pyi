# Where each name lives: read by type checkers, and by the package itself.

from .clustering import SpectralClustering
from .eigenmaps import LaplacianEigenmaps
from .neighbors import StochasticNeighborEmbedding

__all__ = ["LaplacianEigenmaps", "SpectralClustering", "StochasticNeighborEmbedding"]
