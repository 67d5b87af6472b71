"""The texts of the contest: posts of 20 Newsgroups without headers, as many of each group."""

import numpy as np

from beltrami import load_dataset
from beltrami_papers.preparation import strip_headers
from benchmarks.common.facts import SEED

POSTS = 3000
_LEAST_LETTERS = 20


def sample_posts(count: int) -> tuple[list[str], np.ndarray]:
    """Return texts and the numbers of their groups, the same for the same count.

    Posts of fewer than 20 letters are left out: half of them hold no word at all.
    """
    posts = load_dataset("newsgroups20")
    assert posts.texts is not None
    targets, rng = np.asarray(posts.targets), np.random.default_rng(SEED)
    bodies = [strip_headers(text).strip() for text in posts.texts]
    is_long = np.array([len(body) >= _LEAST_LETTERS for body in bodies])
    groups = np.unique(targets)
    rows = np.concatenate(
        [
            rng.choice(np.flatnonzero(is_long & (targets == one)), count // len(groups), False)
            for one in groups
        ]
    )
    rng.shuffle(rows)
    return [bodies[row] for row in rows], targets[rows]
