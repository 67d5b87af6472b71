"""Who may answer: every candidate of the classifier, and how its learner is made."""

from typing import Any

from scipy.sparse import issparse

from beltrami.front_door.baselines import LogisticCandidate, NeighborCandidate
from beltrami.front_door.candidates import Candidate, GraphCandidate, View
from beltrami.learners.machines.laplacian_rls import LaplacianRLSClassifier
from beltrami.learners.machines.laplacian_svc import LaplacianSVC
from beltrami.learners.poisson.classifier import PoissonClassifier
from beltrami.learners.regularized.estimators import GraphRegularizedClassifier
from beltrami.learners.spectral.estimators import EigenfunctionClassifier

_MANY_ROWS = 20_000
"""Rows above which graph regularisation goes through the labels instead of choosing how near."""


def all_candidates() -> tuple[Candidate, ...]:
    """Return every candidate, unfitted, in the order in which they are tried.

    The first is the cheapest that serves from one label a class on, and answers whatever the time;
    the baselines cost little, and the others follow by what they cost.
    """
    squares = GraphCandidate(
        "laplacian_rls",
        "Laplacian regularised least squares",
        _laplacian_rls,
        are_shares=False,
        has_exact=True,
    )
    return (
        GraphCandidate(
            "poisson", "Poisson learning", _poisson, are_shares=True, settled_if_many=("n_steps",)
        ),
        LogisticCandidate(),
        NeighborCandidate(),
        GraphCandidate(
            "regularized",
            "graph regularisation",
            _regularized,
            are_shares=True,
            settled=("gamma",),
        ),
        GraphCandidate(
            "eigenfunctions", "spectral ridge on eigenfunctions", _eigenfunctions, are_shares=False
        ),
        squares,
        GraphCandidate(
            "laplacian_svc",
            "Laplacian support vectors",
            _laplacian_svc,
            are_shares=False,
            has_exact=True,
            twin=squares,
        ),
    )


def _poisson(view: View) -> Any:
    return PoissonClassifier(classes=range(view.n_classes))


def _regularized(view: View) -> Any:
    gamma = "auto" if view.graph.n_nodes <= _MANY_ROWS else 0.0
    return GraphRegularizedClassifier(gamma=gamma, classes=range(view.n_classes))


def _eigenfunctions(view: View) -> Any:
    return EigenfunctionClassifier(
        gamma="auto", classes=range(view.n_classes), random_state=view.random_state
    )


def _laplacian_rls(view: View) -> Any:
    return LaplacianRLSClassifier(
        kernel=kernel_of(view), classes=range(view.n_classes), random_state=view.random_state
    )


def _laplacian_svc(view: View) -> Any:
    return LaplacianSVC(
        kernel=kernel_of(view), classes=range(view.n_classes), random_state=view.random_state
    )


def kernel_of(view: View) -> str:
    """Return the kernel that goes with how distances are measured."""
    return "cosine" if issparse(view.points) or view.metric in {"angle", "cosine"} else "rbf"
