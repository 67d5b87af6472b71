"""Points become parts, with bounds on how many each part holds."""

from beltrami.separation.constrained_kmeans import ConstrainedKMeans

__all__ = ["ConstrainedKMeans"]
