"""Base classes of the learners: what all share, what classifiers add, what regressors add."""

from beltrami.learners.base.classifier import (
    GraphClassifier,
    PartialLabelClassifier,
    TemperedClassifier,
)
from beltrami.learners.base.learner import GraphLearner, PartialLabelLearner
from beltrami.learners.base.probabilities import (
    first_classes,
    fitted_temperature,
    leaders,
    softmax,
)
from beltrami.learners.base.regressor import GraphRegressor, PartialLabelRegressor

__all__ = [
    "GraphClassifier",
    "GraphLearner",
    "GraphRegressor",
    "PartialLabelClassifier",
    "PartialLabelLearner",
    "PartialLabelRegressor",
    "TemperedClassifier",
    "first_classes",
    "fitted_temperature",
    "leaders",
    "softmax",
]
