"""Kernels, penalties and data that the Laplacian machines cannot use, or that only look so.

Each is refused by one of our errors that says what, how much, why and what to do, or it works and
every answer is finite.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone, is_classifier
from sklearn.metrics.pairwise import rbf_kernel
from tests.support.names import case_name

from beltrami.core.errors import (
    BeltramiWarning,
    DegenerateDataWarning,
    InvalidInputError,
    MemoryBudgetError,
)
from beltrami.core.machine import memory
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph, RadiusGraph
from beltrami.kernel_machines.approximation import FeatureApproximation, NystromApproximation
from beltrami.kernel_machines.kernels import PolynomialKernel, RbfKernel
from beltrami.kernel_machines.roughness import LaplacianPower
from beltrami.learners import LaplacianRLSClassifier, LaplacianRLSRegressor, LaplacianSVC

MACHINES = [
    LaplacianRLSClassifier(),
    LaplacianRLSRegressor(),
    LaplacianSVC(),
]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=repr)
every_classifier = pytest.mark.parametrize(
    "machine", [one for one in MACHINES if is_classifier(one)], ids=repr
)


def cloud(n=40):
    return np.random.default_rng(0).normal(size=(n, 3))


def labels_for(machine, n=40):
    """Labels at every fourth row: three classes, or numbers."""
    rows = np.arange(n)
    if is_classifier(machine):
        return np.where(rows % 4 == 0, rows % 3, -1)
    return np.where(rows % 4 == 0, np.sin(rows), np.nan)


def fitted(machine, points, y=None, **options):
    y = labels_for(machine, len(points)) if y is None else y
    return clone(machine).set_params(**options).fit(points, y)


def holds_no_nan(machine, points):
    """Every answer is finite, at the fit's points and at new ones."""
    new = points[:5] + (0 if machine.kernel == "precomputed" else 0.01)
    answers = [machine.scores_, machine.predict(new), machine._left_out().scores]
    answers.append([machine.gamma_a_, machine.gamma_i_, machine.lambda1_, machine.lambda2_])
    if is_classifier(machine):
        answers += [machine.label_distributions_, machine.predict_proba(new)]
        answers += [machine.decision_function(new), machine.confidence_]
    else:
        answers.append(machine.predict_interval(new, 0.5))
    for found in answers:
        assert np.isfinite(found).all()


# --- parameters -------------------------------------------------------------------------------


def wrong_shape(A, B):
    return np.ones(len(A))


def undefined(A, B):
    return np.full((len(A), len(B)), np.nan)


def negative(A, B):
    return -(A @ B.T)


def hyperbolic(A, B):
    return np.tanh(A @ B.T - 1)


