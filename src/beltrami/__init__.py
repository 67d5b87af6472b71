"""Beltrami: learn from a handful of labels, using the shape of the data.

Public names are loaded when they are first used, so ``import beltrami`` is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from beltrami.core.errors import BeltramiError, BeltramiWarning
    from beltrami.data import (
        Dataset,
        available_datasets,
        bars,
        bigram_contexts,
        circle,
        crossing_spheres,
        density_change,
        dollar_sign,
        load_dataset,
        log_spectra,
        plane_curve,
        principal_components,
        sphere,
        strip_headers,
        surface_sphere,
        swiss_roll,
        torus,
        two_moons,
        two_squares,
        word_counts,
    )
    from beltrami.embeddings import (
        LaplacianEigenmaps,
        SpectralClustering,
        StochasticNeighborEmbedding,
    )
    from beltrami.embeddings.mbed.modes import PaperMode, PracticalMode
    from beltrami.graph.model import Graph
    from beltrami.graph.recipes import KnnGraph, RadiusGraph
    from beltrami.graph.weights import HeatKernel, SharedNeighborWeights
    from beltrami.learners import (
        EigenfunctionClassifier,
        EigenfunctionRegressor,
        GeodesicNeighborsClassifier,
        GraphRegularizedClassifier,
        GraphRegularizedRegressor,
        LaplacianRLSClassifier,
        LaplacianRLSRegressor,
        LaplacianSVC,
        ManifoldClassifier,
        ManifoldRegressor,
        Mbed,
        MultiManifoldClassifier,
        MultiManifoldRegressor,
        PoissonClassifier,
        SemiSupervisedSplit,
        TransductiveSVC,
    )
    from beltrami.operators.laplacian import laplacian
    from beltrami.report.labelling import Labelling, label
    from beltrami.separation import ConstrainedKMeans
    from beltrami.solvers.eigen import eigenbasis
    from beltrami.solvers.linear import solve
    from beltrami.solvers.model import Basis, Solution

_HOME = {
    "Basis": "beltrami.solvers.model",
    "BeltramiError": "beltrami.core.errors",
    "BeltramiWarning": "beltrami.core.errors",
    "ConstrainedKMeans": "beltrami.separation",
    "Dataset": "beltrami.data",
    "EigenfunctionClassifier": "beltrami.learners",
    "EigenfunctionRegressor": "beltrami.learners",
    "GeodesicNeighborsClassifier": "beltrami.learners",
    "Graph": "beltrami.graph.model",
    "GraphRegularizedClassifier": "beltrami.learners",
    "GraphRegularizedRegressor": "beltrami.learners",
    "HeatKernel": "beltrami.graph.weights",
    "KnnGraph": "beltrami.graph.recipes",
    "Labelling": "beltrami.report.labelling",
    "LaplacianEigenmaps": "beltrami.embeddings",
    "LaplacianRLSClassifier": "beltrami.learners",
    "LaplacianRLSRegressor": "beltrami.learners",
    "LaplacianSVC": "beltrami.learners",
    "ManifoldClassifier": "beltrami.learners",
    "ManifoldRegressor": "beltrami.learners",
    "Mbed": "beltrami.learners",
    "MultiManifoldClassifier": "beltrami.learners",
    "MultiManifoldRegressor": "beltrami.learners",
    "PaperMode": "beltrami.embeddings.mbed.modes",
    "PoissonClassifier": "beltrami.learners",
    "PracticalMode": "beltrami.embeddings.mbed.modes",
    "RadiusGraph": "beltrami.graph.recipes",
    "SemiSupervisedSplit": "beltrami.learners",
    "SharedNeighborWeights": "beltrami.graph.weights",
    "Solution": "beltrami.solvers.model",
    "SpectralClustering": "beltrami.embeddings",
    "StochasticNeighborEmbedding": "beltrami.embeddings",
    "TransductiveSVC": "beltrami.learners",
    "available_datasets": "beltrami.data",
    "bars": "beltrami.data",
    "bigram_contexts": "beltrami.data",
    "circle": "beltrami.data",
    "crossing_spheres": "beltrami.data",
    "density_change": "beltrami.data",
    "dollar_sign": "beltrami.data",
    "eigenbasis": "beltrami.solvers.eigen",
    "label": "beltrami.report.labelling",
    "laplacian": "beltrami.operators.laplacian",
    "load_dataset": "beltrami.data",
    "log_spectra": "beltrami.data",
    "plane_curve": "beltrami.data",
    "principal_components": "beltrami.data",
    "solve": "beltrami.solvers.linear",
    "sphere": "beltrami.data",
    "strip_headers": "beltrami.data",
    "surface_sphere": "beltrami.data",
    "swiss_roll": "beltrami.data",
    "torus": "beltrami.data",
    "two_moons": "beltrami.data",
    "two_squares": "beltrami.data",
    "word_counts": "beltrami.data",
}

__all__ = [
    "Basis",
    "BeltramiError",
    "BeltramiWarning",
    "ConstrainedKMeans",
    "Dataset",
    "EigenfunctionClassifier",
    "EigenfunctionRegressor",
    "GeodesicNeighborsClassifier",
    "Graph",
    "GraphRegularizedClassifier",
    "GraphRegularizedRegressor",
    "HeatKernel",
    "KnnGraph",
    "Labelling",
    "LaplacianEigenmaps",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LaplacianSVC",
    "ManifoldClassifier",
    "ManifoldRegressor",
    "Mbed",
    "MultiManifoldClassifier",
    "MultiManifoldRegressor",
    "PaperMode",
    "PoissonClassifier",
    "PracticalMode",
    "RadiusGraph",
    "SemiSupervisedSplit",
    "SharedNeighborWeights",
    "Solution",
    "SpectralClustering",
    "StochasticNeighborEmbedding",
    "TransductiveSVC",
    "__version__",
    "available_datasets",
    "bars",
    "bigram_contexts",
    "circle",
    "crossing_spheres",
    "density_change",
    "dollar_sign",
    "eigenbasis",
    "label",
    "laplacian",
    "load_dataset",
    "log_spectra",
    "plane_curve",
    "principal_components",
    "solve",
    "sphere",
    "strip_headers",
    "surface_sphere",
    "swiss_roll",
    "torus",
    "two_moons",
    "two_squares",
    "word_counts",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'beltrami' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
