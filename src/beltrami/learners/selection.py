"""Judging a learner when most rows have no label: splits that hold out labels, and scores of them.

A target with gaps enters; pairs of training and test rows, or a score of the labelled rows alone,
leave. An unlabelled row is in every training set and is never counted as right or wrong.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.metrics import log_loss, mean_squared_error, r2_score
from sklearn.model_selection import BaseCrossValidator

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.randomness import generator
from beltrami.core.types import BoolVector, FloatVector, IndexVector, Seed
from beltrami.core.validation import check_choice, check_count
from beltrami.data.labels import AUTO, checked_weights, encode_values, is_continuous, labeled_mask


class SemiSupervisedSplit(BaseCrossValidator):
    """Folds over the labelled rows; the unlabelled ones are in every training set.

    Classes (strings, integers, booleans, whole floats) are spread evenly over the folds: a class
    with two labels or more is in every training set, and the label of a class that has only one
    is never held out. Floats that are not all whole are numbers to predict: NaN marks unlabelled
    rows, and folds are plain. Whole floats count as classes, as the classifiers read them; for a
    regression on whole numbers this only means that equal values are spread evenly, as long as
    some value is there `n_splits` times.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Draw the folds at random; otherwise they follow the order of the rows.
    unlabeled : object, default="auto"
        What marks an unlabelled row among classes, as in the classifiers: -1 among integers, None,
        NaN, pandas.NA or "" elsewhere; None means that every row is labelled.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the shuffling; an integer gives the same folds at each call.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import SemiSupervisedSplit
    >>> y = np.array(["a", "b", "", "a", "", "b"])
    >>> for train, test in SemiSupervisedSplit(2, shuffle=False).split(y[:, None], y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 4] [3 5]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        unlabeled: Any = AUTO,
        random_state: Seed = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.unlabeled = unlabeled
        self.random_state = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[IndexVector, IndexVector]]:
        """Yield training and test rows, one pair per fold.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point; only their number matters.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        groups : None
            Refused, for they would not be kept together.

        Yields
        ------
        train : ndarray
            Row numbers: all rows but those of the fold.
        test : ndarray
            Row numbers, labelled rows only.
        """
        if groups is not None:
            raise InvalidInputError(
                "SemiSupervisedSplit does not keep groups together; leave groups out."
            )
        n_splits, n = self.get_n_splits(), _n_rows(X)
        rows, strata, classes = _strata(y, n, self.unlabeled)
        _require_enough(n, strata, classes, n_splits)
        rng = generator(self.random_state) if self.shuffle else None
        folds = np.full(n, -1)
        folds[rows] = _dealt(strata, n_splits, rng)
        for fold in range(n_splits):
            yield np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored.

        Returns
        -------
        int
            ``n_splits``.
        """
        return check_count(self.n_splits, name="n_splits", minimum=2)


def _n_rows(points: Any) -> int:
    return int(points.shape[0]) if hasattr(points, "shape") else len(points)


def _strata(y: Any, n: int, unlabeled: Any) -> tuple[IndexVector, IndexVector, NDArray[Any] | None]:
    """Return the labelled rows, the numbers of their classes, and the classes.

    Numbers to predict have no classes (None), and all rows have the number 0.
    """
    values, has_label = labeled_mask(y, n, unlabeled)
    if is_continuous(values[has_label]):
        _, rows = encode_values(y, n)  # here -1 is a number like any other
        return rows, np.zeros(len(rows), dtype=np.intp), None
    classes, strata = np.unique(values[has_label], return_inverse=True)
    return np.flatnonzero(has_label), strata, classes


def _require_enough(
    n: int, strata: IndexVector, classes: NDArray[Any] | None, n_splits: int
) -> None:
    if len(strata) < n_splits:
        raise InvalidInputError(
            f"n_splits={n_splits} and only {len(strata)} of {n} rows in y are labelled: every fold "
            "needs a label to hold out. Use fewer folds or label more."
        )
    if classes is None:
        return
    counts = np.bincount(strata)
    if counts.max() < n_splits:
        hint = " Whole numbers are read as classes; for a regression give (train, test) pairs."
        hint = hint if classes.dtype.kind in "iuf" else ""
        raise InvalidInputError(
            f"n_splits={n_splits} and the largest of {len(classes)} classes, "
            f"{classes.tolist()[counts.argmax()]!r}, has {counts.max()} label(s), so no class can "
            f"be in every fold. Use fewer folds or label more.{hint}"
        )
    lonely = classes[counts == 1].tolist()
    if lonely:
        warnings.warn(
            f"{len(lonely)} of {len(classes)} classes have a single label "
            f"({', '.join(map(str, lonely[:5]))}{', ...' if len(lonely) > 5 else ''}): it "
            "is in every training set and never held out, so the scores say nothing of these "
            "classes. Label more of them.",
            DegenerateDataWarning,
            stacklevel=3,
        )


def _dealt(strata: IndexVector, n_splits: int, rng: np.random.Generator | None) -> IndexVector:
    """Deal rows out to folds, class after class without starting anew; -1 stays in training.

    So the folds differ by at most one row, of each class and in all, and no fold holds all rows of
    a class.
    """
    folds = np.full(len(strata), -1)
    start = 0
    for stratum in range(int(strata.max()) + 1):
        members = np.flatnonzero(strata == stratum)
        if len(members) > 1:
            if rng is not None:
                rng.shuffle(members)
            folds[members] = np.sort((start + np.arange(len(members))) % n_splits)
            start += len(members)
    return folds


def labeled_accuracy(
    y: Any, predicted: Any, *, sample_weight: Any = None, unlabeled: Any = AUTO
) -> float:
    """Return the share of right answers among the rows that have a label.

    Shapes: `y` (n,), `predicted` (n,), `sample_weight` (n,).

    - `y`: true classes, with unlabelled rows marked; one class is enough.
    - `predicted`: classes; the marker of an unlabelled row is a wrong answer.
    - `unlabeled`: what marks an unlabelled row of y, as in the classifiers.
    """
    answers = _answers(predicted)
    truth, rows = _labeled_classes(y, len(answers), unlabeled)
    weights = checked_weights(sample_weight, len(answers), rows)
    return _accuracy(truth, answers[rows], sample_weight=weights)


def labeled_r2(y: Any, predicted: Any, *, sample_weight: Any = None) -> float:
    """Return R squared over the rows that have a value.

    Shapes: `y` (n,), `predicted` (n,), `sample_weight` (n,).

    - Returned: one for a perfect answer, zero for the mean; NaN for a single row, as in
      scikit-learn.
    """
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
            "score numbers with labeled_r2 or a scorer of values."
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


def _accuracy(
    truth: NDArray[Any], answers: NDArray[Any], *, sample_weight: FloatVector | None = None
) -> float:
    return float(np.average(_is_right(truth, answers), weights=sample_weight))


def _balanced_accuracy(
    truth: NDArray[Any], answers: NDArray[Any], *, sample_weight: FloatVector | None = None
) -> float:
    weights = np.ones(len(truth)) if sample_weight is None else sample_weight
    _, codes = np.unique(truth, return_inverse=True)
    totals = np.bincount(codes, weights)
    shares = np.bincount(codes, weights * _is_right(truth, answers))[totals > 0]
    return float(np.mean(shares / totals[totals > 0]))


@dataclass(frozen=True, slots=True)
class LabeledScorer:
    """A score of the labelled rows, to be used as ``scoring=`` in scikit-learn.

    Attributes
    ----------
    metric : callable
        Compares the truth with the answers.
    response : str
        The estimator's method that answers.
    sign : int
        -1 turns a loss into a score.
    """

    metric: Callable[..., float]
    response: str
    sign: int

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted estimator on the labelled rows.

        Shapes: `X` (n, d), `y` (n,), `sample_weight` (n,).

        - `y`: their targets; unlabelled rows, marked as the estimator marks them, do not count.
        """
        n = _n_rows(X)
        if is_classifier(estimator):
            truth, rows = _labeled_classes(y, n, _marker_of(estimator))
        else:
            values, rows = encode_values(y, n)
            truth = values[rows]
        options: dict[str, Any] = {}
        if self.response == "predict_proba":
            options["labels"] = estimator.classes_
        if sample_weight is not None:
            options["sample_weight"] = checked_weights(sample_weight, n, rows)
        answers = np.asarray(getattr(estimator, self.response)(X))[rows]
        return self.sign * float(self.metric(truth, answers, **options))