@every_machine
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma_a": -1.0}, r"gamma_a=-1\.0 must be a number, not negative"),
        ({"gamma_i": -1}, "gamma_i=-1 must be a number, not negative"),
        ({"gamma_i": "large"}, "gamma_i='large' must be a number, not negative, or 'auto'"),
        ({"gamma_a": np.nan}, "gamma_a=nan must be"),
        ({"gamma_a": 0, "gamma_i": 0}, "gamma_a=0 with gamma_i=0 leaves nothing.*Give gamma_i"),
        ({"gamma_a": 0}, "gamma_a=0 with gamma_i='auto' leaves nothing"),
        ({"kernel": "sigmoid"}, "kernel='sigmoid' is not known; choose one of 'linear'"),
        ({"kernel": None}, "kernel=None is not known"),
        ({"kernel": np.eye(40)}, "kernel=.* is not known|precomputed"),
        ({"kernel": wrong_shape}, r"returned an array of shape \(\d+,\) for \d+ and \d+ points"),
        ({"kernel": undefined}, "returned NaN or infinity for some pairs"),
        ({"kernel": negative}, "not positive semi-definite: on 40 of the points its eigenvalues"),
        ({"kernel": hyperbolic}, "not positive semi-definite.*Use a Mercer kernel"),
        ({"kernel": PolynomialKernel(coef0=-3.0)}, "not positive semi-definite"),
        ({"kernel": PolynomialKernel(coef0="one")}, "coef0='one' must be a finite number"),
        ({"kernel": PolynomialKernel(0)}, "degree=0 must be at least 1"),
        ({"kernel": RbfKernel(0.0)}, r"width=0\.0 must be a finite number above zero"),
        ({"kernel": RbfKernel(-1.0)}, r"width=-1\.0 must be"),
        ({"kernel": RbfKernel(np.inf)}, "width=inf must be"),
        ({"kernel": RbfKernel("wide")}, "width.*'wide'"),
        ({"smoothness": LaplacianPower(0)}, "power=0 must be at least 1"),
        ({"smoothness": LaplacianPower(1.5)}, "power=1.5 must be an integer of at least 1"),
        ({"smoothness": LaplacianPower("two")}, "power.*'two'"),
        ({"approximation": NystromApproximation(1)}, "n_landmarks=1 must be at least 2"),
        ({"approximation": NystromApproximation(2.5)}, "n_landmarks=2.5 must be an integer"),
        ({"approximation": NystromApproximation("many")}, "n_landmarks.*'many'"),
        ({"approximation": FeatureApproximation(0)}, "n_features=0 must be at least 2"),
        ({"approximation": NystromApproximation(n_eigenfunctions=-1)}, "n_eigenfunctions=-1 must"),
        ({"approximation": "fourier"}, "approximation='fourier' is not known; choose one of"),
        (
            {"smoothness": LaplacianPower(kind="signless")},
            "kind='signless' is not known; choose one of",
        ),
        (
            {"smoothness": LaplacianPower(scale="n")},
            "scale='n' is not known; choose one of 'n2', 'weights', 'none'",
        ),
        ({"smoothness": "laplacian"}, "smoothness='laplacian' is not known; give LaplacianPower"),
        ({"approximation": "features", "kernel": "poly"}, "no feature map.*'nystrom'"),
        ({"approximation": "features", "kernel": rbf_kernel}, "no feature map.*'nystrom'"),
        ({"approximation": "nystrom", "random_state": -1}, "random_state=-1 cannot seed"),
        ({"graph": "knn"}, "graph='knn' is not a graph; give a recipe"),
    ],
    ids=lambda value: case_name(value) if isinstance(value, dict) else "",
)
def test_parameters_that_make_no_sense_are_refused(machine, options, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(machine, cloud(), **options)


@pytest.mark.parametrize("tol", [0.0, "tight"])
def test_a_tolerance_is_positive(tol) -> None:
    with pytest.raises(InvalidInputError, match=f"tol={tol!r} must be"):
        fitted(LaplacianSVC(), cloud(), tol=tol)


@every_machine
@pytest.mark.parametrize(
    "options", [{"gamma_a": -1.0}, {"gamma_a": 0.0}, {"smoothness": LaplacianPower(0)}], ids=str
)
def test_parameters_are_checked_for_new_labels_too(machine, options) -> None:
    known = fitted(machine, cloud())
    with pytest.raises(InvalidInputError):
        known.set_params(**options).fit_labels(labels_for(machine))


@every_classifier
def test_one_class_is_refused(machine) -> None:
    y = np.full(40, -1)
    y[:5] = 1
    with pytest.raises(InvalidInputError, match="all labels are of one class, 1"):
        fitted(machine, cloud(), y)


# --- precomputed kernels ----------------------------------------------------------------------


@every_machine
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (cloud(), r"shape \(40, 3\) and fit needs a square one"),
        (rbf_kernel(cloud()) + np.triu(np.full((40, 40), 0.1), 1), "not symmetric.*differ by up"),
        (-rbf_kernel(cloud()), "not positive semi-definite"),
        (rbf_kernel(cloud()) - 0.5, "not positive semi-definite.*clip the negative eigenvalues"),
    ],
    ids=["points", "asymmetric", "negative", "indefinite"],
)
@pytest.mark.parametrize("approximation", ["none", "nystrom"])
def test_matrices_that_are_no_kernel_are_refused(machine, matrix, message, approximation) -> None:
    with pytest.raises(InvalidInputError, match=message):
        fitted(machine, matrix, kernel="precomputed", approximation=approximation)


@every_machine
def test_new_rows_of_a_precomputed_kernel_must_reach_all_points_of_the_fit(machine) -> None:
    known = fitted(machine, rbf_kernel(cloud()), kernel="precomputed")
    with pytest.raises(ValueError, match=r"39 features, but .* is expecting 40 features"):
        known.predict(rbf_kernel(cloud()[:5], cloud()[:39]))


@every_machine
def test_a_radius_has_no_meaning_for_a_precomputed_kernel(machine) -> None:
    with pytest.raises(InvalidInputError, match="by a KnnGraph; give one, or a graph of your own"):
        fitted(machine, rbf_kernel(cloud()), kernel="precomputed", graph=RadiusGraph(1.0))


