"""Modes of Mbed: a map with boundaries as the paper has it, and as it works in practice.

They are scikit-learn estimators in name and parameters, so ``mode__reach`` works in a grid search.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import Points
from beltrami.core.validation import check_count, check_nonnegative, check_positive
from beltrami.embeddings.mbed.annealing import PRINTED, Schedule, annealed_path
from beltrami.embeddings.mbed.model import Problem, Stage
from beltrami.embeddings.mbed.practical import Balance, practical_path
from beltrami.embeddings.mbed.stages import best_stage
from beltrami.embeddings.neighborhoods.affinities import LocalAffinity, WideAffinity


class PaperMode(BaseEstimator):
    """Mbed as [ZienQuinonero05]_ has it: one wide kernel, a random start, annealed boundaries.

    Printed slips are corrected; each can be had back, and each open question is a parameter.

    Parameters
    ----------
    spread : float, default=2.0
        s in exp(-d^2 / (s width^2)), with the width the 1/K quantile of all dissimilarities. The
        paper does not say; 2 is the usual Gaussian.
    reach : float, default=2.0
        A label stands for a point at this many radii along its direction: 2 in the paper's text, 1
        in its eq. 21. Only 2 comes near the published errors of ten classes.
    printed : tuple of {"gradient", "margin", "targets", "start"}, default=()
        Which slips to keep: the gradient of eq. 4 without its factor 2; eq. 9 with its stray sum;
        line 9 without 1 / (K - 1); noise of variance instead of deviation 0.1 and 1e-3 r.
    n_steps : int, default=500
        Steps of conjugate gradients in all.
    n_first_steps : int, default=10
        Of these, steps of the crude map that measures the radius.
    n_init : int, default=1
        Starts; the one with the largest criterion is kept.

    Examples
    --------
    >>> from beltrami import Mbed, PaperMode, load_dataset
    >>> flowers = load_dataset("iris")
    >>> learner = Mbed(3, mode=PaperMode(n_steps=100), random_state=0).fit(flowers.points)
    >>> learner.embedding_.shape, learner.label_distributions_.shape
    ((150, 3), (150, 3))
    """

    def __init__(
        self,
        *,
        spread: float = 2.0,
        reach: float = 2.0,
        printed: tuple[str, ...] = (),
        n_steps: int = 500,
        n_first_steps: int = 10,
        n_init: int = 1,
    ) -> None:
        self.spread = spread
        self.reach = reach
        self.printed = printed
        self.n_steps = n_steps
        self.n_first_steps = n_first_steps
        self.n_init = n_init

    def dimensions(self, n_classes: int) -> int:
        """Return d = K: one dimension more than the class directions need.

        Parameters
        ----------
        n_classes : int
            K.

        Returns
        -------
        int
            Dimensions of the map.
        """
        return n_classes

    def affinity(self, points: Points, metric: Any, n_classes: int) -> WideAffinity:
        """Return the neighbour probabilities that this mode looks at.

        Parameters
        ----------
        points : ndarray or csr_array
            Vectors or dissimilarities.
        metric : str or callable
            How to compare them.
        n_classes : int
            K.

        Returns
        -------
        WideAffinity
            With the 1/K quantile as its width.
        """
        spread = check_positive(self.spread, name="spread")
        return WideAffinity.of(points, metric, quantile=1 / n_classes, spread=spread)

    def chosen(self, path: tuple[Stage, ...]) -> Stage:
        """Return the stage with the largest criterion.

        Parameters
        ----------
        path : tuple of Stage
            Every stage.

        Returns
        -------
        Stage
            One of them.
        """
        return best_stage(path)

    def path(self, problem: Problem, random: np.random.Generator) -> tuple[Stage, ...]:
        """Anneal.

        Parameters
        ----------
        problem : Problem
            What is to be embedded.
        random : Generator
            Draws the starts.

        Returns
        -------
        tuple of Stage
            Every stage.
        """
        is_list = isinstance(self.printed, tuple | list | set | frozenset)
        if not is_list or not set(self.printed) <= set(PRINTED):
            raise InvalidInputError(
                f"printed={self.printed!r} must be a tuple of names among {', '.join(PRINTED)}."
            )
        if check_count(self.n_first_steps, name="n_first_steps") >= check_count(
            self.n_steps, name="n_steps"
        ):
            raise InvalidInputError(
                f"n_first_steps={self.n_first_steps} of n_steps={self.n_steps} leave none for the "
                "stages; give fewer first steps or more in all."
            )
        schedule = Schedule(
            check_count(self.n_steps, name="n_steps"),
            check_count(self.n_first_steps, name="n_first_steps"),
            check_positive(self.reach, name="reach"),
            tuple(self.printed),
            check_count(self.n_init, name="n_init"),
        )
        return annealed_path(problem, schedule, random)


class PracticalMode(BaseEstimator):
    """Mbed from a guess: local neighbours, and soft labels for every row from a graph learner.

    The guess is what the labels say when they are spread over a neighbourhood graph. It is where
    the map starts, and it stays as a soft label of every row; neighbours and margins then correct
    it where they disagree.

    Parameters
    ----------
    guess : classifier or None, default=None
        Who guesses: any of our classifiers, or another that learns from integer labels with -1 for
        none and tells ``label_distributions_``. None means `PoissonClassifier`.
    perplexity : float, default=30.0
        Effective number of neighbours of every point.
    label_weight : float, default=10.0
        What a label counts.
    guess_weight : float, default=1.0
        What the guess of a row without a label counts.
    margin_weight : float, default=0.1
        What a row's distance from the boundaries counts, and what the classes' shares count.
    n_steps : int, default=120
        Steps of the descent at most.
    n_folds : int, default=3
        Maps of half as many steps, each without a part of the labels, that say how sure
        memberships may be; on 4000 rows at most. 0 does without.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import Mbed, PracticalMode, load_dataset
    >>> flowers = load_dataset("iris")
    >>> y = np.where(np.arange(150) % 10 == 0, flowers.targets, -1)
    >>> mode = PracticalMode(perplexity=15.0)
    >>> learner = Mbed(mode=mode, random_state=0).fit(flowers.points, y)
    >>> bool((learner.transduction_ == flowers.targets).mean() > 0.9)
    True
    """

    def __init__(
        self,
        *,
        guess: Any = None,
        perplexity: float = 30.0,
        label_weight: float = 10.0,
        guess_weight: float = 1.0,
        margin_weight: float = 0.1,
        n_steps: int = 120,
        n_folds: int = 3,
    ) -> None:
        self.guess = guess
        self.perplexity = perplexity
        self.label_weight = label_weight
        self.guess_weight = guess_weight
        self.margin_weight = margin_weight
        self.n_steps = n_steps
        self.n_folds = n_folds

    def dimensions(self, n_classes: int) -> int:
        """Return d = K + 5: six dimensions for what lies inside the classes.

        Parameters
        ----------
        n_classes : int
            K.

        Returns
        -------
        int
            Dimensions of the map.
        """
        return n_classes + 5

    def affinity(self, points: Points, metric: Any, n_classes: int) -> LocalAffinity:  # noqa: ARG002
        """Return the neighbour probabilities that this mode looks at.

        Parameters
        ----------
        points : ndarray or csr_array
            Vectors or dissimilarities.
        metric : str or callable
            How to compare them.
        n_classes : int
            Not used.

        Returns
        -------
        LocalAffinity
            With the same effective number of neighbours for all.
        """
        perplexity = check_positive(self.perplexity, name="perplexity")
        return LocalAffinity.of(points, metric, perplexity)

    def chosen(self, path: tuple[Stage, ...]) -> Stage:
        """Return the last stage.

        Parameters
        ----------
        path : tuple of Stage
            Every stage.

        Returns
        -------
        Stage
            The settled map.
        """
        return path[-1]

    def path(self, problem: Problem, random: np.random.Generator) -> tuple[Stage, ...]:
        """Start from the guess and let the map settle.

        Parameters
        ----------
        problem : Problem
            What is to be embedded, with a guess.
        random : Generator
            Draws the dimension that the guess leaves open.

        Returns
        -------
        tuple of Stage
            The start and the settled map.
        """
        check_count(self.n_folds, name="n_folds", minimum=0)
        balance = Balance(
            check_positive(self.label_weight, name="label_weight"),
            check_nonnegative(self.guess_weight, name="guess_weight"),
            check_nonnegative(self.margin_weight, name="margin_weight"),
            check_count(self.n_steps, name="n_steps"),
        )
        return practical_path(problem, balance, random)
