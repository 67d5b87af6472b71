"""Base classes of the learners: what all share, what classifiers add, what regressors add."""

from beltrami.learners.base.classifier import (
    GraphClassifier,
    PartialLabelClassifier,
    TemperedClassifier,
)
from beltrami.learners.base.learner import GraphLearner, PartialLabelLearner
from beltrami.learners.base.probabilities import (
    distribute,
    first_classes,
    fitted_temperature,
    leaders,
    softmax,
    without_absent,
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
    "distribute",
    "first_classes",
    "fitted_temperature",
    "leaders",
    "softmax",
    "without_absent",
]
