# Where each name lives: read by type checkers, and by the package itself.

from .geodesic.classifier import GeodesicNeighborsClassifier
from .machines.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from .machines.laplacian_svc import LaplacianSVC
from .machines.transductive import TransductiveSVC
from .mbed.estimator import Mbed
from .multi_manifold.estimators import (
    MultiManifoldClassifier,
    MultiManifoldRegressor,
)
from .poisson.classifier import PoissonClassifier
from .regularized.estimators import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
)
from .semi_supervised_split import SemiSupervisedSplit
from .spectral.estimators import EigenfunctionClassifier, EigenfunctionRegressor

__all__ = [
    "EigenfunctionClassifier",
    "EigenfunctionRegressor",
    "GeodesicNeighborsClassifier",
    "GraphRegularizedClassifier",
    "GraphRegularizedRegressor",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LaplacianSVC",
    "Mbed",
    "MultiManifoldClassifier",
    "MultiManifoldRegressor",
    "PoissonClassifier",
    "SemiSupervisedSplit",
    "TransductiveSVC",
]
