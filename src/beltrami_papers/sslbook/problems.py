"""The seven sets of the SSL book's benchmark, with their published splits and a graph.

A name enters; points, classes, labelled rows by number of labels, and a graph leave.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.types import IndexVector, Points
from beltrami.data import load_dataset
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami_papers.preparation import LabelledDraws
from beltrami_papers.sslbook.published import LABELS

QUICK_ROWS = 150
"""Unlabelled rows that a quick run keeps."""


@dataclass(frozen=True, slots=True, eq=False)
class BookProblem:
    """A set of the benchmark.

    Attributes
    ----------
    name : str
        What the book calls it.
    draws : dict of int to LabelledDraws
        The published splits, by number of labels; all of the same points.
    graph : Graph
        Ten neighbours of each point.
    fitted : dict of str to object
        Learners by name, which later splits go on with by `fit_labels`; filled as they come.
    """

    name: str
    draws: dict[int, LabelledDraws]
    graph: Graph
    fitted: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, draws: dict[int, LabelledDraws]) -> "BookProblem":
        """Build the graph of a set."""
        points = next(iter(draws.values())).points
        metric = "angle" if issparse(points) else "euclidean"
        return cls(name, draws, KnnGraph(metric=metric).build(points))

    @property
    def points(self) -> Points:
        """The points, the same for all splits."""
        return next(iter(self.draws.values())).points

    @property
    def classes(self) -> IndexVector:
        """The true classes, numbers from 0."""
        return next(iter(self.draws.values())).classes

    @property
    def is_text(self) -> bool:
        """Whether the points are sparse rows of words."""
        return bool(issparse(self.points))

    @property
    def kernel(self) -> str:
        """Kernel of our machines: cosine for texts, else Gaussian."""
        return "cosine" if self.is_text else "rbf"


def book_problem(name: str, *, quick: bool = False) -> BookProblem:
    """Load a set of the benchmark with its splits.

    - `quick`: keep ten labels, one split and a few rows, to see that the table runs.
    """
    data = load_dataset(f"sslbook_{name.lower()}").number_classes()
    points: Any = data.points
    classes = np.asarray(data.targets)
    draws = {
        count: LabelledDraws(name, points, classes, np.asarray(data.splits[f"labeled{count}"]))
        for count in LABELS
    }
    if quick:
        few = min(LABELS)
        draws = {few: draws[few].thin_out(QUICK_ROWS)}
    return BookProblem.of(name, draws)
