"""The candidates: one record for each learner that may answer, of classes and of values."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from scipy.sparse import issparse

from beltrami.core.errors import InvalidInputError
from beltrami.front_door.deciding.members import (
    GraphMember,
    GraphValueMember,
    PlainMember,
    PlainValueMember,
)
from beltrami.front_door.prepare import View
from beltrami.kernel_machines.approximation import NystromApproximation
from beltrami.learners.baselines import (
    ForestBaseline,
    LogisticBaseline,
    NearestBaseline,
    NearestValueBaseline,
    RidgeBaseline,
)
from beltrami.learners.machines.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from beltrami.learners.machines.laplacian_svc import LaplacianSVC
from beltrami.learners.poisson.classifier import PoissonClassifier
from beltrami.learners.regularized.estimators import (
    GraphRegularizedClassifier,
    GraphRegularizedRegressor,
)
from beltrami.learners.spectral.estimators import EigenfunctionClassifier, EigenfunctionRegressor

REGULARIZED_ROWS = 20_000
FOREST_ROWS = 20_000
FOREST_COLUMNS = 2000
MACHINE_ROWS = 2500
"""Rows and columns up to which a candidate is tried when the choice is ours."""

EXACT_MACHINE_ROWS = 500
"""Rows up to which the kernel machines of classes are exact; landmarks stand for more."""

_LANDMARKS = 300

OUT_OF_TIME = "not tried: the time budget"

_MANY_ROWS = 20_000
"""Rows above which graph regularisation goes through the labels instead of choosing how near."""


class FewLandmarks(NystromApproximation):
    """Landmarks for a table of some thousand rows: a few hundred, or twice the labels."""

    def size(self, n_labels: int) -> int:
        """Return the number of landmarks for a fit with that many labels."""
        return max(super().size(n_labels), 2 * n_labels)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A learner that may answer.

    Attributes
    ----------
    name : str
        As in ``method=``.
    title : str
        For a person to read.
    make : callable
        Returns a new member of a committee.
    is_baseline : bool
        Whether it sees the labelled rows only.
    most_rows, most_columns : int or None
        Rows and columns up to which it is tried when the choice is ours; None for any number.
    least_belief : float
        What experience must give it, beside the others, for it to be tried when the choice is ours.
    is_asked_only : bool
        Whether it is tried only where it was asked for: it never earned its time.
    """

    name: str
    title: str
    make: Callable[..., Any]
    is_baseline: bool = False
    most_rows: int | None = None
    most_columns: int | None = None
    least_belief: float = 0.0
    is_asked_only: bool = False

    def skip_reason(
        self,
        method: str,
        shape: tuple[int, ...],
        spent: float,
        budget: float | None,
        *,
        has_answer: bool,
    ) -> str:
        """Say why it is not tried, or nothing.

        - `method`: what was asked for: "auto", or the candidate that is always tried.
        - `shape`: rows and columns.
        - `spent`, `budget`: seconds.
        """
        if self.name != method:
            for count, most, what in (
                (shape[0], self.most_rows, "rows"),
                (shape[1], self.most_columns, "columns"),
            ):
                if most is not None and count > most:
                    return f"not tried above {most:,} {what}: it takes too long"
        if budget is not None and spent > budget and has_answer and self.name != method:
            return f"{OUT_OF_TIME} of {budget:g} s was spent"
        return ""


def candidates_for(method: Any, candidates: tuple[Candidate, ...]) -> dict[str, Candidate]:
    """Return those that are tried for a method, by name: all, or one beside the baselines."""
    known = {one.name: one for one in candidates}
    if isinstance(method, str) and method == "auto":
        return {name: one for name, one in known.items() if not one.is_asked_only}
    if not isinstance(method, str) or method not in known:
        listed = ", ".join(["auto", *known])
        raise InvalidInputError(f"method={method!r} is not known; choose one of {listed}.")
    return {name: one for name, one in known.items() if one.is_baseline or name == method}


def _make_poisson(view: View) -> Any:  # noqa: ARG001
    return PoissonClassifier()


def _make_regularized(view: View) -> Any:
    gamma = "auto" if view.graph.n_nodes <= _MANY_ROWS else 0.0
    return GraphRegularizedClassifier(gamma=gamma)


