"""Classes of any type: a vector with gaps enters, class numbers and labelled rows leave.

An unlabelled row is marked by -1 among integers, by None, NaN, ``pandas.NA`` or "" among strings
and objects, and by the mask of a masked array.
"""

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import AmbiguousLabelsWarning, InvalidInputError
from beltrami.core.types import BoolVector, FloatMatrix, IndexVector
from beltrami.data.labels.vectors import is_nothing, label_vector, missing_labels
from beltrami.data.model import UNLABELED

AUTO = "auto"
_MADE_OF_GAPS = ("-1", "nan", "None", "<NA>", "NaT")
"""What gaps become when a vector that holds them is turned into texts."""
_MARKERS: dict[str, Any] = {"i": UNLABELED, "f": float("nan"), "U": ""}
"""What marks a gap beside classes of each kind of dtype."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Classes as numbers.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The distinct classes, sorted.
    codes : ndarray of shape (n,)
        Number of the class of each row, -1 where there is no label.
    marker : object
        What stands for "no label" among the classes.
    """

    classes: NDArray[Any]
    codes: NDArray[np.intp]
    marker: Any

    @property
    def rows(self) -> IndexVector:
        """The labelled rows."""
        return np.flatnonzero(self.codes >= 0)

    def one_hot(self) -> FloatMatrix:
        """Return the labelled rows' classes as rows of zeros with a single one."""
        return np.eye(len(self.classes))[self.codes[self.codes >= 0]]


def decode_labels(codes: NDArray[np.intp], classes: NDArray[Any], marker: Any) -> NDArray[Any]:
    """Return class values for class numbers, and the marker for -1.

    They are of the classes' type, wide enough for the marker, or objects where it does not fit.
    """
    if (codes >= 0).all():
        return classes[codes]
    table = np.empty(len(classes) + 1, dtype=_common_type(classes.dtype, marker))
    table[:-1], table[-1] = classes, marker
    return table[codes]


def _common_type(dtype: np.dtype[Any], marker: Any) -> np.dtype[Any]:
    narrowest = np.min_scalar_type(marker)
    if (dtype.kind in "US") != (narrowest.kind in "US"):  # numpy would turn numbers into texts
        return np.dtype(object)
    common = np.result_type(dtype, narrowest)
    return common if common.kind == dtype.kind else np.dtype(object)


def encode_labels(y: Any, n_points: int, *, unlabeled: Any = AUTO, classes: Any = None) -> Labels:
    """Read a vector of labels with gaps, all of one type; at least one, and of two classes.

    `unlabeled` says what marks an unlabelled row: "auto" means -1 among integers, and None, NaN,
    pandas.NA or "" elsewhere; None means that every row is labelled, so that -1 is a class like any
    other. `classes` lists all classes there are, where some may have no label yet. A warning says
    where a value could be a class or a gap; naming the marker settles it.
    """
    values, missing, nothing = _read_labels(y, n_points, unlabeled)
    has_label = ~missing
    present = values[has_label]
    if _is_auto(unlabeled) and classes is None:
        _warn_if_ambiguous(present, int((missing & ~nothing).sum()), n_points)
    if present.size == 0:
        raise InvalidInputError(
            f"y has no label at all: all {n_points} rows are marked as unlabelled. Give at least "
            "one label for each of two classes."
        )
    if is_continuous(present):
        raise InvalidInputError(
            "Unknown label type: continuous. Classes must be whole numbers, strings or booleans; "
            "for a number to predict use the regressor of the same name."
        )
    occurring, positions = np.unique(present, return_inverse=True)
    known = occurring if classes is None else _declared_classes(classes, occurring)
    _require_two_classes(occurring, known, _is_auto(unlabeled) and not has_label.all())
    codes = np.full(n_points, UNLABELED, dtype=np.intp)
    codes[has_label] = np.searchsorted(known, occurring)[positions]
    return Labels(known, codes, _marker(known, unlabeled))


