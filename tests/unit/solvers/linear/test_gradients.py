"""The ledger of energies: what it may conclude, and when it must not."""

import numpy as np
from numpy.testing import assert_allclose

from beltrami.core.machine.backend import GroundedLaplacian, NumpyBackend
from beltrami.graph.families import grid
from beltrami.solvers.linear.gradients import EnergyLedger, conjugate_gradients
from beltrami.solvers.linear.preconditioners import Jacobi


def ledger_of(*gains: float) -> EnergyLedger:
    ledger = EnergyLedger()
    for gain in gains:
        ledger.add(np.array([gain]))
    return ledger


def test_error_is_the_share_of_the_last_gains() -> None:
    gains = [10.0**-j for j in range(12)]
    (error,) = ledger_of(*gains).errors()
    assert_allclose(error, np.sqrt(sum(gains[-4:]) / sum(gains)), rtol=1e-12)
    slower = [4.0**-j for j in range(12)]
    (error,) = ledger_of(*slower).errors()
    assert_allclose(error, np.sqrt(sum(slower[-5:]) / sum(slower)), rtol=1e-12)


def test_error_is_unknown_at_first_and_on_a_plateau() -> None:
    assert ledger_of(1.0, 0.1, 0.01).errors() == np.inf
    assert ledger_of(*[1.0] * 9).errors() == np.inf


def test_zero_system_has_no_error() -> None:
    assert ledger_of(0.0).errors() == 0


def test_solved_column_rests_while_others_go_on() -> None:
    """The first column's iterate must not change after it has met the tolerance."""
    graph = grid(20, 20)
    matrix = GroundedLaplacian(graph.weights, np.full(400, 0.01))
    rng = np.random.default_rng(0)
    easy = np.empty((400, 1))
    NumpyBackend().grounded_product(matrix, np.ones((400, 1)), easy)
    both = np.hstack([easy, rng.standard_normal((400, 1))])
    options = {"tol": 1e-6, "max_iter": 500, "backend": NumpyBackend()}
    alone = conjugate_gradients(matrix, easy.copy(), Jacobi.of(matrix, NumpyBackend()), **options)
    together = conjugate_gradients(matrix, both, Jacobi.of(matrix, NumpyBackend()), **options)
    assert together.iterations > alone.iterations
    assert_allclose(together.values[:, 0], alone.values[:, 0], rtol=1e-12)
    assert (together.errors <= 1e-6).all()


def test_impatient_run_stops_early_and_says_how_far_it_came() -> None:
    matrix = GroundedLaplacian(grid(40, 40).weights, np.full(1600, 1e-6))
    b = np.random.default_rng(0).standard_normal((1600, 1))
    steps = []
    found = conjugate_gradients(
        matrix,
        b,
        Jacobi.of(matrix, NumpyBackend()),
        tol=1e-10,
        max_iter=2000,
        backend=NumpyBackend(),
        patience=10,
        progress=steps.append,
    )
    assert found.iterations == len(steps) < 100
    assert found.errors[0] > 1e-10
