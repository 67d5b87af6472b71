"""Learners, which spread a few labels over all points, and what judges them."""

from beltrami.learners.geodesic.classifier import GeodesicNeighborsClassifier
from beltrami.learners.machines.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from beltrami.learners.machines.laplacian_svc import LaplacianSVC
from beltrami.learners.machines.transductive import TransductiveSVC
from beltrami.learners.mbed.estimator import Mbed
from beltrami.learners.multi_manifold.estimators import (
    MultiManifoldClassifier,
    MultiManifoldRegressor,
)
from beltrami.learners.poisson.classifier import PoissonClassifier
from beltrami.learners.regularized.estimators import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
)
from beltrami.learners.spectral.estimators import EigenfunctionClassifier, EigenfunctionRegressor
from beltrami.learners.splits import SemiSupervisedSplit

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
