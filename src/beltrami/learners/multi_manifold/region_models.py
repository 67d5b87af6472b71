"""One estimator per region: how they are fitted, predict, and are judged on held-out labels.

The regions may be found (`MultiManifoldClassifier`) or known.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, FloatVector, IndexVector, Points
from beltrami.learners.base import GraphLearner, PartialLabelLearner, softmax
from beltrami.learners.model import Labeled

_LEAVE_ONE_OUT = 50
"""Labels of a region up to which each is left out alone, where each costs a fit."""

_FOLDS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """The answer in a region whose labels leave nothing to learn.

    Attributes
    ----------
    scores : ndarray of shape (k,)
        A value, or probabilities of the classes.
    """

    scores: FloatVector

    @classmethod
    def of(cls, labeled: Labeled) -> "Constant":
        """Return the mean value, or the only class by the rule of succession.

        After l labels of one class and none of another the next is of that class with probability
        (l + 1) / (l + 2); the other classes share the rest.
        """
        n_targets = labeled.targets.shape[1]
        if n_targets == 1:
            return cls(labeled.mean)
        count = len(labeled.rows)
        scores = np.full(n_targets, 1 / (count + 2) / (n_targets - 1))
        scores[int(labeled.mean.argmax())] = (count + 1) / (count + 2)
        return cls(scores)


@dataclass(frozen=True, slots=True, eq=False)
class RegionalModel:
    """A fitted estimator, or a constant, for every region.

    Attributes
    ----------
    parts : list
        By region.
    n_labels : ndarray of shape (n_regions,)
        How many labels each was fitted to.
    n_targets : int
        Number of classes, or 1 for values.
    ranges : ndarray of shape (n_regions, 2) or None
        Least and largest label of each region, where values are held within them.
    """

    parts: list[Any]
    n_labels: IndexVector
    n_targets: int
    ranges: FloatMatrix | None = None

    def scores(self, points: Points, regions: IndexVector) -> FloatMatrix:
        """Return the scores of points by the models of their regions, (m, k).

        Scores are probabilities of the classes, largest at the class that the estimator decides
        for, and zeros where it decides for none; or one column of values. With several regions a
        value is held within the labels of its region: a point that was put on the wrong side of a
        border lies where the estimator has seen nothing, and kernels run wild there.
        """
        out = np.empty((points.shape[0], self.n_targets))
        for region, part in enumerate(self.parts):
            rows = np.flatnonzero(regions == region)
            if len(rows):
                with _in_region(part, region, self.n_labels):
                    out[rows] = _predict(part, points[rows], self.n_targets)
        if self.ranges is not None:
            least, largest = self.ranges[regions].T
            out = np.clip(out, least[:, None], largest[:, None])
        return out


@contextmanager
def _in_region(estimator: Any, region: int, n_labels: IndexVector) -> Iterator[None]:
    """Say where an estimator failed, and with how many labels, if there are several regions."""
    try:
        yield
    except ValueError as error:
        if len(n_labels) == 1:
            raise
        raise InvalidInputError(
            f"{type(estimator).__name__} failed in region {region} of {len(n_labels)}, which has "
            f"{n_labels[region]} of the {n_labels.sum()} labels ({error}). Ask for fewer regions "
            "(n_regions='auto' passes over the numbers that fail), label more rows, or give an "
            "estimator that can do with so few labels."
        ) from error


def checked_estimator(estimator: Any, *, classifies: bool) -> Any:
    """Return an estimator that can be fitted in regions, or say why it cannot."""
    has_methods = all(hasattr(estimator, name) for name in ("get_params", "fit", "predict"))
    is_right = is_classifier if classifies else is_regressor
    if isinstance(estimator, type) or not has_methods or not is_right(estimator):
        kind = "classifier" if classifies else "regressor"
        raise InvalidInputError(
            f"estimator={estimator!r} must be None or a {kind} of scikit-learn's kind: an object, "
            "not a class, with fit and predict. A clone of it is fitted in every region."
        )
    return estimator


def learns_from_unlabeled(estimator: Any) -> bool:
    """Say whether an estimator makes use of rows without a label.

    True for this library's learners, unless their intrinsic penalty is zero, and for those of
    ``sklearn.semi_supervised``.
    """
    last = _last_step(estimator)
    if isinstance(last, PartialLabelLearner):
        return getattr(last, "gamma_i", None) != 0
    return type(last).__module__.startswith("sklearn.semi_supervised")


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def fit_regional(
    estimator: Any, points: Points, labeled: Labeled, regions: IndexVector, n_regions: int
) -> RegionalModel:
    """Fit a clone of an estimator in every region.

    Classes go in as 0, 1, 2 and so on. An estimator that learns from unlabelled rows gets those of
    its region too, marked -1 or NaN. A region with one class, or one value, gets a `Constant`; one
    without any label the mean of all. Only the `regions` of labelled rows matter to a supervised
    estimator.
    """
    _require_weights(estimator, labeled)
    label_regions = regions[labeled.rows]
    n_labels = np.bincount(label_regions, minlength=n_regions)
    everywhere = learns_from_unlabeled(estimator)
    parts: list[Any] = []
    for region in range(n_regions):
        if not n_labels[region]:
            parts.append(Constant(labeled.mean))
            continue
        inside = labeled.take(label_regions == region)
        rows = np.flatnonzero(regions == region) if everywhere else inside.rows
        with _in_region(estimator, region, n_labels):
            parts.append(_fit(estimator, points, inside, rows))
    n_targets = labeled.targets.shape[1]
    is_bounded = n_targets == 1 and n_regions > 1
    ranges = _ranges(labeled, label_regions, n_regions) if is_bounded else None
    return RegionalModel(parts, n_labels, n_targets, ranges)


def _ranges(labeled: Labeled, label_regions: IndexVector, n_regions: int) -> FloatMatrix:
    """Return the least and largest label of each region; of all, where a region has none."""
    values = labeled.targets[:, 0]
    ranges = np.tile([values.min(), values.max()], (n_regions, 1))
    for region in np.unique(label_regions):
        inside = values[label_regions == region]
        ranges[region] = inside.min(), inside.max()
    return ranges


def _require_weights(estimator: Any, labeled: Labeled) -> None:
    if (labeled.weights != 1).any() and not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidInputError(
            f"sample_weight was given and {type(estimator).__name__} takes none. Leave it out, or "
            "choose an estimator with weights."
        )


def _has_nothing_to_learn(labeled: Labeled) -> bool:
    if labeled.targets.shape[1] == 1:
        return len(labeled.rows) < 2
    return int(labeled.targets.any(axis=0).sum()) < 2


def _fit(estimator: Any, points: Points, labeled: Labeled, rows: IndexVector) -> Any:
    """Fit a clone on the rows of a region, labelled or not."""
    if _has_nothing_to_learn(labeled):
        return Constant.of(labeled)
    classifies = labeled.targets.shape[1] > 1
    known = labeled.targets.argmax(axis=1) if classifies else labeled.targets[:, 0]
    targets = np.full(len(rows), -1, dtype=np.intp) if classifies else np.full(len(rows), np.nan)
    weights = np.ones(len(rows))
    place = np.searchsorted(rows, labeled.rows)
    targets[place], weights[place] = known, labeled.weights
    options: dict[str, Any] = {}
    if (weights != 1).any():
        options["sample_weight"] = weights
    part = clone(estimator)
    last = _last_step(part)
    if isinstance(last, PartialLabelLearner) and classifies:
        last.set_params(unlabeled=-1, classes=None)  # whatever marks the user's own labels
    return part.fit(points[rows], targets, **options)


def _predict(part: Any, points: Points, n_targets: int) -> FloatMatrix:
    """Return the scores of points by the model of one region."""
    if isinstance(part, Constant):
        return np.tile(part.scores, (points.shape[0], 1))
    decided = np.asarray(part.predict(points))
    if n_targets == 1:
        return decided.reshape(-1, 1).astype(np.float64)
    scores = np.zeros((points.shape[0], n_targets))
    scores[:, np.asarray(part.classes_, dtype=np.intp)] = _probabilities(part, points, decided)
    decided = decided.astype(np.intp)
    scores[decided < 0] = 0.0  # this library's learners say -1 where no label reaches
    return _agree(scores, decided)


def _probabilities(part: Any, points: Points, decided: IndexVector) -> FloatMatrix:
    if hasattr(part, "predict_proba"):
        shares: FloatMatrix = np.asarray(part.predict_proba(points), dtype=np.float64)
        # Label propagation divides zero by zero far from its points.
        return np.where(np.isnan(shares).any(axis=1, keepdims=True), 1 / shares.shape[1], shares)
    if hasattr(part, "decision_function"):
        margins = np.asarray(part.decision_function(points), dtype=np.float64)
        if margins.ndim == 1:
            margins = np.column_stack([-margins / 2, margins / 2])
        if margins.shape[1] == len(part.classes_):  # not one per pair of classes
            return softmax(margins, 1.0)
    hits: FloatMatrix = (decided[:, None] == part.classes_).astype(np.float64)
    return hits


def _agree(scores: FloatMatrix, decided: IndexVector) -> FloatMatrix:
    """Let the class decided for have the largest probability, where a machine says otherwise."""
    rows = np.flatnonzero(decided >= 0)
    decided = decided[rows]
    largest = scores[rows].argmax(axis=1)
    top = scores[rows, largest]
    scores[rows, largest] = scores[rows, decided]
    scores[rows, decided] = top
    tied = scores[rows].argmax(axis=1) != decided
    scores[rows[tied], decided[tied]] = np.nextafter(top[tied], np.inf)
    return scores


def held_out_losses(
    estimator: Any, points: Points, labeled: Labeled, regions: IndexVector, n_regions: int
) -> FloatVector:
    """Return the loss of every label when the others of its region predict it.

    Exact leave-one-out in one fit per region for this library's learners. Any other estimator is
    fitted again without each label of a region, or in 20 folds above 50 labels.

    The loss is 1 for a wrong class and 0 for the right one, or the absolute error of a value:
    squares would let a few labels on the wrong side of a border decide. A label that is alone in
    its region is predicted by the mean of all others, or their commonest class.
    """
    _require_weights(estimator, labeled)
    label_regions = regions[labeled.rows]
    predicted = np.empty_like(labeled.targets)
    everywhere = learns_from_unlabeled(estimator)
    for region in range(n_regions):
        mask = label_regions == region
        inside = labeled.take(mask)
        if len(inside.rows) == 1:
            predicted[mask] = labeled.take(~mask).mean if not mask.all() else labeled.mean
        elif len(inside.rows):
            rows = np.flatnonzero(regions == region) if everywhere else inside.rows
            predicted[mask] = _held_out(estimator, points, inside, rows)
    if labeled.targets.shape[1] == 1:
        losses: FloatVector = np.abs(predicted[:, 0] - labeled.targets[:, 0])
        return losses
    wrong: FloatVector = predicted.argmax(axis=1) != labeled.targets.argmax(axis=1)
    return wrong.astype(np.float64)


def _held_out(estimator: Any, points: Points, labeled: Labeled, rows: IndexVector) -> FloatMatrix:
    """Return what the other labels of a region predict of each."""
    count, n_targets = labeled.targets.shape
    if isinstance(estimator, GraphLearner) and not _has_nothing_to_learn(labeled):
        exact = _exact(estimator, points, labeled, rows)
        if exact is not None:
            return exact
    n_folds = count if count <= _LEAVE_ONE_OUT else _FOLDS
    fold = np.random.default_rng(0).permutation(np.arange(count) % n_folds)
    predicted = np.empty_like(labeled.targets)
    for k in range(n_folds):
        out = fold == k
        rest = rows[~np.isin(rows, labeled.rows[out])]
        if learns_from_unlabeled(estimator):
            rest = rows  # a label left out is still a point
        part = _fit(estimator, points, labeled.take(~out), rest)
        predicted[out] = _predict(part, points[labeled.rows[out]], n_targets)
    return predicted


def _exact(
    estimator: GraphLearner, points: Points, labeled: Labeled, rows: IndexVector
) -> FloatMatrix | None:
    """Leave-one-out of this library's learners, in one fit; None above the labels it does."""
    part = _fit(estimator, points, labeled, rows)
    left_out = part._left_out()
    if len(left_out.rows) != len(labeled.rows):
        return None
    classifies = labeled.targets.shape[1] > 1
    columns = np.asarray(part.classes_, dtype=np.intp) if classifies else np.zeros(1, np.intp)
    scores = np.full(labeled.targets.shape, -np.inf)
    scores[:, columns] = left_out.scores
    return scores
