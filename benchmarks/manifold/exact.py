"""The exact path beside the formulas of the paper, coded as public codes have them.

Both sides get points, one graph, labelled rows and fixed penalties, and return the scores of all
points. The naive side forms the dense n x n system and solves it anew for each class against the
rest; its dual is given to libsvm, because a general solver takes minutes. The kind side is the
same code with one factorisation for all classes. Kernel and Laplacian are formed once on each.
"""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from beltrami import KnnGraph, LaplacianPower, LaplacianRLSClassifier, LaplacianSVC, RbfKernel
from beltrami.kernel_machines.kernels import typical_width
from beltrami_papers.preparation import keep_labels
from benchmarks.common.facts import SEED
from benchmarks.peers.contest import Answer, Contest, Problem
from benchmarks.peers.problems import points, problem_name

LAMBDA1, LAMBDA2 = 0.005, 0.045
"""The paper's penalties for digits, as they enter the systems."""

NEIGHBORS = 10
PER_CLASS = "naive, a solve per class"
AT_ONCE = "naive, one factorisation"
SIZE, LABELS = 2000, 200
_TOY_SIZE, _TOY_LABELS = 300, 60
_TOLERANCES = {"LapRLS": 1e-6, "LapSVM": 1e-2}
_DUAL_TOL = 1e-5

Solve = Callable[[np.ndarray, np.ndarray], np.ndarray]


def contests(*, toy: bool = False) -> list[Contest]:
    """Return the four contests: two losses, two peers."""
    source, n, labels = ("digits", _TOY_SIZE, _TOY_LABELS) if toy else ("mnist", SIZE, LABELS)
    sides = {"LapRLS": (_ours_rls, _naive_rls), "LapSVM": (_ours_svm, _naive_svm)}
    return [
        Contest(
            f"exact {loss}",
            problem_name(source, n),
            partial(problem, source, n, labels),
            ours,
            error,
            peer=partial(naive, at_once=peer == AT_ONCE),
            peer_name=peer,
            gap=_score_gap,
            tolerance=_TOLERANCES[loss],
        )
        for loss, (ours, naive) in sides.items()
        for peer in (PER_CLASS, AT_ONCE)
    ]


@lru_cache(maxsize=1)
def problem(source: str, n: int, labels: int) -> Problem:
    """Return points with a graph and random labelled rows, some of every class."""
    cloud = points(source, n)
    rows = np.random.default_rng(SEED).choice(n, labels, replace=False)
    arrays = {
        "points": np.asarray(cloud["points"], dtype=np.float64),
        "targets": np.asarray(cloud["targets"]),
        "rows": rows,
        "graph": KnnGraph(NEIGHBORS).build(cloud["points"]),
    }
    return Problem(cloud.name, n, arrays, {"width": typical_width(arrays["points"])})


def error(problem: Problem, answer: Answer) -> float:
    """Return the share of unlabelled points whose highest score is of another class."""
    wrong = answer.arrays[0].argmax(axis=1) != problem["targets"]
    wrong[problem["rows"]] = False
    return float(wrong.sum()) / (problem.size - len(problem["rows"]))


def _score_gap(problem: Problem, ours: Answer, theirs: Answer) -> float:  # noqa: ARG001
    """Return the largest difference of scores, relative to the largest score."""
    mine, other = ours.arrays[0], theirs.arrays[0]
    return float(np.abs(mine - other).max() / np.abs(other).max())


def _ours_rls(problem: Problem) -> Answer:
    return _ours(LaplacianRLSClassifier, problem)


def _ours_svm(problem: Problem) -> Answer:
    return _ours(LaplacianSVC, problem, tol=_DUAL_TOL)


def _ours(kind: type, problem: Problem, **more: float) -> Answer:
    n, rows = problem.size, problem["rows"]
    labels = keep_labels(problem["targets"], rows)
    learner = kind(
        gamma_a=LAMBDA1 / len(rows),
        gamma_i=LAMBDA2 * n**2 / len(rows),
        kernel=RbfKernel(problem.settings["width"]),
        smoothness=LaplacianPower(1, kind="combinatorial"),
        graph=problem["graph"],
        approximation="none",
        **more,
    )
    return Answer((np.asarray(learner.fit(problem["points"], labels).scores_),))


def _naive_rls(problem: Problem, *, at_once: bool) -> Answer:
    """Solve (JK + lambda1 I + lambda2 LK) alpha = y."""
    kernel, laplacian = _dense(problem)
    n, rows = problem.size, problem["rows"]
    system = LAMBDA1 * np.eye(n) + LAMBDA2 * laplacian @ kernel
    system[rows] += kernel[rows]
    right = np.zeros((n, int(problem["targets"].max()) + 1))
    right[rows] = _signs(problem)
    if at_once:
        return Answer((kernel @ np.linalg.solve(system, right),))
    columns = [kernel @ np.linalg.solve(system, column) for column in right.T]
    return Answer((np.stack(columns, axis=1),))


def _naive_svm(problem: Problem, *, at_once: bool) -> Answer:
    """Solve the dual on JK (I + lambda2 / lambda1 LK)^-1 J' and expand over all points."""
    kernel, laplacian = _dense(problem)
    n, rows = problem.size, problem["rows"]
    system = np.eye(n) + (LAMBDA2 / LAMBDA1) * laplacian @ kernel
    chosen = np.zeros((n, len(rows)))
    chosen[rows, np.arange(len(rows))] = 1.0
    if at_once:
        factor = lu_factor(system, overwrite_a=True, check_finite=False)
        shared = lu_solve(factor, chosen, check_finite=False)
    columns = []
    for signs in _signs(problem).T:
        solved = shared if at_once else np.linalg.solve(system, chosen)
        deformed = kernel[rows] @ solved
        model = SVC(C=1 / (2 * LAMBDA1), kernel="precomputed", tol=_DUAL_TOL)
        model.fit((deformed + deformed.T) / 2, signs)
        alpha = solved[:, model.support_] @ model.dual_coef_[0]
        columns.append(kernel @ alpha + model.intercept_[0])
    return Answer((np.stack(columns, axis=1),))


def _dense(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    weights = problem["graph"].weights.toarray()
    kernel = rbf_kernel(problem["points"], gamma=1 / (2 * problem.settings["width"] ** 2))
    return kernel, np.diag(weights.sum(axis=1)) - weights


def _signs(problem: Problem) -> np.ndarray:
    targets = problem["targets"]
    return 2.0 * np.eye(int(targets.max()) + 1)[targets[problem["rows"]]] - 1.0
