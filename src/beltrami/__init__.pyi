# Where each public name lives: read by type checkers, and by the package itself.

from .core.errors import BeltramiError, BeltramiWarning
from .core.machine.device import use_device
from .core.telling.progress import listen
from .data import (
    Dataset,
    available_datasets,
    bars,
    circle,
    crossing_spheres,
    density_change,
    dollar_sign,
    load_dataset,
    plane_curve,
    principal_components,
    sphere,
    surface_sphere,
    swiss_roll,
    torus,
    two_moons,
    two_squares,
)
from .embeddings import LaplacianEigenmaps, SpectralClustering, StochasticNeighborEmbedding
from .embeddings.layout import layout_graph
from .embeddings.mbed.modes import PaperMode, PracticalMode
from .front_door import ManifoldClassifier, ManifoldRegressor
from .graph.model import Graph
from .graph.recipes import KnnGraph, RadiusGraph
from .graph.weights import HeatKernel, SharedNeighborWeights
from .kernel_machines.approximation import FeatureApproximation, NystromApproximation
from .kernel_machines.kernels import PolynomialKernel, RbfKernel
from .kernel_machines.roughness import LaplacianPower
from .labelling import Labelling, label
from .labelling.kept.keeping import load
from .labelling.kept.table_labeller import TableLabeller
from .learners import (
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GeodesicNeighborsClassifier,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    LaplacianSVC,
    Mbed,
    MultiManifoldClassifier,
    MultiManifoldRegressor,
    PoissonClassifier,
    SemiSupervisedSplit,
    TransductiveSVC,
)
from .notebook import LabelWidget
from .operators.laplacian import laplacian
from .partitions import Coverage, PartitionedLabelling, label_partitions
from .separation import ConstrainedKMeans
from .solvers.eigen import eigenbasis
from .solvers.linear import solve
from .solvers.model import Basis, Solution
from .studio_server.handle import Studio, studio

__version__: str

__all__ = [
    "Basis",
    "BeltramiError",
    "BeltramiWarning",
    "ConstrainedKMeans",
    "Coverage",
    "Dataset",
    "EigenfunctionClassifier",
    "EigenfunctionRegressor",
    "FeatureApproximation",
    "GeodesicNeighborsClassifier",
    "Graph",
    "GraphRegularizedClassifier",
    "GraphRegularizedRegressor",
    "HeatKernel",
    "KnnGraph",
    "LabelWidget",
    "Labelling",
    "LaplacianEigenmaps",
    "LaplacianPower",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LaplacianSVC",
    "ManifoldClassifier",
    "ManifoldRegressor",
    "Mbed",
    "MultiManifoldClassifier",
    "MultiManifoldRegressor",
    "NystromApproximation",
    "PaperMode",
    "PartitionedLabelling",
    "PoissonClassifier",
    "PolynomialKernel",
    "PracticalMode",
    "RadiusGraph",
    "RbfKernel",
    "SemiSupervisedSplit",
    "SharedNeighborWeights",
    "Solution",
    "SpectralClustering",
    "StochasticNeighborEmbedding",
    "Studio",
    "TableLabeller",
    "TransductiveSVC",
    "__version__",
    "available_datasets",
    "bars",
    "circle",
    "crossing_spheres",
    "density_change",
    "dollar_sign",
    "eigenbasis",
    "label",
    "label_partitions",
    "laplacian",
    "layout_graph",
    "listen",
    "load",
    "load_dataset",
    "plane_curve",
    "principal_components",
    "solve",
    "sphere",
    "studio",
    "surface_sphere",
    "swiss_roll",
    "torus",
    "two_moons",
    "two_squares",
    "use_device",
]
