"""The cases of the defaults' table: points, classes, and the labelled rows of every draw."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_moons

from beltrami import load_dataset, two_moons
from benchmarks.common.draws import labelled_rows
from benchmarks.common.facts import SEED
from benchmarks.few_labels.sizes import read_table

MOONS: Mapping[str, float | None] = {
    "two_moons": None,
    "make_moons, noise 0.05": 0.05,
    "make_moons, noise 0.1": 0.1,
}
"""Two moons of 200 points, ours and scikit-learn's, with the noise of the latter."""

MARKS: Mapping[str, float] = {
    "two_moons": 1.0,
    "make_moons, noise 0.05": 1.0,
    "make_moons, noise 0.1": 3.0,
    "g50c, 50 labels": 6.5,
    "sslbook_digit1, 100 labels": 3.5,
    "sslbook_usps, 100 labels": 6.0,
}
"""Percent wrong that was asked for, at most."""

PUBLISHED: Mapping[str, str] = {
    "g50c": "labeled",
    "sslbook_digit1": "labeled100",
    "sslbook_usps": "labeled100",
    "sslbook_bci": "labeled100",
    "sslbook_g241c": "labeled100",
}
"""Sets with published splits, and which of these."""

ELSEWHERE = (
    "digits", "uspst", "isolet", "g50c", "sslbook_digit1", "sslbook_usps", "sslbook_coil",
    "banana", "heart", "mammographic", "segment", "twonorm", "wdbc", "wine",
)  # fmt: skip
"""Sets of which a part is labelled anew; those after the SSL book's are tables."""

TABLES = ELSEWHERE[7:]
DRAWS: Mapping[int, int] = {1: 8, 2: 8, 5: 3, 10: 3}
"""Labels per class, and how often they are drawn: errors vary more where they are few."""

PER_CLASS = tuple(DRAWS)
ROWS, MOON_SEEDS = 400, 20
_CLASSES = 8
"""Of isolet: the first letters."""


@dataclass(frozen=True, eq=False)
class Case:
    """One line of the table: draws of points, classes and labelled rows, percent asked."""

    name: str
    group: str
    draws: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    """Points, classes and labelled rows; the same points are the same object."""


def cases(*, is_quick: bool = False) -> Iterator[Case]:
    """Yield all cases, each made when it is asked for; the quick ones need no file."""
    for name, noise in MOONS.items():
        yield Case(name, "moons", [_moons(noise, seed) for seed in range(_n_seeds(is_quick))])
    if is_quick:
        return
    for name, key in PUBLISHED.items():
        data = load_dataset(name).number_classes()
        splits = np.asarray(data.splits[key])
        draws = [(data.points, data.targets, rows) for rows in splits]
        yield Case(f"{name}, {splits.shape[1]} labels", "published", draws)
    for name in ELSEWHERE:
        points, classes = _part(name)
        for per_class, count in DRAWS.items():
            rows = [labelled_rows(classes, per_class, draw) for draw in range(count)]
            draws = [(points, classes, one) for one in rows]
            yield Case(f"{name}, {per_class} per class", "elsewhere", draws)


def _n_seeds(is_quick: bool) -> int:
    return 2 if is_quick else MOON_SEEDS


def _moons(noise: float | None, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if noise is None:
        data = two_moons(200, random_state=seed)
        points, classes = data.points, data.targets
    else:
        points, classes = make_moons(200, noise=noise, random_state=seed)
    return points, classes, labelled_rows(classes, 1, seed)


def _part(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 400 rows of a set, at random, without classes of ten rows or fewer."""
    if name in TABLES:
        points, classes = read_table(name)
    else:
        data = load_dataset(name).number_classes()
        points, classes = data.points, data.targets
        if name == "isolet":
            points, classes = points[classes < _CLASSES], classes[classes < _CLASSES]
    rows = np.sort(np.random.default_rng(SEED).permutation(len(classes))[:ROWS])
    points, classes = points[rows], classes[rows]
    names, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    kept = counts[codes] > max(PER_CLASS)
    return points[kept], np.unique(names[codes[kept]], return_inverse=True)[1]
