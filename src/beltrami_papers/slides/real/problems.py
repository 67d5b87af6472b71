"""Real problems on which multi-manifold separation is tried: all of them, whatever came out.

A draw enters; points, targets and, where they are known, the true pieces leave.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import rotate
from scipy.sparse import issparse
from sklearn.decomposition import PCA

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import load_dataset

CLASSES, VALUES, ANGLES = "classes", "values", "angles"

_MOST_COLUMNS, _PROJECTED = 100, 50
_UNITS = 2.54


@dataclass(frozen=True, slots=True, eq=False)
class RealProblem:
    """Points of which some will be labelled.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        At most 100 columns.
    targets : ndarray of shape (n,)
        Classes from 0, values with deviation 1, or angles in radians.
    kind : {"classes", "values", "angles"}
        Which of these.
    pieces : ndarray of shape (n,) or None
        The true manifolds, where they are known.
    """

    points: FloatMatrix
    targets: NDArray[Any]
    kind: str
    pieces: IndexVector | None = None

    def draw_labels(self, count: int, draw: int) -> IndexVector:
        """Return the rows that have a label in a draw: one of each class first, then any."""
        rng = np.random.default_rng([draw, 7])
        order = rng.permutation(len(self.targets))
        if self.kind != CLASSES:
            return np.sort(order[:count])
        firsts = [order[np.argmax(self.targets[order] == c)] for c in np.unique(self.targets)]
        rest = order[~np.isin(order, firsts)]
        return np.sort(np.concatenate([firsts, rest[: count - len(firsts)]]).astype(np.intp))


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A problem by its recipe.

    Attributes
    ----------
    make : callable
        Takes the number of the draw.
    n_labelled : int
        How many labels it gets in the table.
    description : str
        What it is, for the page.
    """

    make: Callable[[int], RealProblem]
    n_labelled: int
    description: str


@lru_cache(maxsize=1)
def _load(name: str) -> Any:
    return load_dataset(name)


def _few_columns(points: Any) -> FloatMatrix:
    """Return at most 100 columns: the first 50 principal components of more."""
    if points.shape[1] <= _MOST_COLUMNS:
        return np.ascontiguousarray(points, dtype=np.float64)
    solver = "arpack" if issparse(points) else "auto"
    components: FloatMatrix = PCA(_PROJECTED, svd_solver=solver, random_state=0).fit_transform(
        points
    )
    return np.ascontiguousarray(components)


def _standard(points: FloatMatrix) -> FloatMatrix:
    spread = points.std(axis=0)
    scaled: FloatMatrix = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return scaled


def _values(points: Any, targets: NDArray[Any], pieces: Any = None) -> RealProblem:
    return RealProblem(_few_columns(points), targets / np.std(targets), VALUES, pieces)


def _classes(points: Any, targets: NDArray[Any], pieces: Any = None) -> RealProblem:
    codes = np.unique(targets, return_inverse=True)[1].astype(np.intp)
    return RealProblem(_few_columns(points), codes, CLASSES, pieces)


@lru_cache(maxsize=2)
def _plain(name: str, most: int | None, tabular: bool) -> RealProblem:
    data = _load(name)
    points, targets = data.points[:most], np.asarray(data.targets)[:most]
    if tabular:
        points = _standard(np.asarray(points))
    make = _values if targets.dtype.kind == "f" else _classes
    return make(points, targets)


def plain(draw: int, name: str, most: int | None = None, *, tabular: bool = False) -> RealProblem:
    """Return a set with its own classes or values; the draw changes the labels only."""
    del draw
    return _plain(name, most, tabular)


def _digits_of(draw: int, name: str, n: int, classes: Callable[[Any], Any]) -> RealProblem:
    """Return n random digits with classes made of their numerals."""
    data = _load(name)
    rows = np.random.default_rng([draw, 1]).choice(len(data.targets), n, replace=False)
    numerals = np.asarray(data.targets)[rows].astype(np.intp)
    return _classes(data.points[rows], classes(numerals))


# --- COIL-20: each object turns once round before the camera -------------------------------


def _turntable(objects: Sequence[int]) -> tuple[Any, IndexVector, NDArray[np.float64]]:
    """Return images, objects from 0 and the angle of each; rows come in steps of five degrees."""
    data = _load("coil20")
    names = np.asarray(data.targets)
    rows = np.flatnonzero(np.isin(names, objects))
    pieces = np.searchsorted(np.sort(objects), names[rows]).astype(np.intp)
    turns = np.tile(np.arange(72) * (2 * np.pi / 72), len(objects))
    return data.points[rows], pieces, turns


