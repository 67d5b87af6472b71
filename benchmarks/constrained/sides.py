"""The problems, the two sides, and what is measured of them."""

import importlib.util
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus

from beltrami.core.errors import ConvergenceWarning
from beltrami.separation.assignment import Assignment, assign
from beltrami.separation.constrained_kmeans import ConstrainedKMeans, constrained_kmeans

N_CLUSTERS, N_FEATURES = 8, 8
SHARES = (0.4, 0.25, 0.15, 0.08, 0.05, 0.04, 0.02, 0.01)
LEAST = 0.95  # of an equal share
TOL, MAX_ITER = 1e-4, 300
ROUNDS = 10  # after which an assignment is timed that has prices to start from
FIRST, COLD, WARM = (
    "assignment, centres without bounds",
    f"assignment, round {ROUNDS + 1}, cold",
    f"assignment, round {ROUNDS + 1}, warm",
)
PEER = "k_means_constrained"


def has_peer() -> bool:
    """Say whether the peer is installed."""
    return importlib.util.find_spec(PEER) is not None


def _mixture(n: int) -> np.ndarray:
    """Return eight clouds, which overlap, of very unequal size."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.normal(size=(N_CLUSTERS, N_FEATURES))
    which = rng.choice(N_CLUSTERS, n, p=SHARES)
    points: np.ndarray = centers[which] + rng.normal(size=(n, N_FEATURES))
    return points


def _least_size(n: int) -> int:
    """Return the bound: near an equal share, so that it binds."""
    return int(LEAST * n / N_CLUSTERS)


def alone(n: int, *, rounds: int) -> dict[str, Any]:
    """Time assignments and whole fits of ours, and count the moves."""
    points, least = _mixture(n), _least_size(n)
    plain = KMeans(N_CLUSTERS, n_init=1, random_state=0).fit(points)
    first = _costs(points, plain.cluster_centers_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is stopped on purpose
        midway = constrained_kmeans(
            points,
            N_CLUSTERS,
            least,
            start=plain.cluster_centers_,
            max_iter=ROUNDS,
            tol=0,
            rng=np.random.default_rng(0),
        )
    later = _costs(points, midway.centers)
    assignments: dict[str, Callable[[], Assignment]] = {
        FIRST: lambda: assign(first, least),
        COLD: lambda: assign(later, least),
        WARM: lambda: assign(later, least, start=midway.prices),
    }
    first_run = {name: step() for name, step in assignments.items()}
    steps: dict[str, Callable[[], Any]] = assignments | {
        "fit, n_init=1": lambda: _fit(points, least, n_init=1),
        "fit": lambda: _fit(points, least),
    }
    model = _fit(points, least)  # compiles what is left
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            seconds[name].append(_time(step)[0])
    return {
        "n": n,
        "moves": {name: one.n_moves for name, one in first_run.items()},
        "forced": int((first_run[FIRST].labels != first.argmin(axis=1)).sum()),
        "seconds": seconds,
        "smallest": int(np.bincount(model.labels_).min()),
        "least": least,
        "rounds of the fit": int(model.n_iter_),
    }


def beside(n: int, *, rounds: int, scaled: bool) -> dict[str, Any]:
    """Run both sides in turn from the same centres, other ones in every round."""
    points, least = _mixture(n), _least_size(n)
    if scaled:
        points = points / np.sqrt(n)
    starts = [kmeans_plusplus(points, N_CLUSTERS, random_state=seed)[0] for seed in range(rounds)]
    sides: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "ours": lambda start: ours(points, least, start),
        "peer": lambda start: peer(points, least, start),
    }
    small = _mixture(60)
    ours(small, 2, small[:N_CLUSTERS])  # loads and compiles
    peer(small, 2, small[:N_CLUSTERS])
    row: dict[str, Any] = {"n": n, "scaled": scaled, "least": least}
    row |= {"handed over": []}
    row |= {"seconds": {name: [] for name in sides}, "sums": {name: [] for name in sides}}
    for start in starts:
        for name, side in sides.items():
            seconds, labels = _time(lambda side=side, start=start: side(start))
            sizes = np.bincount(labels, minlength=N_CLUSTERS)
            if sizes.min() < least:
                raise RuntimeError(f"{name} left a cluster of {sizes.min()}, and {least} were due.")
            row["seconds"][name].append(seconds)
            row["sums"][name].append(_sum_of_squares(points, labels))
        row["handed over"].append(
            _sum_from_the_peers_end(points, least, labels) / row["sums"]["peer"][-1]
        )
    row["time ratio"] = median(np.divide(row["seconds"]["peer"], row["seconds"]["ours"]).tolist())
    row["sum ratio"] = median(np.divide(row["sums"]["ours"], row["sums"]["peer"]).tolist())
    return row


def ours(points: np.ndarray, least: int, start: np.ndarray) -> np.ndarray:
    """Return our labels."""
    clusters = constrained_kmeans(
        points,
        N_CLUSTERS,
        least,
        start=start,
        max_iter=MAX_ITER,
        tol=TOL,
        rng=np.random.default_rng(0),
    )
    return clusters.labels


def peer(points: np.ndarray, least: int, start: np.ndarray) -> np.ndarray:
    """Return the labels of k-means-constrained."""
    from k_means_constrained import KMeansConstrained  # noqa: PLC0415

    model = KMeansConstrained(
        N_CLUSTERS,
        size_min=least,
        init=start,
        n_init=1,
        max_iter=MAX_ITER,
        tol=TOL,
        random_state=0,
    )
    labels: np.ndarray = model.fit(points).labels_
    return labels


def _sum_from_the_peers_end(points: np.ndarray, least: int, labels: np.ndarray) -> float:
    """Return the sum that ours ends with from where the peer, the last side, stopped."""
    means = np.stack([points[labels == h].mean(axis=0) for h in range(N_CLUSTERS)])
    return _sum_of_squares(points, ours(points, least, means))


def _sum_of_squares(points: np.ndarray, labels: np.ndarray) -> float:
    """Return the objective of both: squared distances to the means of the clusters."""
    parts = (points[labels == h] for h in range(N_CLUSTERS))
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts))


def _fit(points: np.ndarray, least: int, **parameters: Any) -> ConstrainedKMeans:
    model = ConstrainedKMeans(N_CLUSTERS, min_size=least, random_state=0, **parameters)
    return model.fit(points)


def _costs(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    costs: np.ndarray = (centers**2).sum(axis=1) - 2 * points @ centers.T
    return costs


def _time(step: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = step()
    return time.perf_counter() - start, result
