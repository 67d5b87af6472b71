"""The transductive support vector machine: no graph, but a margin that avoids all points."""

from typing import Any, Self

import numpy as np

from beltrami.core.machine.memory import require_memory
from beltrami.core.telling.progress import track
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Points
from beltrami.core.validation import check_choice, check_count, check_positive
from beltrami.graph.fitting import checked_points
from beltrami.kernel_machines.gram import Gram, check_precomputed, check_psd
from beltrami.kernel_machines.hinge.switching import SwitchedFit, transductive_hinge
from beltrami.kernel_machines.kernels import (
    PrecomputedKernel,
    RbfKernel,
    resolve_kernel,
    typical_width,
)
from beltrami.learners.base import PartialLabelClassifier, softmax
from beltrami.learners.machines.parameters import ComposedParameters
from beltrami.learners.model import Labeled
from beltrami.learners.parameters import checked_shares
from beltrami.operators.comparison import check_comparable

_TEMPERATURE = 0.5
"""Of the softmax: a point on the margin, f = 1, has one chance in fifty to be of the other side."""

_PROOF = 500
"""Rows on which a kernel that need not be positive semi-definite is looked at."""


class TransductiveSVC(ComposedParameters, PartialLabelClassifier):
    r"""Classify by the widest margin that keeps clear of unlabelled points too [Joachims99]_.

    For each class against all others, a function :math:`f = \sum_i c_i k(x_i, \cdot) + b` and
    signs of the unlabelled rows are sought that minimise

    .. math:: \tfrac12 \lVert f \rVert_K^2 + C \sum_{i \in \mathrm{labelled}} w_i \xi_i
              + C^* \sum_{j \in \mathrm{unlabelled}} \xi_j, \qquad
              \xi_i = \max(0, 1 - y_i f(x_i)),

    where the share of positive signs among the unlabelled rows is fixed, or all of them would go to
    one side. The problem has many local minima: a machine of the labels alone gives the first
    signs, the weight of the unlabelled rows is doubled from :math:`10^{-5} C^*` to :math:`C^*`, and
    at each weight pairs of rows are switched as long as that lowers the objective. It helps where
    classes are apart by a gap, and hurts where a gap runs through a class. There is no graph.

    Parameters
    ----------
    kernel : str, RbfKernel, PolynomialKernel or callable, default="rbf"
        "rbf", whose width is the median distance over the root of two, "linear", "poly", "cosine"
        or "precomputed"; `RbfKernel` and `PolynomialKernel` with parameters of your own; a kernel
        object of scikit-learn; or a function of two sets of points.
    C : float, default=1.0
        Weight of the labelled rows' losses.
    C_unlabeled : float or None, default=None
        Weight C* of the unlabelled rows' losses; None means C.
    class_shares : {"labels", "equal"} or array-like of shape (k,), default="labels"
        Shares of the classes among the unlabelled rows: as among the labels, all the same, or your
        own in the order of ``classes_``. They are kept while signs are sought; the final function
        may put a few rows elsewhere.
    unlabeled : object, default="auto"
        What marks an unlabelled row: -1 among integers, None, NaN, pandas.NA or "" elsewhere.
        None means that all rows are labelled, so that -1 is a class.
    classes : array-like or None, default=None
        All classes there are, where some may have no label yet.
    tol : float, default=1e-3
        Of each machine, in units of f.
    max_rounds : int, default=100
        Most fits at one weight of the unlabelled rows.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The classes.
    transduction_ : ndarray of shape (n,)
        The class of each row: the given one where there is one, else that of the highest score.
    label_distributions_ : ndarray of shape (n, k)
        Softmax of the scores at a fixed temperature. Not calibrated.
    confidence_ : ndarray of shape (n,)
        Probability of the class in ``transduction_``.
    reached_ : ndarray of shape (n,)
        True everywhere: a kernel reaches all points.
    class_shares_ : ndarray of shape (k,)
        The shares that were kept.
    support_ : ndarray of shape (s,)
        Rows that the functions rest on.
    dual_coef_ : ndarray of shape (s, k)
        Their coefficients c.
    intercept_ : ndarray of shape (k,)
        The numbers b.
    width_ : float or None
        Width that was used, None for other kernels.
    n_fits_, n_switched_ : int, int
        Machines fitted to all rows, and changes of sides.

    See Also
    --------
    sklearn.svm.SVC : The same without unlabelled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import RbfKernel, TransductiveSVC, two_moons
    >>> moons = two_moons(200, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[::20] = moons.targets[::20]
    >>> learner = TransductiveSVC(kernel=RbfKernel(0.35), C=10.0, class_shares="equal")
    >>> learner = learner.fit(moons.points, y)
    >>> bool((learner.transduction_ == moons.targets).mean() > 0.95)
    True
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        C: float = 1.0,
        C_unlabeled: float | None = None,
        class_shares: Any = "labels",
        unlabeled: Any = "auto",
        classes: Any = None,
        tol: float = 1e-3,
        max_rounds: int = 100,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.C_unlabeled = C_unlabeled
        self.class_shares = class_shares
        self.unlabeled = unlabeled
        self.classes = classes
        self.tol = tol
        self.max_rounds = max_rounds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the labels in y and from where all rows of X lie.

        Parameters
        ----------
        X : array-like or sparse of shape (n, d)
            One row per point, labelled or not, in any order; for a precomputed kernel the (n, n)
            matrix.
        y : array-like of shape (n,)
            Labels, with unlabelled rows marked.
        sample_weight : array-like of shape (n,) or None, default=None
            How much each label counts; 0 makes the row unlabelled.

        Returns
        -------
        TransductiveSVC
            Itself, fitted.
        """
        points = checked_points(self, X, reset=True)
        labeled = self._read(y, points.shape[0], sample_weight)
        self._gram = self._tie_kernel(points)
        self._learn(labeled)
        return self

    def _tie_kernel(self, points: Points) -> Gram:
        """Tie the kernel to the points, in double precision."""
        n = points.shape[0]
        require_memory(
            40.0 * n * n,
            what=f"the kernel of {n} points and its copies",
            instead="Fit on a sample of the unlabelled rows and predict the others.",
        )
        kernel = resolve_kernel(self.kernel)
        if isinstance(kernel, PrecomputedKernel):
            check_precomputed(points)
        else:
            check_comparable(points, "euclidean")
        self.width_ = None
        if isinstance(kernel, RbfKernel):
            self.width_ = typical_width(points) if kernel.width == "auto" else float(kernel.width)
            kernel = resolve_kernel(kernel, width=self.width_)
        return Gram(kernel, points.astype(np.float64))

    def _reach(self, labeled: Labeled) -> BoolVector:  # noqa: ARG002
        return np.ones(self._gram.n_points, dtype=bool)

    def _scores(self, labeled: Labeled) -> FloatMatrix:
        kernel = self._gram.whole()
        if not self._gram.kernel.is_surely_psd:
            check_psd(kernel[:_PROOF, :_PROOF])
        self.class_shares_ = self._shares(labeled)
        fits = self._machines(kernel, labeled)
        coefficients = np.stack([fit.multipliers for fit in fits], axis=1)
        intercepts = np.array([fit.intercept for fit in fits])
        if len(fits) == 1 and labeled.targets.shape[1] == 2:  # two classes are mirrors
            coefficients = np.hstack([-coefficients, coefficients])
            intercepts = np.concatenate([-intercepts, intercepts])
        self.n_fits_ = sum(fit.n_fits for fit in fits)
        self.n_switched_ = sum(fit.n_switched for fit in fits)
        self.support_ = np.flatnonzero(coefficients.any(axis=1))
        self.dual_coef_, self.intercept_ = coefficients[self.support_], intercepts
        return np.asarray(kernel[:, self.support_] @ self.dual_coef_ + intercepts)

    def _machines(self, kernel: FloatMatrix, labeled: Labeled) -> list[SwitchedFit]:
        """Fit one machine for each class, a single one for two."""
        weight = check_positive(self.C, name="C")
        top = weight if self.C_unlabeled is None else self.C_unlabeled
        top = check_positive(top, name="C_unlabeled")
        tol = check_positive(self.tol, name="tol")
        rounds = check_count(self.max_rounds, name="max_rounds")
        count = labeled.targets.shape[1]
        columns = [1] if count == 2 else range(count)
        n_others = len(kernel) - len(labeled.rows)
        with track("transductive machines", total=len(columns)) as advance:
            return [
                transductive_hinge(
                    kernel,
                    labeled.rows,
                    2 * labeled.targets[:, column] - 1,
                    weight * labeled.weights,
                    _n_positive(float(self.class_shares_[column]), n_others),
                    top,
                    tol=tol,
                    max_rounds=rounds,
                    advance=advance,
                )
                for column in columns
            ]

    def _shares(self, labeled: Labeled) -> FloatVector:
        """Return the shares of classes among the unlabelled rows; zero for one without a label."""
        count, present = labeled.targets.shape[1], labeled.targets.any(axis=0)
        if isinstance(self.class_shares, str):
            check_choice(self.class_shares, ("labels", "equal"), name="class_shares")
            shares = labeled.mean if self.class_shares == "labels" else np.ones(count)
        else:
            shares = checked_shares(self.class_shares, count, name="class_shares")
        kept = np.where(present, shares, 0.0)
        return np.asarray(kept / kept.sum())

    def _scores_at(self, points: Points) -> tuple[FloatMatrix, BoolVector]:
        between = self._gram.at(points.astype(np.float64), self.support_)
        scores = between @ self.dual_coef_ + self.intercept_
        return np.asarray(scores), np.ones(len(scores), dtype=bool)

    def _probabilities(self, scores: FloatMatrix) -> FloatMatrix:
        return softmax(scores, _TEMPERATURE)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = is_precomputed
        tags.input_tags.sparse = not is_precomputed
        return tags


def _n_positive(share: float, n_rows: int) -> int:
    """Return how many of some rows a share is.

    0 or all of them only for a share of 0 or 1, or a single row: else both sides have one.
    """
    if share <= 0 or share >= 1 or n_rows < 2:
        return round(share * n_rows)
    return int(np.clip(round(share * n_rows), 1, n_rows - 1))