def _coil_pose(draw: int, objects: Sequence[int] = tuple(range(1, 21))) -> RealProblem:
    """Return the angle of objects on a turntable: a closed curve per object."""
    del draw
    points, pieces, turns = _turntable(objects)
    return RealProblem(_few_columns(points), turns, ANGLES, pieces)


def _coil_halves(draw: int, objects: Sequence[int] = tuple(range(1, 21))) -> RealProblem:
    """Return which half of the turn an object shows, swapped on every other object."""
    del draw
    points, pieces, turns = _turntable(objects)
    return _classes(points, (turns < np.pi) ^ (pieces % 2 == 1), pieces)


# --- digits that are turned ----------------------------------------------------------------


def _turn(images: FloatMatrix, angles: NDArray[np.float64], low: float) -> FloatMatrix:
    side = int(np.sqrt(images.shape[1]))
    return np.stack(
        [
            rotate(image.reshape(side, side), angle, reshape=False, order=1, cval=low).ravel()
            for image, angle in zip(images, np.degrees(angles), strict=True)
        ]
    )


def _turned_digits(
    draw: int,
    name: str,
    numerals: Sequence[int],
    *,
    n: int = 1000,
    images: int | None = None,
    most: float = 180.0,
    target: str = "angle",
) -> RealProblem:
    """Return digits turned by random angles.

    - `images`: images of each numeral that are turned again and again, so that each draws a closed
      curve and is a piece; None takes a fresh image for each point.
    - `target`: the angle; the angle from a zero that differs from numeral to numeral; or whether
      the image is turned to the left, swapped on every other numeral.
    """
    data, rng = _load(name), np.random.default_rng([draw, 1])
    known = np.asarray(data.targets)
    pool = [np.flatnonzero(known == numeral) for numeral in numerals]
    if images is not None:
        pool = [
            rows for members in pool for rows in rng.choice(members, (images, 1), replace=False)
        ]
    pieces = np.arange(n) % len(pool)
    rows = np.array([rng.choice(pool[piece]) for piece in pieces])
    angles = np.radians(rng.uniform(-most, most, n))
    base = np.asarray(data.points[rows], dtype=np.float64)
    points = _turn(base, angles, float(base.min()))
    numeral = pieces if images is None else pieces // images
    if target == "xor":
        return _classes(points, (angles > 0) ^ (numeral % 2 == 1), pieces)
    if target == "own zero":
        return _values(points, np.degrees(angles) + most * numeral, pieces)
    if most < 180:
        return _values(points, np.degrees(angles), pieces)
    return RealProblem(_few_columns(points), angles, ANGLES, pieces)


# --- values from columns -------------------------------------------------------------------


def column(draw: int, name: str, target: int, *, leave: Sequence[int] = ()) -> RealProblem:
    """Return one column of a table to be predicted from the others; its classes are the pieces."""
    del draw
    data = _load(name)
    points = np.asarray(data.points, dtype=np.float64)
    kept = [c for c in range(points.shape[1]) if c != target and c not in leave]
    pieces = np.asarray(data.targets).astype(np.intp)
    return _values(_standard(points[:, kept]), points[:, target], pieces)


def _upper_spectrum(draw: int) -> RealProblem:
    """Return the mean of the upper half of a phoneme's spectrum, from the lower half."""
    del draw
    data = _load("phoneme")
    half = data.points.shape[1] // 2
    pieces = np.asarray(data.targets).astype(np.intp)
    return _values(data.points[:, :half], data.points[:, half:].mean(axis=1), pieces)


def _mixed_units(draw: int, name: str, target: int | None, changed: Sequence[int]) -> RealProblem:
    """Return a table of which half of the rows have some columns in inches, not centimetres."""
    data = _load(name)
    points = np.array(data.points, dtype=np.float64)
    values = np.asarray(data.targets, dtype=np.float64)
    if target is not None:
        values = points[:, target].copy()
        points = np.delete(points, target, axis=1)
    points = np.add(_standard(points), 3.0, dtype=np.float64)  # lengths are positive
    pieces = np.random.default_rng([draw, 1]).integers(0, 2, len(points))
    in_inches = (pieces[:, None] == 1) & np.isin(np.arange(points.shape[1]), changed)
    points = np.where(in_inches, points / _UNITS, points)
    return _values(_standard(points), values, pieces)


def _next_sample(draw: int, *, n: int = 2000, lags: int = 10) -> RealProblem:
    """Return the next sample of speech from the last ten, in six short utterances."""
    extras = load_dataset("timit_demo").extras
    wave = np.asarray(extras["wave"], dtype=np.float64)[::2]
    at = np.random.default_rng([draw, 1]).choice(len(wave) - lags - 1, n, replace=False)
    windows = np.stack([wave[at + lag] for lag in range(lags)], axis=1)
    return _values(windows / wave.std(), wave[at + lags])


