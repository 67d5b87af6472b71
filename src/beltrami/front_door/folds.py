"""Labels put aside in folds that hold every class, so that no fold tilts the rest."""

from collections.abc import Iterator

import numpy as np

from beltrami.core.types import IndexVector
from beltrami.learners.model import Labeled

_FOLDS = 5


def folds(labeled: Labeled) -> Iterator[tuple[Labeled, IndexVector]]:
    """Put labels aside in up to five folds, each with the same share of every class.

    Leaving out one label at a time tilts the rest against its class, and with few labels a learner
    that heeds class sizes is then wrong about every one of them; a fold with all classes in it
    does not tilt. The only label of a class always stays.

    Returns shape `aside` (m,).
    """
    judged = labeled.sample()
    codes = judged.targets.argmax(axis=1)
    counts = np.bincount(codes)
    count = int(np.clip(typical_count(judged), 2, _FOLDS))
    fold = np.full(len(codes), -1, dtype=np.intp)
    for code in np.flatnonzero(counts > 1):
        own = np.flatnonzero(codes == code)
        fold[own] = np.arange(len(own)) % count
    for number in range(count if (counts > 1).any() else 0):
        aside = np.flatnonzero(fold == number)
        kept = ~np.isin(labeled.rows, judged.rows[aside])
        yield Labeled(labeled.rows[kept], labeled.targets[kept], labeled.weights[kept]), aside


def typical_count(labeled: Labeled) -> float:
    """Return how many labels a class that can be held out has, typically.

    - Returned: the median over classes of two labels and more; 0 where there is none.
    """
    counts = labeled.targets.sum(axis=0)
    held = counts[counts > 1]
    return float(np.median(held)) if held.size else 0.0
