"""Folds where most rows have no label: labels are held out, unlabelled rows always stay."""

from collections.abc import Iterator

import numpy as np

from beltrami.core.types import IndexVector
from beltrami.learners.model import Labeled

_CLASS_FOLDS = 5


def deal_folds(
    strata: IndexVector,
    n_folds: int,
    *,
    in_runs: bool = False,
    is_level: bool = True,
    rng: np.random.Generator | None = None,
) -> IndexVector:
    """Deal rows to folds, class after class; -1 is a row that always stays.

    The folds differ by at most one row of each class, and no fold holds all rows of a class. The
    only row of a class stays, and so do rows of the class -1. A class begins where the one before
    ended, so that folds are level in all; or each at the first fold, so that the labels of small
    classes are put aside together. The rows of a class go to the folds in turn, or `in_runs` of
    neighbours, which `rng` shuffles first.
    """
    folds = np.full(len(strata), -1)
    start = 0
    for stratum in range(int(strata.max(initial=-1)) + 1):
        members = np.flatnonzero(strata == stratum)
        if len(members) > 1:
            if rng is not None:
                rng.shuffle(members)
            turns = (start + np.arange(len(members))) % n_folds
            folds[members] = np.sort(turns) if in_runs else turns
            start += len(members) if is_level else 0
    return folds


def class_folds(labeled: Labeled) -> Iterator[tuple[Labeled, IndexVector]]:
    """Put labels aside in up to five folds, each with the same share of every class.

    Leaving out one label at a time tilts the rest against its class, and with few labels a learner
    that heeds class sizes is then wrong about every one of them; a fold with all classes in it
    does not tilt. The only label of a class always stays. Yields the labels that stay, and the
    places in ``labeled.sample()`` of those put aside.
    """
    sample = labeled.sample()
    count = int(np.clip(typical_count(sample), 2, _CLASS_FOLDS))
    folds = deal_folds(sample.targets.argmax(axis=1), count, is_level=False)
    for number in range(count if (folds >= 0).any() else 0):
        aside = np.flatnonzero(folds == number)
        kept = ~np.isin(labeled.rows, sample.rows[aside])
        yield Labeled(labeled.rows[kept], labeled.targets[kept], labeled.weights[kept]), aside


def typical_count(labeled: Labeled) -> float:
    """Return how many labels a class has, typically: the median over those with two or more.

    0 where no class has two.
    """
    counts = labeled.targets.sum(axis=0)
    several = counts[counts > 1]
    return float(np.median(several)) if several.size else 0.0
