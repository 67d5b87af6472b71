"""The product's own classifier on the thesis's draws of labelled points, with nothing set.

A sample and draws enter; error rates on the unlabelled points leave, in percent.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from beltrami.core.types import IndexVector
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import EigenfunctionClassifier
from beltrami_papers.cells import Cell, summary
from beltrami_papers.preparation import keep_labels
from beltrami_papers.thesis.chapter3.samples import Sample
from beltrami_papers.thesis.chapter3.trials import SEED, error_percent, label_draws


def cells_by_default(sample: Sample, labelled: Sequence[int], n_draws: int) -> list[Cell]:
    """Return the errors of ``EigenfunctionClassifier()`` by numbers of labelled points.

    Only the distance is the thesis's; the graph is the usual one, and leaving one label out says
    how many eigenvectors. One graph and one basis serve all draws.
    """
    graph = KnnGraph(metric=sample.metric, random_state=SEED)
    learner = EigenfunctionClassifier(graph=graph, random_state=SEED)
    cells = []
    for count in labelled:
        draws = label_draws(sample.n_points, count, n_draws)
        errors = np.array(list(_errors_of(learner, sample, draws)))
        cells.append({"labelled": count, **summary(errors)})
    return cells


def _errors_of(
    learner: EigenfunctionClassifier, sample: Sample, draws: Sequence[IndexVector]
) -> Iterator[float]:
    """Teach the learner from each draw, on the graph of the first."""
    for rows in draws:
        labels = keep_labels(sample.classes, rows)
        if hasattr(learner, "basis_"):
            learner.fit_labels(labels)
        else:
            learner.fit(sample.points, labels)
        yield error_percent(learner.transduction_, sample.classes, rows)
