"""Data sets by name, points on shapes of known geometry, and labels with gaps."""

from beltrami.data.model import Dataset
from beltrami.data.projection import principal_components
from beltrami.data.sets.registry import available_datasets, load_dataset
from beltrami.data.shapes.crossing import crossing_spheres
from beltrami.data.shapes.curves import plane_curve, two_moons
from beltrami.data.shapes.images import bars
from beltrami.data.shapes.manifolds import circle, sphere, swiss_roll, torus
from beltrami.data.shapes.regions import density_change, dollar_sign, surface_sphere, two_squares

__all__ = [
    "Dataset",
    "available_datasets",
    "bars",
    "circle",
    "crossing_spheres",
    "density_change",
    "dollar_sign",
    "load_dataset",
    "plane_curve",
    "principal_components",
    "sphere",
    "surface_sphere",
    "swiss_roll",
    "torus",
    "two_moons",
    "two_squares",
]