def encode_listed_labels(
    values: NDArray[Any], rows: IndexVector, n_points: int, *, unlabeled: Any, classes: Any
) -> Labels:
    """Read the labels of some rows, of which none is a gap; as `encode_labels` reads a vector."""
    listed = encode_labels(values, len(values), unlabeled=None, classes=classes)
    codes = np.full(n_points, UNLABELED, dtype=np.intp)
    codes[rows] = listed.codes
    return Labels(listed.classes, codes, _marker(listed.classes, unlabeled))


def labeled_mask(y: Any, n_points: int, unlabeled: Any = AUTO) -> tuple[NDArray[Any], BoolVector]:
    """Give the labels one type and say which rows have one; none at all is fine here.

    What stands in an unlabelled row of the values means nothing. Under ``unlabeled=None`` such a
    row is an error.
    """
    values, missing, _ = _read_labels(y, n_points, unlabeled)
    return values, ~missing


def _read_labels(
    y: Any, n_points: int, unlabeled: Any
) -> tuple[NDArray[Any], BoolVector, BoolVector]:
    """Return labels of one type, which rows have none, and which of these hold nothing at all."""
    vector = label_vector(y, n_points)
    nothing = missing_labels(vector)
    values, missing = _unify_types(vector, nothing, unlabeled)
    if unlabeled is None and missing.any():
        raise InvalidInputError(
            f"unlabeled=None says that every row has a label, and {int(missing.sum())} of "
            f"{n_points} rows in y have none."
        )
    return values, missing, nothing


def is_continuous(labels: NDArray[Any]) -> bool:
    """Say whether labels are numbers to predict, not classes: floats that are not all whole."""
    return labels.dtype.kind == "f" and not bool((labels == np.round(labels)).all())


def _warn_if_ambiguous(present: NDArray[Any], n_open: int, n: int) -> None:
    """Warn where -1 may be a class that is not learnt from, or a text a gap that is."""
    if present.dtype.kind in "if" and 0 < 2 * n_open < n:
        classes = np.unique(present).tolist()
        # Gaps are most rows where labels are few. Beside 0 and 1 alone, -1 completes a scale of
        # bad, neutral, good; beside numbers below it nobody would choose it as a marker.
        if classes == [0, 1] or classes[0] < UNLABELED:
            _warn_ambiguous(
                f"y holds -1 in {n_open} of {n} rows beside {classes[:5]}, and -1 marks rows "
                "without a label: they are not learnt from, and a score does not count them. Pass "
                "unlabeled=None if -1 is a class and every row has a label, or unlabeled=-1 if it "
                "is the marker."
            )
    if present.dtype.kind == "U":
        for word in _MADE_OF_GAPS:
            count = int((present == word).sum())
            if count:
                _warn_ambiguous(
                    f"the text {word!r} counts as a class ({count} of {n} rows). Pass "
                    f"unlabeled={word!r} if it marks rows without a label, or unlabeled='' if it "
                    "is a class."
                )


def _warn_ambiguous(message: str) -> None:
    warnings.warn(message, AmbiguousLabelsWarning, stacklevel=6)


def _unify_types(
    values: NDArray[Any], nothing: BoolVector, unlabeled: Any
) -> tuple[NDArray[Any], BoolVector]:
    """Give the present labels one type, and mark -1 or the user's own marker as missing."""
    missing = nothing
    if _is_own_marker(unlabeled) and not is_nothing(unlabeled):
        missing = missing.copy()
        missing[~missing] = values[~missing] == unlabeled  # pandas.NA answers no comparison
    if values.dtype.kind == "O":
        if _is_auto(unlabeled):  # the common habit of writing -1 among strings
            missing = missing | np.fromiter(
                (_is_minus_one(value) for value in values), dtype=bool, count=len(values)
            )
        typed: NDArray[Any] = _convert_objects(values, missing)
    elif values.dtype.kind in "iubfUS":
        typed = values
        if _is_auto(unlabeled) and values.dtype.kind in "if":
            missing = missing | (values == UNLABELED)
    else:
        raise InvalidInputError(
            f"Unknown label type: y has dtype {values.dtype}. Use strings, integers or booleans."
        )
    if _is_auto(unlabeled) and typed.dtype.kind in "if" and not is_continuous(typed[~missing]):
        _require_one_marker(int(nothing.sum()), int((missing & ~nothing).sum()))
    if typed.dtype.kind == "f" and not np.isfinite(typed[~missing]).all():
        raise InvalidInputError(
            "Input y contains infinity, which is no class; mark unlabelled rows by NaN."
        )
    return typed, missing


