"""scikit-learn's own checks on every estimator; each exemption has its reason."""

import warnings

import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from beltrami import (
    ConstrainedKMeans,
    EigenfunctionClassifier,
    EigenfunctionRegressor,
    GeodesicNeighborsClassifier,
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
    KnnGraph,
    LaplacianEigenmaps,
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    LaplacianSVC,
    ManifoldClassifier,
    ManifoldRegressor,
    Mbed,
    MultiManifoldClassifier,
    MultiManifoldRegressor,
    PaperMode,
    PoissonClassifier,
    PracticalMode,
    SpectralClustering,
    StochasticNeighborEmbedding,
    TransductiveSVC,
)
from beltrami.core.errors import BeltramiWarning

pytestmark = pytest.mark.usefixtures("few_trees")

ESTIMATORS = [
    LaplacianEigenmaps(),
    LaplacianEigenmaps(graph=KnnGraph(5, weights="binary")),
    SpectralClustering(n_clusters=2),
    SpectralClustering(n_clusters=2, objective="ratio"),
    EigenfunctionClassifier(),
    EigenfunctionClassifier(gamma="auto", new_points="neighbors"),
    EigenfunctionRegressor(),
    GraphRegularizedClassifier(),
    GraphRegularizedClassifier(gamma="auto"),
    GraphRegularizedRegressor(smoothness=("iterated", 2)),
    PoissonClassifier(),
    GeodesicNeighborsClassifier(),
    LaplacianRLSClassifier(),
    LaplacianRLSClassifier(approximation="nystrom", random_state=0),
    LaplacianRLSRegressor(),
    LaplacianSVC(),
    TransductiveSVC(),
    Mbed(mode=PracticalMode(n_steps=20), random_state=0),
    Mbed(mode=PaperMode(n_steps=60, n_first_steps=5), random_state=0),
    StochasticNeighborEmbedding(n_steps=20),
    ConstrainedKMeans(n_clusters=2, min_size=3),
    MultiManifoldClassifier(LogisticRegression(), n_regions=2),
    MultiManifoldRegressor(Ridge(), n_regions=2, carve="voronoi"),
    ManifoldClassifier(method="poisson"),
    ManifoldRegressor(),
    ManifoldRegressor(method="ridge"),
]

# Each fit of these tries many learners, so that their checks take minutes; above they stand with
# one learner, and here as they come.
COMMITTEES = [MultiManifoldClassifier(), MultiManifoldRegressor(), ManifoldClassifier()]

REPEATED_ROWS = "a row that is repeated or removed is a point more or less: the graph changes"
REPEATED_POINTS = "a row of weight zero is not removed: it stays as an unlabelled point"
MINUS_ONE = (
    "the check's labels are -1 and 1, and -1 marks unlabelled rows in an array of integers; "
    "scikit-learn spares its own semi-supervised classifiers by their names"
)
ONE_DIMENSION = "the check sets n_components=1, and three classes at equal angles need two"

LEARNER = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED_ROWS,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED_ROWS,
}
CLASSIFIER = LEARNER | {"check_classifiers_classes": MINUS_ONE}
TRANSDUCTIVE = dict.fromkeys(LEARNER, REPEATED_POINTS) | {"check_classifiers_classes": MINUS_ONE}
MAP = dict.fromkeys(
    [
        "check_dont_overwrite_parameters",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ],
    ONE_DIMENSION,
)

# {"Estimator": {"check_name": "the reason"}}
EXEMPT: dict[str, dict[str, str]] = {
    "EigenfunctionClassifier": CLASSIFIER,
    "EigenfunctionRegressor": LEARNER,
    "GraphRegularizedClassifier": CLASSIFIER,
    "GraphRegularizedRegressor": LEARNER,
    "PoissonClassifier": CLASSIFIER,
    "GeodesicNeighborsClassifier": CLASSIFIER,
    "LaplacianRLSClassifier": CLASSIFIER,
    "LaplacianRLSRegressor": LEARNER,
    "LaplacianSVC": CLASSIFIER,
    "TransductiveSVC": TRANSDUCTIVE,
    "Mbed": TRANSDUCTIVE | MAP,
    "MultiManifoldClassifier": CLASSIFIER,
    "MultiManifoldRegressor": LEARNER,
    "ManifoldClassifier": CLASSIFIER,
    "ManifoldRegressor": LEARNER,
}


# Fits of these take long. What is left to the slow run holds by a quick check beside it (training
# from memory, check_readonly_memmap_input, check_estimator_sparse_array) or is expected to fail.
DEAR = {
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LaplacianSVC",
    "ManifoldClassifier",
    "ManifoldRegressor",
    "Mbed",
    "MultiManifoldClassifier",
    "MultiManifoldRegressor",
}
AGAIN = ("readonly_memmap=True", "check_estimator_sparse_matrix", "check_sample_weight_equivalence")

# The contract holds for them as for the first of their class.
VARIATIONS = ("approximation='nystrom'", "mode=PaperMode")


def reasons(estimator):
    return EXEMPT.get(type(estimator).__name__, {})


def hold_to_contract(estimator, check):
    with warnings.catch_warnings():
        # Tiny data sets have fewer points than neighbours, which we say in a warning.
        warnings.simplefilter("ignore", BeltramiWarning)
        check(estimator)


def quick_and_slow(checks):
    """Return the parameters of a mark with those marked slow that repeat what others hold."""
    (names, pairs), how = checks.args, checks.kwargs
    return pytest.mark.parametrize(names, [_marked(pair, how["ids"]) for pair in pairs], **how)


def _marked(pair, name):
    estimator, check = getattr(pair, "values", pair)
    dear = type(estimator).__name__ in DEAR and any(one in name(check) for one in AGAIN)
    if dear or any(one in name(estimator) for one in VARIATIONS):
        return pytest.param(estimator, check, marks=[*getattr(pair, "marks", ()), pytest.mark.slow])
    return pair


@quick_and_slow(parametrize_with_checks(ESTIMATORS, expected_failed_checks=reasons))
def test_scikit_learn_contract(estimator, check):
    hold_to_contract(estimator, check)


@pytest.mark.slow
@parametrize_with_checks(COMMITTEES, expected_failed_checks=reasons)
def test_scikit_learn_contract_of_committees(estimator, check):
    hold_to_contract(estimator, check)
