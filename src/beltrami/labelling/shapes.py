"""The shape of a table without learning: a map, eigenmap coordinates, clusters."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, Seed
from beltrami.embeddings import LaplacianEigenmaps, SpectralClustering
from beltrami.embeddings.layout import layout_graph
from beltrami.front_door.prepare import View, build_view
from beltrami.labelling.intake import Intake
from beltrami.report.pictures.figures import PICTURES, as_written, save_figure
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
            save_figure(self.figure(), path)
            return
        x, y = self.positions.T
        write_table(path, {"id": self.ids, "x": x, "y": y, "label": self.labels}, {})

    def figure(self) -> Any:
        """Draw the map: rows without a label in grey, labels in colour."""
        from matplotlib.figure import Figure

        from beltrami.report.pictures.palette import OKABE_ITO

        picture = Figure(figsize=(8, 7), layout="constrained")
        axes = picture.subplots()
        known = np.array([value is not None for value in self.labels])
        x, y = self.positions.T
        axes.scatter(x[~known], y[~known], s=4, c="0.75", linewidths=0, rasterized=True)
        names = list(dict.fromkeys(str(value) for value in self.labels[known]))
        for number, name in enumerate(sorted(names)):
            own = known & np.array([str(value) == name for value in self.labels])
            colour = OKABE_ITO[number % len(OKABE_ITO)]
            shown = as_written(name)
            axes.scatter(x[own], y[own], s=24, color=colour, edgecolors="w", label=shown)
        axes.set_aspect("equal")
        axes.set_axis_off()
        if names and len(names) <= 20:
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
        axes.set_title(f"Map of {len(self.ids):,} rows, {int(known.sum()):,} labelled")
        return picture


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


def _seen(intake: Intake, random_state: Seed, n_jobs: int | None) -> View:
    return build_view(
        intake.points,
        scale=intake.scale,
        metric=intake.metric,
        random_state=random_state,
        n_jobs=n_jobs,
    )


def map_of(intake: Intake, *, random_state: Seed = 0, n_jobs: int | None = None) -> DataMap:
    """Lay the rows of a table out in two dimensions."""
    graph = _seen(intake, random_state, n_jobs).graph
    return DataMap(intake.ids, intake.labels, layout_graph(graph, random_state=random_state))


def eigenmap_of(
    intake: Intake, n_components: int, *, random_state: Seed = 0, n_jobs: int | None = None
) -> dict[str, NDArray[Any]]:
    """Return the Laplacian eigenmap of the rows of a table, as columns.

    Returns shape (n,).
    """
    view = _seen(intake, random_state, n_jobs)
    model = LaplacianEigenmaps(n_components, graph=view.graph, random_state=random_state)
    found = model.fit_transform(view.points)
    names = [f"x{number + 1}" for number in range(found.shape[1])]
    return {"id": intake.ids} | dict(zip(names, found.T, strict=True))


def clusters_of(
    intake: Intake, n_clusters: int, *, random_state: Seed = 0, n_jobs: int | None = None
) -> Clusters:
    """Split the rows of a table into groups."""
    view = _seen(intake, random_state, n_jobs)
    model = SpectralClustering(n_clusters, graph=view.graph, random_state=random_state)
    model.fit(view.points)
    return Clusters(intake.ids, model.labels_, np.asarray(model.cut_.conductances))