@every_machine
def test_distances_are_not_taken_for_points(machine) -> None:
    """A graph of precomputed distances leaves the kernel without points to look at."""
    distances = np.sqrt(np.maximum(2 - 2 * rbf_kernel(cloud()), 0))
    with pytest.raises(InvalidInputError, match="precomputed"):
        fitted(machine, distances, graph=KnnGraph(5, metric="precomputed"))


# --- memory -----------------------------------------------------------------------------------


@every_machine
def test_too_many_points_for_the_exact_way_are_refused_or_approximated(
    machine, monkeypatch
) -> None:
    array = 8 * 200 * 200  # the exact way takes six of them, 200 landmarks five
    monkeypatch.setattr(memory, "available_bytes", lambda: 4 * 5.5 * array)
    with pytest.raises(MemoryBudgetError, match=r"of 200 points.*GiB.*approximation='nystrom'"):
        fitted(machine, cloud(200), approximation="none")
    known = fitted(machine, cloud(200))
    assert known.approximation_.method == "nystrom"


@pytest.mark.parametrize("approximation", ["none", NystromApproximation(10)], ids=str)
def test_too_many_labels_for_a_support_vector_machine_are_refused(
    approximation, monkeypatch
) -> None:
    """Its dual is a matrix of all pairs of labels, whatever stands for the kernel."""
    machine = LaplacianSVC(approximation=approximation, gamma_a=1.0, gamma_i=1.0)
    budget = 8 * 300 * 300 // 2
    monkeypatch.setattr(memory, "available_bytes", lambda: 4 * budget)
    with pytest.raises(MemoryBudgetError):
        machine.fit(cloud(300), np.arange(300) % 2)


# --- penalties at the ends of their range -----------------------------------------------------


@every_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("gamma_a", [0, 1e-12, 1e-6, 1e6, 1e12, "auto"])
@pytest.mark.parametrize("gamma_i", [0, 1e-12, 1.0, 1e12, "auto"])
@pytest.mark.filterwarnings("ignore::beltrami.core.errors.ConvergenceWarning")
def test_no_penalty_makes_answers_that_are_not_finite(machine, kernel, gamma_a, gamma_i) -> None:
    if gamma_a == 0 and gamma_i in (0, "auto"):
        with pytest.raises(InvalidInputError, match="gamma_a=0 with gamma_i="):
            fitted(machine, cloud(), gamma_a=gamma_a, gamma_i=gamma_i, kernel=kernel)
        return
    known = fitted(machine, cloud(), gamma_a=gamma_a, gamma_i=gamma_i, kernel=kernel)
    holds_no_nan(known, cloud())


@every_classifier
def test_a_huge_c_is_the_hard_margin(machine) -> None:
    points = np.vstack([cloud(20), cloud(20) + 10])
    y = np.where(np.arange(40) % 4 == 0, np.arange(40) // 20, -1)
    known = fitted(machine, points, y, gamma_a=1e-14, gamma_i=0.0, kernel=RbfKernel(3.0))
    holds_no_nan(known, points)
    assert_array_equal(known.transduction_, np.arange(40) // 20)


# --- degenerate data --------------------------------------------------------------------------


@every_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "cosine"])
def test_identical_points_work(machine, kernel: str) -> None:
    with pytest.warns(DegenerateDataWarning, match="identical to all its neighbours"):
        known = fitted(machine, np.ones((40, 3)), graph=KnnGraph(5), kernel=kernel)
    assert np.isfinite(known.scores_).all()
    assert np.isfinite(known.predict(np.ones((2, 3)))).all()


@every_machine
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("gamma_i", [0.0, 1.0, "auto"])
@pytest.mark.filterwarnings("ignore::beltrami.core.errors.DegenerateDataWarning")
def test_a_kernel_that_is_zero_everywhere_is_refused(machine, kernel: str, gamma_i) -> None:
    with pytest.raises(InvalidInputError, match=r"needs k\(x, x\) > 0.*choose another kernel"):
        fitted(machine, np.zeros((40, 3)), graph=KnnGraph(5), kernel=kernel, gamma_i=gamma_i)


@every_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "cosine"])
def test_constant_features_change_nothing_that_matters(machine, kernel: str) -> None:
    points = np.hstack([cloud(), np.full((40, 2), 7.0)])
    holds_no_nan(fitted(machine, points, kernel=kernel), points)


