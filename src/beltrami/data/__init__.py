"""Layer 1: data sets by name, manifolds with known geometry, and the papers' preprocessing."""

from beltrami.data.crossing import crossing_spheres
from beltrami.data.curves import plane_curve, two_moons
from beltrami.data.images import bars
from beltrami.data.manifolds import circle, sphere, swiss_roll, torus
from beltrami.data.model import Dataset
from beltrami.data.projection import principal_components
from beltrami.data.regions import density_change, dollar_sign, surface_sphere, two_squares
from beltrami.data.registry import available_datasets, load_dataset
from beltrami.data.speech import frame_centers, log_spectra
from beltrami.data.text import (
    BigramContexts,
    WordCounts,
    bigram_contexts,
    strip_headers,
    word_counts,
)

__all__ = [
    "BigramContexts",
    "Dataset",
    "WordCounts",
    "available_datasets",
    "bars",
    "bigram_contexts",
    "circle",
    "crossing_spheres",
    "density_change",
    "dollar_sign",
    "frame_centers",
    "load_dataset",
    "log_spectra",
    "plane_curve",
    "principal_components",
    "sphere",
    "strip_headers",
    "surface_sphere",
    "swiss_roll",
    "torus",
    "two_moons",
    "two_squares",
    "word_counts",
]
