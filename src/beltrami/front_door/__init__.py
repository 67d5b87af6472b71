"""One learner for all data: it prepares the points, asks several methods, and weighs them."""

from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.front_door.regressor import ManifoldRegressor

__all__ = ["ManifoldClassifier", "ManifoldRegressor"]
