"""The five machines of Belkin, Niyogi and Sindhwani (2004), run on one two-class problem.

A problem, a kernel and regularisation weights enter; the errors of each machine leave, one per set
of labelled points.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import DisconnectedGraphWarning
from beltrami.core.types import BoolVector, FloatMatrix, IndexVector
from beltrami.graph.model import Graph
from beltrami.kernel_machines.kernels import PolynomialKernel, RbfKernel
from beltrami.kernel_machines.roughness import LaplacianPower
from beltrami.learners import LaplacianRLSClassifier, LaplacianSVC, TransductiveSVC
from beltrami_papers.cells import summary, table_lines
from beltrami_papers.lapsvm.errors import breakeven_error, plain_error
from beltrami_papers.preparation import keep_labels

SOURCE = "Belkin, Niyogi and Sindhwani (2004)"
PLAIN = "plain"
"""Ends the name of an error that is counted at the score zero."""

SWITCHED = "switched"
"""Names the number of points that a transductive machine moved to the other side."""

BY_DEFAULT = "by default"
"""Ends the name of a machine with which nothing is set."""

Errors = dict[str, NDArray[np.float64]]
"""For each set of points the errors in percent, one per set of labelled points."""

ErrorTable = Mapping[str, Mapping[str, NDArray[np.float64]]]
"""Errors of shape (problems, draws) by machine and set of points."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Points of two classes, and new ones to test on.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Training points; all but the labelled ones are unlabelled.
    positive : ndarray of bool of shape (n,)
        Their classes.
    new : ndarray of shape (m, d)
        Points that no machine sees.
    new_positive : ndarray of bool of shape (m,)
        Their classes.
    tests : mapping of str to ndarray of bool of shape (m,)
        Named parts of the new points, each with an error rate of its own.
    """

    points: FloatMatrix
    positive: BoolVector
    new: FloatMatrix
    new_positive: BoolVector
    tests: Mapping[str, BoolVector] = field(default_factory=dict)

    def labels(self, labelled: IndexVector) -> IndexVector:
        """Return classes 0 and 1 at the labelled rows and -1 elsewhere."""
        return keep_labels(self.positive, labelled)


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """Makes machines that share a kernel, a number of points and a number of labels.

    Weights are those that enter the linear systems: lambda1 = gamma_A l, lambda2 = gamma_I l / n^2.

    Attributes
    ----------
    kernel : RbfKernel or PolynomialKernel
        As the learners take it.
    graph : Graph
        Of the training points.
    n_labelled : int
        Labelled points, l.
    laplacian : str
        "combinatorial" or "normalized".
    """

    kernel: RbfKernel | PolynomialKernel
    graph: Graph
    n_labelled: int
    laplacian: str = "combinatorial"

    def rls(self, lambda1: float, lambda2: float = 0.0) -> Any:
        """Return least squares: RLS, or with a second weight LapRLS."""
        return LaplacianRLSClassifier(
            **self._shared_settings(lambda1, lambda2), fit_intercept=False
        )

    def svm(self, lambda1: float, lambda2: float = 0.0) -> Any:
        """Return a machine with hinge loss: SVM, or with a second weight LapSVM."""
        return LaplacianSVC(**self._shared_settings(lambda1, lambda2))

    def tsvm(self, lambda1: float) -> Any:
        """Return a transductive machine."""
        cost = 1.0 / (2.0 * lambda1)
        return TransductiveSVC(C=cost, C_unlabeled=cost, kernel=self.kernel)

    def _shared_settings(self, lambda1: float, lambda2: float) -> dict[str, Any]:
        n, count = self.graph.n_nodes, self.n_labelled
        return {
            "kernel": self.kernel,
            "gamma_a": lambda1 / count,
            "gamma_i": lambda2 * n**2 / count,
            "smoothness": LaplacianPower(1, kind=self.laplacian),
            "graph": self.graph,
            "approximation": "none",
        }


def machines_by_default() -> dict[str, Any]:
    """Return the Laplacian machines with nothing set: they choose graph, kernel and weights."""
    return {
        f"LapRLS {BY_DEFAULT}": LaplacianRLSClassifier(),
        f"LapSVM {BY_DEFAULT}": LaplacianSVC(),
    }


def teach(machine: Any, problem: Problem, draws: Sequence[IndexVector]) -> Iterator[Any]:
    """Teach one machine from several sets of labels, one after the other.

    Only the first set pays for the kernel and its factorisation where the machine can keep them;
    a machine that chooses its graph by the labels begins anew with each set.
    A row that no label reaches through the graph still has a score by the kernel, which is what
    the paper counts, so the warning about such rows is left out.
    """
    can_keep = hasattr(machine, "fit_labels") and machine.graph is not None
    for i, labelled in enumerate(draws):
        labels = problem.labels(labelled)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            if i and can_keep:
                machine.fit_labels(labels)
            else:
                machine.fit(problem.points, labels)
        yield machine


def draw_errors(machine: Any, problem: Problem, draws: Sequence[IndexVector]) -> Errors:
    """Return the errors of one machine for several sets of labels.

    ``unlabelled``, each of the problem's tests, and the same names with ``plain``; for a machine
    that moves unlabelled points from side to side also ``switched``, how many.
    """
    rates: dict[str, list[float]] = {}
    for labelled, fitted in zip(draws, teach(machine, problem, draws), strict=True):
        inside, outside = (fitted.decision_function(x) for x in (problem.points, problem.new))
        unlabelled = np.ones(len(problem.points), dtype=np.bool_)
        unlabelled[labelled] = False
        views = {"unlabelled": (inside[unlabelled], problem.positive[unlabelled])} | {
            name: (outside[part], problem.new_positive[part])
            for name, part in problem.tests.items()
        }
        for name, (scores, positive) in views.items():
            rates.setdefault(name, []).append(breakeven_error(scores, positive))
            rates.setdefault(f"{name} {PLAIN}", []).append(plain_error(scores, positive))
        if hasattr(fitted, "n_switched_"):
            rates.setdefault(SWITCHED, []).append(float(fitted.n_switched_))
    return {name: np.array(values) for name, values in rates.items()}


def problem_errors(
    machines: Mapping[str, Any],
    problem: Problem,
    draws: Sequence[IndexVector],
    advance: Callable[[float], None],
) -> dict[str, Errors]:
    """Return the errors of several machines on one problem."""
    errors = {}
    for name, machine in machines.items():
        errors[name] = draw_errors(machine, problem, draws)
        advance(1)
    return errors


def stack_problems(results: Sequence[Mapping[str, Errors]]) -> dict[str, Errors]:
    """Turn a list of problems into arrays of shape (problems, draws)."""
    return {
        machine: {view: np.array([one[machine][view] for one in results]) for view in errors}
        for machine, errors in results[0].items()
    }


def overall_means(table: ErrorTable) -> list[dict[str, Any]]:
    """Return the mean of every machine over all problems and draws."""
    return [
        {
            "machine": machine,
            **{view: round(float(errors.mean()), 3) for view, errors in views.items()},
        }
        for machine, views in table.items()
    ]


def overall_lines(means: Sequence[Mapping[str, Any]], views: Sequence[str]) -> list[str]:
    """Return the table of overall means: break-even error, and plain error in brackets."""
    rows = [
        [one["machine"], *(f"{one[view]:.2f} ({one[f'{view} {PLAIN}']:.2f})" for view in views)]
        for one in means
    ]
    return table_lines(["", *views], rows)


def summaries(errors: Errors) -> dict[str, Any]:
    """Return mean and deviation over the draws of one problem, break-even errors only."""
    return {view: summary(e) for view, e in errors.items() if not view.endswith(PLAIN)}


def switching_line(means: Sequence[Mapping[str, Any]]) -> str:
    """Say how often TSVM changed its mind."""
    (count,) = [one[SWITCHED] for one in means if SWITCHED in one]
    return (
        f"On average TSVM changed the side of {count:.3g} points per fit, beginning where SVM "
        "had put them."
    )
