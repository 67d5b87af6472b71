"""The problems: points with their classes, the graph that single methods share, the raw data.

Six come from the contest of few labels, with its graphs and its cache; the others are read here in
the same way. Rows of texts are scaled to length one for every method but the front door, which
gets what the loader gave and must see to that itself; their neighbours are those by angle.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from beltrami import KnnGraph, load_dataset
from beltrami_papers.preparation import strip_headers
from benchmarks.common.cache import from_cache
from benchmarks.few_labels import problems as few_labels
from benchmarks.few_labels.problems import NEIGHBORS, FewLabels, timed_graph

TEXTS = ("lds_text", "sslbook_text", "newsgroups20")
TOY = "toy"
RARE = 3  # posts that must hold a word for it to be a column

PROBLEMS: Mapping[str, str] = {
    "g50c": "two Gaussians in 50 dimensions (Chapelle and Zien)",
    "sslbook_bci": "imagined movements (SSL book)",
    "sslbook_digit1": "artificial digits (SSL book)",
    "sslbook_g241c": "two Gaussians in 241 dimensions (SSL book)",
    "sslbook_g241d": "two Gaussians with misleading clusters (SSL book)",
    "sslbook_usps": "digits 2 and 5 against the rest (SSL book)",
    "sslbook_coil": "objects in six classes (SSL book)",
    "sslbook_text": "newsgroup posts, sparse, as published (SSL book)",
    "lds_text": "posts on Mac and on Windows, sparse, as published (Chapelle and Zien)",
    "digits": "scikit-learn's digits",
    "uspst": "USPS digits (Chapelle and Zien)",
    "coil20": "views of 20 objects",
    "phoneme": "log-periodograms of five phonemes",
    "isolet": "spoken letters",
    "usps": "all USPS digits",
    "newsgroups20": "20 Newsgroups, headers stripped: scikit-learn's TF-IDF with sublinear counts, "
    f"English stop words and words of fewer than {RARE} posts left out; posts without a word "
    "dropped",
    "mnist": "the first 60000 images of MNIST on their 100 principal components",
}
"""Small ones first."""


@dataclass(frozen=True, eq=False)
class DoorProblem(FewLabels):
    """A problem of the contest; `raw` is the data as loaded, `points` what single methods get."""

    raw: Any = None
    is_text: bool = False

    @property
    def metric(self) -> str:
        """By what neighbours are near."""
        return "angle" if self.is_text else "euclidean"

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.targets.max()) + 1


def problem(name: str) -> DoorProblem:
    """Return the problem of that name: a key of `PROBLEMS`, or the toy, which needs no file."""
    if name in few_labels.PROBLEMS or name == TOY:
        task = few_labels.problem(name)
        return DoorProblem(
            name, task.points, task.targets, task.graph, task.graph_s, raw=task.points
        )
    if name == "newsgroups20":
        cloud = from_cache("front-door-newsgroups20", 19_997, _newsgroups)
        return pose(name, cloud["points"], cloud["targets"], is_text=True)
    data = load_dataset(name)
    return pose(name, data.points, data.targets, is_text=name in TEXTS)


def pose(name: str, raw: Any, targets: np.ndarray, *, is_text: bool = False) -> DoorProblem:
    """Return a problem made of these arrays, with classes 0, 1, ... and its graph."""
    numbers = np.unique(targets, return_inverse=True)[1]
    points = csr_array(normalize(raw)) if is_text else np.asarray(raw, dtype=np.float32)
    recipe = KnnGraph(NEIGHBORS, metric="angle" if is_text else "euclidean")
    graph, seconds = timed_graph(f"front-door-graph-{name}-{NEIGHBORS}", points, recipe)
    return DoorProblem(name, points, numbers, graph, seconds, raw=raw, is_text=is_text)


def _newsgroups() -> dict[str, Any]:
    posts = load_dataset("newsgroups20")
    reader = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=RARE)
    matrix = csr_array(reader.fit_transform(strip_headers(text) for text in posts.texts))
    filled = np.flatnonzero(np.diff(matrix.indptr))
    return {"points": matrix[filled], "targets": posts.targets[filled]}
