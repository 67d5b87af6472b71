"""Maps of a table without learning: a picture of the rows, eigenmap coordinates, clusters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.telling.progress import enter_stage, expect
from beltrami.core.telling.stages import Stage
from beltrami.core.types import FloatMatrix
from beltrami.embeddings import LaplacianEigenmaps, SpectralClustering
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.deciding.forecast import Forecast
from beltrami.front_door.prepare import View, build_view
from beltrami.labelling.intake import Intake
from beltrami.labelling.options import LearningOptions
from beltrami.report.pictures.figures import PICTURES, rows_figure, save_figure
from beltrami.tables import write_table


@dataclass(frozen=True, slots=True, eq=False)
class DataMap:
    """A map of the rows.

    Attributes
    ----------
    ids, labels : ndarray of shape (n,)
        What rows are called, and their labels or None.
    positions : ndarray of shape (n, 2)
        Where they lie.
    """

    ids: NDArray[Any]
    labels: NDArray[Any]
    positions: FloatMatrix

    def save(self, path: Path) -> None:
        """Write a picture or a table of coordinates, by the end of the name."""
        if path.suffix.lower() in PICTURES:
            save_figure(rows_figure(self.positions, self.labels), path)
            return
        x, y = self.positions.T
        write_table(path, {"id": self.ids, "x": x, "y": y, "label": self.labels}, {})


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Groups of rows.

    Attributes
    ----------
    ids : ndarray of shape (n,)
        What rows are called.
    numbers : ndarray of shape (n,)
        Group of each.
    conductances : ndarray of shape (k,)
        Share of each group's ties that lead to other groups; 0 is a clean cut.
    """

    ids: NDArray[Any]
    numbers: NDArray[Any]
    conductances: NDArray[np.float64]

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The result as columns."""
        return {"id": self.ids, "cluster": self.numbers}

    def lines(self) -> list[str]:
        """Return the groups, one a line."""
        sizes = np.bincount(self.numbers)
        return [
            f"group {number}: {size:,} rows, {share:.1%} of its ties lead to other groups"
            for number, (size, share) in enumerate(zip(sizes, self.conductances, strict=True))
        ]

    def record(self) -> dict[str, Any]:
        """Return sizes and cuts."""
        sizes = np.bincount(self.numbers).tolist()
        return {"sizes": sizes, "conductances": self.conductances.tolist()}


def map_of(intake: Intake, options: LearningOptions) -> DataMap:
    """Lay the rows of a table out in two dimensions."""
    graph = _view(intake, options).graph
    enter_stage(Stage.MAP)
    positions = layout_graph(graph, random_state=options.random_state)
    return DataMap(intake.ids, intake.labels, positions)


def eigenmap_of(
    intake: Intake, n_components: int, options: LearningOptions
) -> dict[str, NDArray[Any]]:
    """Return the Laplacian eigenmap of the rows of a table, as columns."""
    view = _view(intake, options)
    enter_stage(Stage.EMBED)
    model = LaplacianEigenmaps(n_components, graph=view.graph, random_state=options.random_state)
    coordinates = model.fit_transform(view.points)
    names = [f"x{number + 1}" for number in range(coordinates.shape[1])]
    return {"id": intake.ids} | dict(zip(names, coordinates.T, strict=True))


def clusters_of(intake: Intake, n_clusters: int, options: LearningOptions) -> Clusters:
    """Split the rows of a table into groups."""
    view = _view(intake, options)
    enter_stage(Stage.CLUSTER)
    model = SpectralClustering(n_clusters, graph=view.graph, random_state=options.random_state)
    model.fit(view.points)
    return Clusters(intake.ids, model.labels_, np.asarray(model.cut_.conductances))


def _view(intake: Intake, options: LearningOptions) -> View:
    """Return the rows as the learners see them: prepared, and joined into a graph."""
    expect(Forecast.of(intake.points).costs())
    return build_view(
        intake.points,
        scale=intake.scale,
        metric=intake.metric,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )
