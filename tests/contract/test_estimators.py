"""scikit-learn's own checks on every estimator; each exemption has its reason."""

import warnings

from sklearn.utils.estimator_checks import parametrize_with_checks

from beltrami import KnnGraph, LaplacianEigenmaps, SpectralClustering
from beltrami.core.errors import BeltramiWarning

ESTIMATORS = [
    LaplacianEigenmaps(),
    LaplacianEigenmaps(graph=KnnGraph(5, weights="binary")),
    SpectralClustering(n_clusters=2),
    SpectralClustering(n_clusters=2, objective="ratio"),
]

# {"Estimator": {"check_name": "the reason"}}
EXEMPT: dict[str, dict[str, str]] = {}


@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda estimator: EXEMPT.get(type(estimator).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        # Tiny data sets have fewer points than neighbours, which we say in a warning.
        warnings.simplefilter("ignore", BeltramiWarning)
        check(estimator)