def _require_one_marker(n_nothing: int, n_minus_one: int) -> None:
    if n_nothing and n_minus_one:
        raise InvalidInputError(
            f"y holds {n_minus_one} times -1 and {n_nothing} gaps (NaN or None), and either could "
            "mark unlabelled rows. Pass unlabeled=float('nan') if -1 is a class of yours, or use "
            "one marker."
        )


def _convert_objects(values: NDArray[Any], missing: BoolVector) -> NDArray[Any]:
    """Turn objects into strings, integers, floats or booleans, whichever all of them are."""
    present = list(values[~missing])
    kinds: tuple[tuple[Any, Any, Any], ...] = (
        (str, np.str_, ""),
        (bool | np.bool_, np.bool_, False),
        (numbers.Integral, np.int64, UNLABELED),
        (numbers.Real, np.float64, np.nan),
    )
    for kind, dtype, filler in kinds:
        if all(isinstance(value, kind) for value in present):
            try:
                typed: NDArray[Any] = np.where(missing, filler, values).astype(dtype)
            except OverflowError as error:
                raise _too_large(present) from error
            return typed
    names = sorted({type(value).__name__ for value in present})
    raise InvalidInputError(
        f"Unknown label type: y mixes or holds the types {', '.join(names)}. Labels must all be "
        "strings, all integers or all booleans; convert them, for example with str()."
    )


def _too_large(present: list[Any]) -> InvalidInputError:
    largest = max(present, key=abs)
    return InvalidInputError(
        f"y holds the number {str(largest)[:20]}... of {len(str(abs(largest)))} digits, which does "
        "not fit into 64 bits. If it is the name of a class, give it as a text, for example with "
        "str()."
    )


def _is_auto(unlabeled: Any) -> bool:
    return isinstance(unlabeled, str) and unlabeled == AUTO


def _is_own_marker(unlabeled: Any) -> bool:
    return unlabeled is not None and not _is_auto(unlabeled)


def _is_minus_one(value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return bool(is_number and value == UNLABELED)


def _declared_classes(classes: Any, occurring: NDArray[Any]) -> NDArray[Any]:
    listed = np.array(list(classes), dtype=object)
    known = np.unique(_convert_objects(listed, np.zeros(len(listed), dtype=bool)))
    unknown = [value for value in occurring.tolist() if value not in known.tolist()]
    if unknown:
        raise InvalidInputError(
            f"y holds {unknown[:5]}, which classes={known.tolist()} does not list."
        )
    return known


def _require_two_classes(occurring: NDArray[Any], known: NDArray[Any], has_gaps: bool) -> None:
    if len(known) > 1:
        return
    hint = ""
    if has_gaps and occurring.dtype.kind in "if":
        hint = (
            " -1 marks unlabelled rows: if it is a class of yours and every row is labelled, pass "
            "unlabeled=None; if something else marks unlabelled rows, pass it as unlabeled=."
        )
    raise InvalidInputError(
        f"all labels are of one class, {occurring.tolist()[0]!r}; a classifier needs labels of at "
        f"least two classes to tell them apart.{hint} With classes=[...] further classes can be "
        "declared."
    )


def _marker(classes: NDArray[Any], unlabeled: Any) -> Any:
    """Return the user's own marker, or the usual one of the classes' type unless it is a class."""
    if _is_own_marker(unlabeled):
        return unlabeled
    marker = _MARKERS.get(classes.dtype.kind)
    is_taken = marker is not None and marker in classes.tolist()
    return None if is_taken else marker
