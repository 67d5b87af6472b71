"""Bases in the store: what comes back is the basis, and anything else is another key."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from beltrami import Basis, Graph, KnnGraph, eigenbasis
from beltrami.core.errors import ConvergenceWarning
from beltrami.core.machine.threads import thread_limit
from beltrami.core.store import Parcel, Store, remember
from beltrami.solvers.eigen import chebyshev
from beltrami.solvers.eigen.storing import unpack_basis

POINTS = np.random.default_rng(0).random((300, 3))
GRAPH = KnnGraph(6, random_state=0).build(POINTS)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def solve(store: Store, *arguments, **named) -> tuple[Basis, bool]:
    """Return a basis and whether it was taken from the store."""
    told: list[str] = []
    with remember(store, tell=told.append, least_seconds=0):
        basis = eigenbasis(*arguments, **named)
    return basis, bool(told)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "chebyshev"])
@pytest.mark.parametrize("kind", ["combinatorial", "normalized", "random_walk"])
def test_the_second_basis_is_the_first_bit_by_bit(store: Store, solver: str, kind: str):
    plain = eigenbasis(GRAPH, 8, kind=kind, solver=solver)
    first, was_stored = solve(store, GRAPH, 8, kind=kind, solver=solver)
    assert not was_stored
    second, was_stored = solve(store, Graph(GRAPH.weights.copy()), 8, kind=kind, solver=solver)
    assert was_stored
    for one in fields(Basis):
        values = [getattr(basis, one.name) for basis in (plain, first, second)]
        if isinstance(values[0], np.ndarray):
            assert len({(x.tobytes(), x.dtype.str, x.strides) for x in values}) == 1
        else:
            assert len(set(values)) == 1
            assert len(set(map(type, values))) == 1


def test_everything_that_changes_the_basis_changes_the_key(store: Store):
    usual = {"kind": "normalized", "tol": 1e-3, "solver": "chebyshev", "random_state": 0}
    solve(store, GRAPH, 8, **usual)
    heavier = Graph(GRAPH.weights * 2)
    assert not solve(store, heavier, 8, **usual)[1]
    assert not solve(store, GRAPH, 9, **usual)[1]
    others = {"kind": "combinatorial", "tol": 1e-4, "solver": "lanczos", "random_state": 1}
    assert others.keys() == usual.keys()
    for name, value in others.items():
        assert not solve(store, GRAPH, 8, **usual | {name: value})[1], name
    with thread_limit(1):
        n_before = len(store.entries())
        solve(store, GRAPH, 8, **usual)
    assert len(store.entries()) in (n_before, n_before + 1)  # as many threads, or fewer
    assert solve(store, GRAPH, 8, **usual)[1]
    assert solve(store, GRAPH, 8, **usual | {"random_state": None})[1]  # which means zero


def test_a_generator_is_never_a_key(store: Store):
    solve(store, GRAPH, 8, random_state=np.random.default_rng(0))
    assert store.entries() == []


def test_a_basis_that_did_not_converge_says_so_again(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chebyshev, "_MAX_ROUNDS", 1)
    for was_stored in (False, True):
        with pytest.warns(ConvergenceWarning, match="residual above") as said:
            basis, taken = solve(store, GRAPH, 8, solver="chebyshev", tol=1e-9)
        assert (basis.converged, taken, len(said)) == (False, was_stored, 1)


def test_parts_of_two_bases_are_none():
    basis = eigenbasis(GRAPH, 8)
    parcel = Parcel.of(basis)
    assert unpack_basis(parcel).kind == basis.kind
    with pytest.raises(ValueError, match="one basis"):
        unpack_basis(Parcel(parcel.arrays | {"values": basis.values[:3]}, parcel.facts))
    with pytest.raises(TypeError):
        unpack_basis(Parcel(parcel.arrays | {"strange": basis.values}, parcel.facts))