def _xor_of(*numerals: int) -> dict[str, Any]:
    return {"name": "mnist", "numerals": numerals, "target": "xor"}


_CARS, _FIVE = (3, 6, 19), (1, 2, 3, 4, 5)
_BLOCK = 1560  # the first 30 speakers

CANDIDATES: dict[str, Candidate] = {}
"""Every problem that was tried, by name."""


def _add(
    name: str, make: Callable[..., RealProblem], labels: int, words: str, /, **options: Any
) -> None:
    CANDIDATES[name] = Candidate(partial(make, **options), labels, words)


_add("COIL-20 pose", _coil_pose, 200, "angle of all 20 objects")
_add("COIL-20 pose, cars", _coil_pose, 60, "angle of the three toy cars 3, 6, 19", objects=_CARS)
_add("COIL-20 pose, five", _coil_pose, 100, "angle of objects 1 to 5", objects=_FIVE)
_add("COIL-20 halves", _coil_halves, 200, "half of the turn xor parity of the object")
_add(
    "turned 6, 9: curves", _turned_digits, 60, "one 6 and one 9 of MNIST, turned all round: angle",
    name="mnist", numerals=(6, 9), images=1,
)  # fmt: skip
_add(
    "four turned digits: curves", _turned_digits, 100, "one 2, 4, 6, 9 each: angle",
    name="mnist", numerals=(2, 4, 6, 9), images=1,
)  # fmt: skip
_add(
    "turned 6, 9", _turned_digits, 100, "1000 images of 6 and 9 turned by up to 90 degrees: angle",
    name="mnist", numerals=(6, 9), most=90.0,
)  # fmt: skip
_add(
    "turned 6, 9: own zero", _turned_digits, 100, "the same, angle from 90 degrees for 9",
    name="mnist", numerals=(6, 9), most=90.0, target="own zero",
)  # fmt: skip
_add(
    "turned 4, 7: own zero", _turned_digits, 100, "USPS, up to 60 degrees, from 60 for 7",
    name="usps", numerals=(4, 7), most=60.0, target="own zero",
)  # fmt: skip
_add("turned 6, 9: curves, xor", _turned_digits, 60, "left xor 9", images=1, **_xor_of(6, 9))
_add("turned 6, 9: xor", _turned_digits, 100, "1000 images, left xor 9", **_xor_of(6, 9))
_add("USPS", plain, 100, "ten classes", name="uspst")
_add("MNIST", _digits_of, 100, "ten classes", name="mnist", n=2000, classes=lambda c: c)
_add("MNIST odd", _digits_of, 100, "odd or even", name="mnist", n=2000, classes=lambda c: c % 2)
_add("digits 8x8", plain, 100, "ten classes", name="digits")
_add("Isolet", plain, 200, "26 letters of 30 speakers", name="isolet", most=_BLOCK)
_add("phoneme", plain, 100, "five phonemes", name="phoneme", most=2000)
_add("g50c", plain, 50, "two classes", name="g50c")
_add("g10n", plain, 50, "two classes", name="g10n")
_add("text", plain, 100, "mac or windows", name="lds_text")
for _name in ("digit1", "usps", "coil2", "coil", "g241d", "bci"):
    _add(f"SSL book {_name}", plain, 100, "benchmark classes", name=f"sslbook_{_name}")
_add("breast cancer", plain, 100, "two classes", name="breast_cancer", tabular=True)
_add("wine", plain, 40, "three classes", name="wine", tabular=True)
_add("iris sepal width", column, 40, "from the other columns", name="iris", target=1)
_add(
    "iris sepals", column, 40, "sepal width from sepal length alone", name="iris", target=1,
    leave=(2, 3),
)  # fmt: skip
_add("diabetes", plain, 100, "progression", name="diabetes", tabular=True)
_add("wine proline", column, 40, "from the other columns", name="wine", target=12)
_add(
    "cancer symmetry",
    column,
    100,
    "mean symmetry from the other columns",
    name="breast_cancer",
    target=8,
)
_add("phoneme spectrum", _upper_spectrum, 100, "upper half from the lower")
_add("speech", _next_sample, 100, "next sample from ten, 8 kHz")
_add(
    "diabetes, two units", _mixed_units, 100, "half of the rows with bmi, bp, s1 to s6 in inches",
    name="diabetes", target=None, changed=range(2, 10),
)  # fmt: skip
_add(
    "cancer, two units", _mixed_units, 100, "worst area, half of the rows in inches",
    name="breast_cancer", target=23, changed=(0, 2, 10, 12, 20, 22),
)  # fmt: skip