@every_machine
def test_constant_features_alone_do_not_change_an_rbf_kernel(machine) -> None:
    points = np.hstack([cloud(), np.full((40, 2), 7.0)])
    expected = fitted(machine, cloud()).scores_
    assert_allclose(fitted(machine, points).scores_, expected, atol=1e-5)


@every_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
def test_a_far_outlier_does_no_harm(machine, kernel: str) -> None:
    points = cloud()
    points[7] = 1e6
    known = fitted(machine, points, kernel=kernel)
    assert np.isfinite(known.scores_).all()
    assert np.isfinite(known.predict(points)).all()


@every_classifier
@pytest.mark.parametrize("approximation", ["none", "nystrom"])
def test_one_label_per_class_works(machine, approximation: str) -> None:
    y = np.full(40, -1)
    y[[0, 10, 20]] = [0, 1, 2]
    known = fitted(machine, cloud(), y, approximation=approximation, random_state=0)
    holds_no_nan(known, cloud())
    assert "typical values" in known.choices_[0].reason


@every_machine
@pytest.mark.parametrize("approximation", [NystromApproximation(4), FeatureApproximation(4)])
def test_more_labels_than_landmarks_work(machine, approximation) -> None:
    known = fitted(machine, cloud(), approximation=approximation, random_state=0)
    holds_no_nan(known, cloud())
    assert known.approximation_.method == approximation.method


@every_machine
def test_two_points_work(machine) -> None:
    y = np.array([0, 1]) if is_classifier(machine) else np.array([0.0, 1.0])
    known = fitted(machine, np.array([[0.0], [1.0]]), y, graph=KnnGraph(1))
    assert np.isfinite(known.scores_).all()
    assert known.scores_[1, -1] > known.scores_[0, -1]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("value", [0.0, 7.5, -1e9])
def test_constant_values_stay_constant(intercept: bool, value: float) -> None:
    y = np.where(np.arange(40) % 4 == 0, value, np.nan)
    known = LaplacianRLSRegressor(fit_intercept=intercept).fit(cloud(), y)
    holds_no_nan(known, cloud())
    if intercept:
        assert_allclose(known.predict(cloud() + 0.1), value, atol=1e-9 * abs(value))
        assert_allclose(known.predict_interval(cloud()), value, atol=1e-6 * abs(value))


def test_a_single_value_is_the_value_everywhere() -> None:
    y = np.full(40, np.nan)
    y[3] = 7.5
    known = LaplacianRLSRegressor().fit(cloud(), y)
    assert_allclose(known.predict(cloud() + 0.1), 7.5)
    assert_allclose(known.transduction_, 7.5)


@every_machine
def test_a_graph_without_edges_is_the_plain_machine(machine) -> None:
    empty = Graph.from_matrix(np.zeros((40, 40)))
    options = {"gamma_a": 0.1, "kernel": RbfKernel(1.0), "smoothness": LaplacianPower(1)}
    with pytest.warns(BeltramiWarning):
        known = fitted(machine, cloud(), graph=empty, gamma_i=5.0, **options)
    plain = fitted(machine, cloud(), gamma_i=0.0, **options)
    rows = known.reached_
    assert_allclose(known.scores_[rows], plain.scores_[rows], atol=1e-7)


# --- points far from everything -----------------------------------------------------------------


def test_a_point_where_the_kernel_vanishes_gets_no_class() -> None:
    learner = fitted(LaplacianRLSClassifier(), cloud())
    far = np.full((2, 3), 1e4)
    assert_array_equal(learner.predict(far), -1)
    assert_allclose(learner.predict_proba(far), [learner.class_prior_] * 2)


@every_classifier
def test_a_class_without_a_label_is_never_said_of_a_new_point(machine) -> None:
    learner = fitted(machine, cloud(), classes=[0, 1, 2, 7])
    new = np.random.default_rng(1).normal(scale=5.0, size=(50, 3))
    assert 7 not in learner.predict(new)
    assert_array_equal(learner.predict_proba(new)[:, 3], 0.0)


@every_machine
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("size", [1e153, 1e154, 1e200])
def test_numbers_whose_squares_overflow_are_refused(machine, kernel, size):
    with pytest.raises(InvalidInputError, match=r"its square is beyond .* Scale the data"):
        fitted(machine, size * np.sign(cloud()), kernel=kernel)


@every_machine
def test_numbers_whose_squares_vanish_are_refused(machine):
    with pytest.raises(InvalidInputError, match=r"its square is below .* Multiply the data"):
        fitted(machine, 1e-160 * cloud())
