"""Points separated into parts: regions of like local shape, and clusters of bounded size."""

from beltrami.separation.constrained_kmeans import ConstrainedKMeans

__all__ = ["ConstrainedKMeans"]
