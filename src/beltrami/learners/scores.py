"""Scores of predictions where most rows have no label: only labelled rows count."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, IndexVector
from beltrami.data.labels import AUTO, checked_weights, encode_values, is_continuous, labeled_mask


def labeled_accuracy(
    y: Any, predicted: Any, *, sample_weight: Any = None, unlabeled: Any = AUTO
) -> float:
    """Return the share of right answers among the rows of `y` that have a label.

    A prediction that is the marker of an unlabelled row is a wrong answer.
    """
    answers = _answers(predicted)
    truth, rows = _labeled_classes(y, len(answers), unlabeled)
    weights = checked_weights(sample_weight, len(answers), rows)
    return float(np.average(_is_right(truth, answers[rows]), weights=weights))


def labeled_r2(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Return R squared over the rows that have a value; NaN for one row, as in scikit-learn."""
    from sklearn.metrics import r2_score

    answers = _answers(predicted)
    values, rows = encode_values(y, len(answers))
    weights = checked_weights(sample_weight, len(answers), rows)
    return float(r2_score(values[rows], answers[rows], sample_weight=weights))


def _answers(predicted: Any) -> NDArray[Any]:
    answers = np.asarray(predicted)
    if answers.ndim != 1:
        raise InvalidInputError(
            f"predictions must be a vector, one per row, and have shape {answers.shape}."
        )
    return answers


def _labeled_classes(y: Any, n: int, unlabeled: Any) -> tuple[NDArray[Any], IndexVector]:
    values, has_label = labeled_mask(y, n, unlabeled)
    rows = np.flatnonzero(has_label)
    if rows.size == 0:
        raise InvalidInputError(
            f"y has no label at all: none of its {n} rows can be scored. Score rows with labels; "
            "in a cross-validation use cv=SemiSupervisedSplit(5), whose folds hold labels only."
        )
    if is_continuous(values[rows]):
        raise InvalidInputError(
            "Unknown label type: continuous. Classes must be whole numbers, strings or booleans; "
            "score numbers with a regressor."
        )
    return values[rows], rows


def _is_right(truth: NDArray[Any], answers: NDArray[Any]) -> BoolVector:
    """Compare classes; a marker is never equal to a class."""
    if answers.dtype.kind == "O":
        pairs = zip(truth.tolist(), answers, strict=True)
        return np.fromiter((_is_same(one, other) for one, other in pairs), bool, len(truth))
    if (truth.dtype.kind in "US") != (answers.dtype.kind in "US"):
        raise InvalidInputError(
            f"y holds {truth.dtype} and the predictions {answers.dtype}: texts and numbers are "
            "never equal. Give y the type of the classes."
        )
    return np.asarray(truth == answers)


def _is_same(one: Any, other: Any) -> bool:
    same = one == other
    return isinstance(same, bool | np.bool_) and bool(same)  # pandas.NA gives NA
