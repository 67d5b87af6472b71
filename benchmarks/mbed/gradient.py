"""``python -m benchmarks.mbed.gradient``: one cost and gradient of Mbed, beside plain NumPy."""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from statistics import median
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, write_results
from benchmarks.common.threads import set_threads

STEM = "mbed_gradient"
SIZES, BROADCAST_SIZES, MARKED = (500, 2000, 8000), (500,), 2000
N_CLASSES, FASTER, GAP = 10, 10.0, 1e-9
TURN_S = 0.5  # of a turn, in which a side is asked again and again, as in a descent
PAUSE_S = 0.1  # threads of one side spin for a while after their work; the next should not pay
LIBRARY, STRAIGHT, KEPT, BROADCAST = (
    "MbedCost", "NumPy", "NumPy, P + P' kept", "NumPy, differences",
)  # fmt: skip
_NOTES = {
    LIBRARY: "the library's cost as the estimator calls it, BLAS on one thread",
    STRAIGHT: "from the formulas: Gram matrix, exp, Q, P + P' - Q - Q', matrix products",
    KEPT: "the same, with P + P' computed once beforehand",
    BROADCAST: "the same from all differences at once, n x n x d",
}


def main(arguments: list[str] | None = None) -> None:
    """Time all sides in turn; the files are written at the end."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded

    warn_if_busy()
    record: dict[str, Any] = {"circumstances": circumstances(), "rows": []}
    for n in (100, 200) if asked.toy else SIZES:
        times = contest(n, rounds=asked.rounds, with_differences=n in BROADCAST_SIZES)
        record["rows"].append({"n": n, **times})
        print(f"n = {n}: " + ", ".join(_line(times, side) for side in times["seconds"]), flush=True)
    record["marks"] = marks(record["rows"])
    folder = results_folder(asked.out, toy=asked.toy)
    write_results(folder, STEM, record, render(record))
    print(render(record))


def contest(n: int, *, rounds: int, with_differences: bool) -> dict[str, Any]:
    """Check that all sides agree, then time them in turn."""
    import numpy as np  # noqa: PLC0415

    from beltrami.core.machine.threads import serial_blas  # noqa: PLC0415

    sides = _sides(n, with_differences=with_differences)
    cost, gradient = sides[KEPT]()
    gaps = {}
    for side, evaluate in sides.items():  # compiles, too
        other_cost, other = evaluate()
        off = np.linalg.norm(other - gradient) / np.linalg.norm(gradient)
        gaps[side] = max(float(off), abs(other_cost - cost) / abs(cost))
        if gaps[side] > GAP:
            raise RuntimeError(f"{side} differs from {KEPT} by {gaps[side]:.1e} at n = {n}.")
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    for _ in range(rounds):
        turns: dict[str, list[float]] = {side: [] for side in sides}
        for side, evaluate in sides.items():
            time.sleep(PAUSE_S)
            # The estimator holds BLAS to one thread around a whole descent; the others keep both.
            with serial_blas() if side == LIBRARY else nullcontext():
                evaluate()  # wakes its own threads, fills the caches
                end = time.perf_counter() + TURN_S
                while time.perf_counter() < end:
                    start = time.perf_counter()
                    evaluate()
                    turns[side].append(time.perf_counter() - start)
                seconds[side].append(median(turns[side]))
    return {"seconds": seconds, "gaps": gaps}


def _sides(n: int, *, with_differences: bool) -> dict[str, Callable[[], tuple[float, Any]]]:
    import numpy as np  # noqa: PLC0415

    from beltrami.embeddings.mbed.model import Targets  # noqa: PLC0415
    from beltrami.embeddings.mbed.objective import MbedCost  # noqa: PLC0415
    from beltrami.embeddings.mbed.simplex import simplex_directions  # noqa: PLC0415
    from beltrami.embeddings.mbed.terms import ClassTerms  # noqa: PLC0415
    from beltrami.embeddings.neighborhoods.probabilities import (  # noqa: PLC0415
        StoredNeighborhood,
        row_probabilities,
    )
    from beltrami.embeddings.repulsion.exact import ExactRepulsion  # noqa: PLC0415

    rng = np.random.default_rng(0)
    Y = rng.standard_normal((n, N_CLASSES))
    points = rng.standard_normal((n, N_CLASSES))
    norms = (points**2).sum(axis=1)
    squares = np.maximum(norms[:, None] + norms - 2 * points @ points.T, 0)
    np.fill_diagonal(squares, np.inf)
    P = row_probabilities(squares)
    near = StoredNeighborhood.of(P)
    kept, entropy = np.asarray(near.mutual), near.entropy
    classes = ClassTerms(simplex_directions(N_CLASSES, N_CLASSES), 1.0, Targets.none(N_CLASSES))
    library = MbedCost(near, ExactRepulsion(), classes)

    def with_classes(pair: tuple[float, Any]) -> tuple[float, Any]:
        class_cost, class_gradient = classes(Y)
        return pair[0] - entropy + class_cost, pair[1] + class_gradient

    sides: dict[str, Callable[[], tuple[float, Any]]] = {
        LIBRARY: lambda: library(Y),
        STRAIGHT: lambda: with_classes(straight(P + P.T, Y)),
        KEPT: lambda: with_classes(straight(kept, Y)),
    }
    if with_differences:
        sides[BROADCAST] = lambda: with_classes(_by_differences(P, Y))
    return sides


def straight(mutual: Any, Y: Any) -> tuple[float, Any]:
    """Return cost (but for the entropy of P) and gradient, as the formulas say."""
    import numpy as np  # noqa: PLC0415

    norms = (Y * Y).sum(axis=1)
    squares = norms[:, None] + norms[None, :] - 2 * (Y @ Y.T)
    E = np.exp(-squares)
    np.fill_diagonal(E, 0)
    z = E.sum(axis=1)
    Q = E / z[:, None]
    W = mutual - Q - Q.T
    cost = 0.5 * float(np.vdot(mutual, squares)) + float(np.log(z).sum())
    return cost, 2 * (W.sum(axis=1)[:, None] * Y - W @ Y)


def _by_differences(P: Any, Y: Any) -> tuple[float, Any]:
    """Return the same from an array of all differences."""
    import numpy as np  # noqa: PLC0415

    differences = Y[:, None, :] - Y[None, :, :]
    squares = (differences**2).sum(axis=2)
    E = np.exp(-squares)
    np.fill_diagonal(E, 0)
    z = E.sum(axis=1)
    Q = E / z[:, None]
    W = P + P.T - Q - Q.T
    cost = float((P * squares).sum()) + float(np.log(z).sum())
    return cost, 2 * (W[:, :, None] * differences).sum(axis=1)


def marks(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds."""
    verdicts = []
    for row in rows:
        if row["n"] == MARKED:
            ratio = _ratio(row, LIBRARY, STRAIGHT)
            about = f"{LIBRARY}, n = {MARKED}, K = {N_CLASSES}: times faster than {STRAIGHT}"
            verdicts.append(
                {"about": about, "at least": FASTER, "found": ratio, "met": ratio >= FASTER}
            )
    return verdicts


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts = record["circumstances"]
    lines = [
        [
            str(row["n"]),
            side,
            f"{1e3 * _median(row, side):.2f}",
            *(f"{_ratio(row, side, rival):.2f}" for rival in (STRAIGHT, KEPT)),
            f"{row['gaps'][side]:.0e}",
        ]
        for row in record["rows"]
        for side in row["seconds"]
    ]
    header = ("n", "side", "ms", f"times faster than {STRAIGHT}", f"than {KEPT}", "gap")
    asked = [
        [one["about"], f"{one['at least']:g}", f"{one['found']:.1f}", "yes" if one["met"] else "no"]
        for one in record["marks"]
    ]
    return (
        f"# One cost and gradient of Mbed, K = d = {N_CLASSES}\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side; "
        f"Python {facts['python']}, NumPy {facts['versions']['numpy']}, "
        f"numba {facts['versions']['numba']}; {facts['date']} at commit {facts['commit']}. "
        "Medians over rounds in which the sides take turns of half a second; ratios are medians of "
        "the rounds' ratios. All sides share the code of the class terms; P is dense.\n\n"
        + "".join(f"- {side}: {note}\n" for side, note in _NOTES.items())
        + "\n"
        + table(header, lines)
        + "\n"
        + table(("asked", "at least", "found", "met"), asked)
    )


def _median(row: Mapping[str, Any], side: str) -> float:
    import numpy as np  # noqa: PLC0415

    return float(np.median(row["seconds"][side]))


def _ratio(row: Mapping[str, Any], side: str, rival: str) -> float:
    import numpy as np  # noqa: PLC0415

    return float(np.median(np.divide(row["seconds"][rival], row["seconds"][side])))


def _line(times: Mapping[str, Any], side: str) -> str:
    return f"{side} {1e3 * _median(times, side):.2f} ms"


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("mbed.gradient", __doc__)
    parser.add_argument("--toy", action="store_true", help="small problems")
    parser.add_argument("--rounds", type=int, default=9, help="rounds, each with every side")
    add_threads(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