def _marker_of(estimator: Any) -> Any:
    """Return what marks unlabelled rows for a classifier, also inside a pipeline or a search."""
    parameters = estimator.get_params() if hasattr(estimator, "get_params") else {}
    own = [value for name, value in parameters.items() if name.split("__")[-1] == "unlabeled"]
    return own[0] if own else AUTO


def labeled_scorer(
    metric: Callable[..., float],
    *,
    response: Literal["predict", "predict_proba"] = "predict",
    sign: Literal[1, -1] = 1,
) -> LabeledScorer:
    """Make a scorer that never counts an unlabelled row.

    - `metric`: ``metric(truth, answers)``, as in `sklearn.metrics`; it is given ``sample_weight=``
      where there are weights, and ``labels=`` with the classes where the answers are probabilities.
    - Returned: to be called with an estimator, points and targets, or given as ``scoring=``.
    """
    check_choice(response, ("predict", "predict_proba"), name="response")
    return LabeledScorer(metric, response, sign)


accuracy_scorer = labeled_scorer(_accuracy)
balanced_accuracy_scorer = labeled_scorer(_balanced_accuracy)
log_loss_scorer = labeled_scorer(log_loss, response="predict_proba", sign=-1)
r2_scorer = labeled_scorer(r2_score)
mean_squared_error_scorer = labeled_scorer(mean_squared_error, sign=-1)
