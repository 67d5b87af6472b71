"""The machines of the manifold regularisation paper, against their textbook formulas."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC

from beltrami.graph.recipes import KnnGraph
from beltrami.kernel_machines.kernels import PolynomialKernel
from beltrami.operators.laplacian import laplacian
from beltrami_papers.findings import holds_or_not
from beltrami_papers.lapsvm.machines import (
    Bench,
    Problem,
    draw_errors,
    machines_by_default,
    overall_lines,
    overall_means,
    problem_errors,
    stack_problems,
    summaries,
    switching_line,
    teach,
)

POLY = PolynomialKernel(3, coef0=0.0)
DRAWS = [np.array([0, 1, 2, 3]), np.array([10, 11, 20, 21])]


def _problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.arange(2 * n) % 2 == 1
    points = rng.normal(size=(2 * n, 5)) + 2.5 * positive[:, None]
    inside, outside = slice(0, n), slice(n, None)
    first = np.arange(n) < n // 2
    tests = {"test": np.ones(n, dtype=bool), "first": first}
    return Problem(points[inside], positive[inside], points[outside], positive[outside], tests)


def _bench(problem, laplacian="combinatorial", n_labelled=4):
    graph = KnnGraph(6, weights="binary", connect="keep").build(problem.points)
    return Bench(POLY, graph, n_labelled, laplacian)


def test_labels_are_zero_one_and_minus_one_for_none():
    labels = _problem().labels(np.array([3, 4]))
    assert labels[[3, 4]].tolist() == [1, 0]
    assert (np.delete(labels, [3, 4]) == -1).all()


def test_inductive_machines_are_those_of_scikit_learn():
    problem = _problem()
    bench, labelled = _bench(problem), DRAWS[0]
    signs = np.where(problem.positive[labelled], 1.0, -1.0)
    labels = problem.labels(labelled)
    kernel = {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 0.0}
    ridge = KernelRidge(alpha=0.05, **kernel).fit(problem.points[labelled], signs)
    ours = bench.rls(0.05).fit(problem.points, labels).decision_function(problem.new)
    np.testing.assert_allclose(ours, ridge.predict(problem.new), rtol=1e-6, atol=1e-8)
    peer = SVC(C=10.0, tol=1e-8, **kernel).fit(problem.points[labelled], signs)
    ours = bench.svm(0.05).fit(problem.points, labels).decision_function(problem.new)
    np.testing.assert_allclose(ours, peer.decision_function(problem.new), atol=1e-5)


def test_the_transductive_machine_has_the_cost_of_the_inductive_one():
    machine = _bench(_problem()).tsvm(0.05)
    assert (machine.C, machine.C_unlabeled) == pytest.approx((10.0, 10.0))


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_the_two_weights_enter_the_linear_system_as_they_are(kind):
    """(J K + lambda1 I + lambda2 L K) a = y, with l and n in neither weight."""
    problem = _problem()
    bench, labelled = _bench(problem, kind), DRAWS[1]
    learner = bench.rls(0.005, 0.045).fit(problem.points, problem.labels(labelled))
    matrix = laplacian(bench.graph).toarray()
    if kind == "normalized":
        root = np.sqrt(bench.graph.degrees)
        matrix = matrix / root[:, None] / root
    kernel = (problem.points @ problem.points.T) ** 3
    chosen, targets = np.zeros((60, 60)), np.zeros(60)
    chosen[labelled, labelled] = 1.0
    targets[labelled] = np.where(problem.positive[labelled], 1.0, -1.0)
    system = chosen @ kernel + 0.005 * np.eye(60) + 0.045 * matrix @ kernel
    expected = (problem.new @ problem.points.T) ** 3 @ np.linalg.solve(system, targets)
    np.testing.assert_allclose(learner.decision_function(problem.new), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["rls", "svm", "tsvm"])
def test_a_machine_taught_again_is_as_good_as_new(kind):
    problem = _problem()
    bench = _bench(problem)
    weights = (0.05,) if kind == "tsvm" else (0.005, 0.045)
    again = teach(getattr(bench, kind)(*weights), problem, DRAWS)
    scores = [one.decision_function(problem.new) for one in again][-1]
    fresh = getattr(bench, kind)(*weights).fit(problem.points, problem.labels(DRAWS[-1]))
    np.testing.assert_allclose(scores, fresh.decision_function(problem.new), atol=1e-6)


def test_errors_are_kept_by_set_of_points_and_way_to_count():
    problem = _problem()
    errors = draw_errors(_bench(problem).rls(0.005, 0.045), problem, DRAWS)
    views = {"unlabelled", "test", "first"}
    assert set(errors) == views | {f"{view} plain" for view in views}
    assert all(rates.shape == (2,) for rates in errors.values())
    assert errors["unlabelled"].max() < 10
    assert set(summaries(errors)) == views


class _Oracle:
    """Knows the classes of all but the labelled points, and gets those wrong."""

    def __init__(self, problem):
        self.problem = problem

    def fit(self, points, labels):
        self.labels = labels
        return self

    def decision_function(self, points):
        if len(points) == len(self.labels) and points is self.problem.points:
            truth = np.where(self.problem.positive, 1.0, -1.0)
            return np.where(self.labels >= 0, -truth, truth)
        return np.where(self.problem.new_positive, 1.0, -1.0)


def test_labelled_points_do_not_count():
    problem = _problem()
    errors = draw_errors(_Oracle(problem), problem, DRAWS)
    assert all((rates == 0).all() for rates in errors.values())


def test_tables_hold_a_row_per_problem_and_the_mean_of_all():
    problem, seen = _problem(), []
    bench = _bench(problem)
    machines = {"RLS": bench.rls(0.05), "TSVM": bench.tsvm(0.05)}
    results = [problem_errors(machines, problem, draws, seen.append) for draws in (DRAWS, DRAWS)]
    assert sum(seen) == 4
    table = stack_problems(results)
    assert table["RLS"]["test"].shape == (2, 2)
    means = overall_means(table)
    assert [one["machine"] for one in means] == ["RLS", "TSVM"]
    assert means[0]["test"] == pytest.approx(table["RLS"]["test"].mean(), abs=1e-3)
    assert f"the side of {means[1]['switched']:.3g} points" in switching_line(means)
    lines = overall_lines(means, ("unlabelled", "test"))
    assert lines[0] == "|  | unlabelled | test |"
    assert lines[2].startswith(f"| RLS | {means[0]['unlabelled']:.2f} (")


def test_verdicts_are_words():
    assert (holds_or_not(True), holds_or_not(False)) == ("holds", "does not hold")


def test_a_machine_that_chooses_its_graph_begins_anew_with_each_set_of_labels():
    problem = _problem()
    (name, machine), *_ = machines_by_default().items()
    scores = [one.decision_function(problem.points) for one in teach(machine, problem, DRAWS)]
    alone = clone(machine).fit(problem.points, problem.labels(DRAWS[1]))
    assert name == "LapRLS by default"
    np.testing.assert_allclose(scores[1], alone.decision_function(problem.points))
