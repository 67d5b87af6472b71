"""Stochastic neighbour embedding: its cost, its clusters, its new points."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from beltrami import StochasticNeighborEmbedding
from beltrami.core.errors import InvalidInputError
from beltrami.embeddings.mbed import settling
from beltrami.embeddings.mbed.model import Targets
from beltrami.embeddings.mbed.objective import MbedCost
from beltrami.embeddings.mbed.settling import settle_map, spectral_direction
from beltrami.embeddings.mbed.simplex import simplex_directions
from beltrami.embeddings.mbed.terms import ClassTerms
from beltrami.embeddings.neighborhoods.affinities import LocalAffinity, WideAffinity
from beltrami.embeddings.repulsion.exact import ExactRepulsion


def blobs(n=150, p=5, seed=0, apart=8.0):
    return make_blobs(n, p, centers=apart * np.eye(3, p), random_state=seed)


def fitted(X, **options):
    return StochasticNeighborEmbedding(**{"random_state": 0, "n_steps": 100} | options).fit(X)


@pytest.mark.parametrize("perplexity", [15.0, None])
def test_clusters_stay_apart(perplexity):
    X, truth = blobs()
    Y = fitted(X, perplexity=perplexity).embedding_
    assert Y.shape == (150, 2)
    assert KNeighborsClassifier(5).fit(Y, truth).score(Y, truth) > 0.99
    means = np.array([Y[truth == k].mean(axis=0) for k in range(3)])
    assert_array_equal(pairwise_distances(Y, means).argmin(axis=1), truth)


def test_the_map_is_centred_and_lower_than_its_start():
    X, _ = blobs()
    found = fitted(X)
    assert_allclose(found.embedding_.mean(axis=0), 0, atol=1e-12)
    short = fitted(X, n_steps=5)
    assert found.cost_ < short.cost_
    assert short.n_steps_ <= 5
    assert found.row_error_.largest == 0


@pytest.mark.parametrize("perplexity", [15.0, None])
def test_the_cost_is_that_of_mbed_without_terms(perplexity):
    """And that of Mbed with terms that count nothing."""
    X, _ = blobs()
    found = fitted(X, perplexity=perplexity)
    affinity = (
        LocalAffinity.of(X, "euclidean", 15.0)
        if perplexity
        else WideAffinity.of(X, "euclidean", quantile=0.5)
    )
    P = affinity.neighborhood()
    assert MbedCost(P, ExactRepulsion())(found.embedding_)[0] == pytest.approx(found.cost_)
    nothing = ClassTerms(
        simplex_directions(2, 2), 0.1, Targets.none(2), margin_weight=0.0, balance_weight=0.0
    )
    cost, gradient = MbedCost(P, ExactRepulsion(), nothing)(found.embedding_)
    assert cost == pytest.approx(found.cost_)
    assert_allclose(gradient, MbedCost(P, ExactRepulsion())(found.embedding_)[1], atol=1e-13)


def test_a_long_descent_comes_to_rest():
    """The gradient is small against the pull of the neighbours."""
    X, _ = blobs(60)
    found = fitted(X, n_steps=2000)
    P = found.affinity_.neighborhood()
    gradient = MbedCost(P, ExactRepulsion())(found.embedding_)[1]
    assert np.linalg.norm(gradient) < 0.05 * np.linalg.norm(P.pull[:, None] * found.embedding_)
    assert found.n_steps_ < 2000


def test_a_start_of_ones_own_settles_no_higher():
    X, _ = blobs(60)
    P = LocalAffinity.of(X, "euclidean", 10.0).neighborhood()
    start = np.random.default_rng(0).standard_normal((60, 2))
    told = []
    found = settle_map(P, None, start, n_steps=30, advance=told.append)
    assert (np.diff(found.costs) <= 1e-12).all()
    assert found.costs[0] == pytest.approx(MbedCost(P, ExactRepulsion())(start)[0])
    assert len(told) == len(found.costs) - 1


def test_many_points_settle_with_estimated_sums_as_well_as_with_exact_ones(monkeypatch):
    """In rounds, and with a check on exact rows at the end."""
    X, _ = blobs(300)
    P = LocalAffinity.of(X, "euclidean", 15.0).neighborhood()
    start = 0.01 * np.random.default_rng(0).standard_normal((300, 2))
    exact = settle_map(P, None, start, n_steps=60)
    monkeypatch.setattr(settling, "_MOST_EXACT", 100)
    found = settle_map(P, None, start, n_steps=60)
    assert exact.error.largest == 0
    assert 0 < found.error.largest < 0.1
    assert found.error.n_rows == 300
    cost = MbedCost(P, ExactRepulsion())(found.embedding)[0]
    assert cost == pytest.approx(exact.costs[-1], rel=0.1)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_preconditioner_inverts_the_laplacian_of_the_neighbours(is_sparse):
    """Exactly where P is dense; positive definite and near it where an estimate is made."""
    X, _ = blobs(60)
    kind = (
        LocalAffinity.of(X, "euclidean", 10.0) if is_sparse else WideAffinity(X, "euclidean", 4, 2)
    )
    P = kind.neighborhood()
    mutual = P.mutual.toarray() if is_sparse else P.mutual
    H = 2 * (np.diag(1.02 * P.pull) - mutual)
    apply = spectral_direction(P)
    inverse = apply(np.eye(60))
    if not is_sparse:
        assert_allclose(inverse @ H, np.eye(60), atol=1e-9)
    assert_allclose(inverse, inverse.T, atol=1e-10)
    values = np.linalg.eigvals(inverse @ H).real
    assert np.median(values) == pytest.approx(1, abs=0.2)
    assert values.min() > 0.2
    assert values.max() < 5


# --- new points -----------------------------------------------------------------------------------


@pytest.mark.parametrize("perplexity", [15.0, None])
def test_points_of_the_fit_get_their_own_position_back(perplexity):
    X, _ = blobs()
    found = fitted(X, perplexity=perplexity)
    assert_array_equal(found.transform(X), found.embedding_)
    assert_array_equal(found.transform(X[[7, 3]]), found.embedding_[[7, 3]])
    assert_array_equal(clone(found).fit_transform(X), found.embedding_)


def test_new_points_stand_among_their_like():
    X, truth = blobs(300)
    found = fitted(X[:200])
    there = found.transform(X[200:])
    assert np.isfinite(there).all()
    nearest = KNeighborsClassifier(5).fit(found.embedding_, truth[:200])
    assert nearest.score(there, truth[200:]) > 0.98


def test_dissimilarities_are_as_good_as_vectors():
    X, _ = blobs()
    D = pairwise_distances(X)
    found = fitted(D, metric="precomputed", perplexity=None)
    assert_allclose(found.cost_, fitted(X, perplexity=None).cost_, rtol=1e-3)
    assert_array_equal(found.transform(D), found.embedding_)
    assert np.isfinite(found.transform(D[:3] + 0.1)).all()


def test_sparse_vectors_are_as_good_as_dense_ones():
    X, _ = blobs()
    X[np.abs(X) < 0.5] = 0
    found = fitted(csr_array(X), n_steps=20)
    assert_allclose(found.embedding_, fitted(X, n_steps=20).embedding_, atol=1e-3)
    assert_array_equal(found.transform(csr_array(X)), found.embedding_)


# --- the face -------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_map_and_another_one_another():
    X, _ = blobs(60)
    first, again, other = (fitted(X, random_state=seed).embedding_ for seed in (0, 0, 1))
    assert_array_equal(first, again)
    assert not np.allclose(first, other, atol=1e-3)


def test_a_fitted_map_can_be_pickled():
    X, _ = blobs(60)
    found = fitted(X, n_steps=10)
    back = pickle.loads(pickle.dumps(found))
    assert_array_equal(back.transform(X[:5] + 0.1), found.transform(X[:5] + 0.1))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_map_has_the_dimensions_that_were_asked(d):
    X, _ = blobs(60)
    found = fitted(X, n_components=d, n_steps=10)
    assert found.embedding_.shape == (60, d)
    assert len(found.get_feature_names_out()) == d


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_steps": 0}, "n_steps=0 must be at least 1"),
        ({"perplexity": 0}, "perplexity=0 must be a finite number above zero"),
        ({"perplexity": np.nan}, "perplexity=nan must be"),
        ({"perplexity": "many"}, "perplexity='many' must be"),
        ({"perplexity": None, "quantile": 0.0}, r"quantile=0\.0 must lie between 0 and 1"),
        ({"perplexity": None, "quantile": 1.5}, r"quantile=1\.5 must lie between"),
        ({"metric": "precomputed"}, r"square matrix of dissimilarities .*\(60, 5\)"),
        ({"random_state": -1}, "random_state=-1 cannot seed"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        fitted(blobs(60)[0], **options)


def test_a_quantile_that_is_no_number_is_refused():
    with pytest.raises(InvalidInputError, match="quantile='half'"):
        fitted(blobs(60)[0], perplexity=None, quantile="half")
