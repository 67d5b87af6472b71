"""Pairs of USPS digits as Belkin, Niyogi and Sindhwani (2004) took them.

A number of images per digit enters; two-class problems and draws of labels leave.
"""

from dataclasses import dataclass

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, IndexVector
from beltrami.data import load_dataset, principal_components
from beltrami_papers.lapsvm.machines import Problem
from beltrami_papers.preparation import draw_per_class, project_on_components

SEED = 0
TESTS = ("test", "rest of training set", "official test set")
"""All remaining images, and the two parts they come from."""


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """Images of USPS on the principal components of the training images.

    Attributes
    ----------
    training : ndarray of shape (n, 100)
        The first images of each digit.
    digits : ndarray of shape (n,)
        Their digits.
    remaining : ndarray of shape (m, 100)
        All others.
    remaining_digits : ndarray of shape (m,)
        Their digits.
    official : ndarray of bool of shape (m,)
        Which of the others belong to the official test set.
    """

    training: FloatMatrix
    digits: IndexVector
    remaining: FloatMatrix
    remaining_digits: IndexVector
    official: BoolVector


def usps_images(per_digit: int) -> Images:
    """Load USPS and take the first training images of each digit."""
    data = load_dataset("usps")
    points, digits = np.asarray(data.points), np.asarray(data.targets)
    n_train = data.n_train or len(digits)
    first = [np.flatnonzero(digits[:n_train] == digit)[:per_digit] for digit in range(10)]
    rows = np.concatenate(first)
    others = np.setdiff1d(np.arange(len(digits)), rows)
    training = principal_components(points[rows], 100)
    return Images(
        training,
        digits[rows],
        project_on_components(points[rows], training, points[others]),
        digits[others],
        others >= n_train,
    )


def pair_problem(images: Images, pair: tuple[int, int]) -> Problem:
    """Return the problem of telling two digits apart; the second is the positive class.

    It is tested on all other images, and on the two parts they come from.
    """
    inside, outside = np.isin(images.digits, pair), np.isin(images.remaining_digits, pair)
    official = images.official[outside]
    return Problem(
        images.training[inside],
        images.digits[inside] == pair[1],
        images.remaining[outside],
        images.remaining_digits[outside] == pair[1],
        dict(zip(TESTS, (np.ones_like(official), ~official, official), strict=True)),
    )


def two_labels_each(positive: BoolVector, pair: tuple[int, int], n_draws: int) -> list[IndexVector]:
    """Draw two labelled images of each class.

    - `pair`: the digits a and b; draw i comes from ``default_rng([0, a, b, i])``.
    """
    return [draw_per_class(positive, 2, seed=[SEED, *pair, i]) for i in range(n_draws)]
