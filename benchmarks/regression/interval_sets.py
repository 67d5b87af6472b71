"""Sets for intervals: shapes whose noise is known row by row, and tables with a number to predict.

Half of the sets had a part in choosing the constants of the intervals (`CHOSEN_ON`); the others
were first looked at when the constants stood.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1

import beltrami as bt

MOST_ROWS = 1000
"""Rows of a set; of longer tables so many are drawn."""


@dataclass(frozen=True)
class ValueSet:
    """Points with a value each; `noise` is the standard deviation of the noise in it, if known."""

    name: str
    about: str
    points: np.ndarray
    values: np.ndarray
    noise: np.ndarray | None = None


Law = Callable[[np.ndarray], np.ndarray]
"""From a place along a shape, 0 to 1, the standard deviation of the noise there."""

LAWS: Mapping[str, Law] = {
    "ramp": lambda s: 0.05 + 0.75 * s,
    "bump": lambda s: 0.08 + 0.8 * np.exp(-0.5 * ((s - 0.5) / 0.12) ** 2),
    "step": lambda s: np.where(s < 0.7, 0.1, 0.8),
    "wave": lambda s: 0.4 + 0.35 * np.sin(4 * np.pi * s),
    "even": lambda s: np.full_like(s, 0.3),
}


def _curve(law: str) -> ValueSet:
    rng = np.random.default_rng(11)
    s = rng.uniform(size=MOST_ROWS)
    points = np.column_stack([np.cos(9 * s), np.sin(9 * s), 3 * s])
    points += rng.normal(0, 0.01, points.shape)
    return _noisy(f"curve, {law}", "helix in space", points, np.sin(2 * np.pi * s), s, law)


def _sheet(law: str) -> ValueSet:
    rng = np.random.default_rng(12)
    s, h = rng.uniform(size=(2, MOST_ROWS))
    points = np.column_stack([3 * s, 2 * h, np.sin(4 * s)])
    values = np.sin(2 * np.pi * s) + h
    return _noisy(f"sheet, {law}", "bent sheet in space", points, values, s, law)


def _roll(law: str) -> ValueSet:
    roll = bt.swiss_roll(MOST_ROWS, random_state=13)
    length, height = (np.asarray(roll.extras[key]) for key in ("arc_length", "height"))
    s, h = ((v - v.min()) / (v.max() - v.min()) for v in (length, height))
    values = np.sin(2 * np.pi * s) + h
    return _noisy(f"swiss roll, {law}", "swiss roll", np.asarray(roll.points), values, s, law)


def _noisy(
    name: str, about: str, points: np.ndarray, smooth: np.ndarray, place: np.ndarray, law: str
) -> ValueSet:
    noise = LAWS[law](place)
    values = smooth + noise * np.random.default_rng(14).normal(size=len(place))
    return ValueSet(name, f"{about}, noise {law}", points, values, noise)


def _friedman(law: str) -> ValueSet:
    points, smooth = make_friedman1(MOST_ROWS, n_features=10, noise=0.0, random_state=15)
    noise = np.ones(MOST_ROWS) if law == "even" else 0.2 + 3.0 * points[:, 3]
    values = smooth + noise * np.random.default_rng(16).normal(size=MOST_ROWS)
    return ValueSet(f"friedman1, {law}", f"scikit-learn's, noise {law}", points, values, noise)


def _diabetes() -> ValueSet:
    points, values = load_diabetes(return_X_y=True)
    return ValueSet("diabetes", "scikit-learn's", points, values)


def _table(name: str, target: int) -> ValueSet:
    """Read a table, its words and class left out; column `target`, from one, is the value."""
    place = Path(os.environ["BELTRAMI_DATA"]) / "tables" / f"{name}.csv"
    cells = np.genfromtxt(place, delimiter=",", skip_header=1)[:, :-1]
    numbers = ~np.isnan(cells).any(axis=0)
    values, numbers[target - 1] = cells[:, target - 1], False
    rows = np.random.default_rng(17).permutation(len(cells))[:MOST_ROWS]
    about = f"column {target} from {int(numbers.sum())} others"
    return ValueSet(name, about, cells[rows][:, numbers], values[rows])


CHOSEN_ON: Mapping[str, Callable[[], ValueSet]] = {
    "curve, ramp": lambda: _curve("ramp"),
    "curve, even": lambda: _curve("even"),
    "sheet, bump": lambda: _sheet("bump"),
    "diabetes": _diabetes,
    "segment": lambda: _table("segment", 10),
    "phoneme": lambda: _table("phoneme", 1),
    "abalone9-18": lambda: _table("abalone9-18", 8),
    "magic": lambda: _table("magic", 3),
}
"""Sets on which constants were chosen."""

JUDGED_ON: Mapping[str, Callable[[], ValueSet]] = {
    "curve, step": lambda: _curve("step"),
    "curve, bump": lambda: _curve("bump"),
    "sheet, wave": lambda: _sheet("wave"),
    "sheet, even": lambda: _sheet("even"),
    "swiss roll, ramp": lambda: _roll("ramp"),
    "friedman1, even": lambda: _friedman("even"),
    "friedman1, ramp": lambda: _friedman("ramp"),
    "winequality-red-4": lambda: _table("winequality-red-4", 11),
    "texture": lambda: _table("texture", 5),
    "page-blocks0": lambda: _table("page-blocks0", 5),
    "twonorm": lambda: _table("twonorm", 1),
    "wdbc": lambda: _table("wdbc", 3),
    "yeast3": lambda: _table("yeast3", 1),
    "penbased": lambda: _table("penbased", 4),
}
"""Sets that had no part in it."""


def make_set(name: str) -> ValueSet:
    """Make or load a set by its name."""
    makers: dict[str, Any] = {**CHOSEN_ON, **JUDGED_ON}
    made: ValueSet = makers[name]()
    return made