def _make_eigenfunctions(view: View) -> Any:
    return EigenfunctionClassifier(gamma="auto", random_state=view.random_state)


def _make_rls(view: View) -> Any:
    return LaplacianRLSClassifier(**_machine_options(view))


def _make_svc(view: View) -> Any:
    return LaplacianSVC(**_machine_options(view))


def _machine_options(view: View) -> dict[str, Any]:
    """Return what the two kernel machines of classes are made with, so that they share kernels."""
    options = {"kernel": _kernel_for(view), "random_state": view.random_state}
    if view.graph.n_nodes <= EXACT_MACHINE_ROWS:
        return options
    # The same landmarks in every fit: an exact machine draws nothing, and this one stands for it.
    seed = 0 if view.random_state is None else view.random_state
    return options | {"approximation": FewLandmarks(_LANDMARKS), "random_state": seed}


def _make_value_regularized(view: View) -> Any:
    gamma = "auto" if view.graph.n_nodes <= _MANY_ROWS else 0.0
    return GraphRegularizedRegressor(smoothness=("iterated", 2), gamma=gamma)


def _make_value_eigenfunctions(view: View) -> Any:
    return EigenfunctionRegressor(random_state=view.random_state)


def _make_value_rls(view: View) -> Any:
    return LaplacianRLSRegressor(kernel=_kernel_for(view), random_state=view.random_state)


def _kernel_for(view: View) -> str:
    """Return the kernel that goes with how distances are measured."""
    return "cosine" if issparse(view.points) or view.metric in {"angle", "cosine"} else "rbf"


CLASS_CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "poisson",
        "Poisson learning",
        partial(GraphMember, _make_poisson, are_shares=True, holds_out=True, keeps_sizes=True),
    ),
    Candidate(
        "logistic",
        "logistic regression, labels alone",
        partial(PlainMember, LogisticBaseline),
        is_baseline=True,
    ),
    Candidate(
        "forest",
        "random forest, labels alone",
        partial(PlainMember, ForestBaseline),
        is_baseline=True,
        most_rows=FOREST_ROWS,
        most_columns=FOREST_COLUMNS,
        least_belief=0.05,
    ),
    Candidate(
        "neighbors",
        "nearest labelled row, labels alone",
        partial(PlainMember, NearestBaseline, sees_all_columns=False),
        is_baseline=True,
    ),
    Candidate(
        "regularized",
        "graph regularisation",
        partial(GraphMember, _make_regularized, are_shares=True, kept=("gamma",)),
        most_rows=REGULARIZED_ROWS,
    ),
    Candidate(
        "eigenfunctions",
        "spectral ridge on eigenfunctions",
        partial(GraphMember, _make_eigenfunctions, are_shares=False),
    ),
    Candidate(
        "laplacian_rls",
        "Laplacian regularised least squares",
        partial(GraphMember, _make_rls, are_shares=False, has_exact=True),
        most_rows=MACHINE_ROWS,
    ),
    Candidate(
        "laplacian_svc",
        "Laplacian support vectors",
        partial(GraphMember, _make_svc, are_shares=False, has_exact=True),
        most_rows=MACHINE_ROWS,
        is_asked_only=True,
    ),
)
"""The first is the cheapest that serves from one label a class on, and answers whatever the time;
the baselines cost little, and the others follow by what they cost."""

VALUE_CANDIDATES: tuple[Candidate, ...] = (
    Candidate(
        "ridge",
        "ridge regression, labels alone",
        partial(PlainValueMember, RidgeBaseline),
        is_baseline=True,
    ),
    Candidate(
        "neighbors",
        "nearest labelled rows, labels alone",
        partial(PlainValueMember, NearestValueBaseline),
        is_baseline=True,
    ),
    Candidate(
        "regularized", "graph regularisation", partial(GraphValueMember, _make_value_regularized)
    ),
    Candidate(
        "eigenfunctions",
        "spectral ridge on eigenfunctions",
        partial(GraphValueMember, _make_value_eigenfunctions),
    ),
    Candidate(
        "laplacian_rls",
        "Laplacian regularised least squares",
        partial(GraphValueMember, _make_value_rls),
        most_rows=MACHINE_ROWS,
    ),
)
"""The baselines first and the costliest last."""
