"""Layer 6: learners, which spread a few labels over all points, and what judges them."""

from beltrami.learners.eigenfunctions import EigenfunctionClassifier, EigenfunctionRegressor
from beltrami.learners.front_door.classifier import ManifoldClassifier
from beltrami.learners.front_door.regressor import ManifoldRegressor
from beltrami.learners.geodesic import GeodesicNeighborsClassifier
from beltrami.learners.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from beltrami.learners.laplacian_svc import LaplacianSVC
from beltrami.learners.mbed import Mbed
from beltrami.learners.multi_manifold import MultiManifoldClassifier, MultiManifoldRegressor
from beltrami.learners.poisson import PoissonClassifier
from beltrami.learners.regularized import GraphRegularizedClassifier, GraphRegularizedRegressor
from beltrami.learners.selection import SemiSupervisedSplit
from beltrami.learners.transductive import TransductiveSVC

__all__ = [
    "EigenfunctionClassifier",
    "EigenfunctionRegressor",
    "GeodesicNeighborsClassifier",
    "GraphRegularizedClassifier",
    "GraphRegularizedRegressor",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LaplacianSVC",
    "ManifoldClassifier",
    "ManifoldRegressor",
    "Mbed",
    "MultiManifoldClassifier",
    "MultiManifoldRegressor",
    "PoissonClassifier",
    "SemiSupervisedSplit",
    "TransductiveSVC",
]
