"""Thesis figure A.1, figure 1 of the eigenfunction paper: two classes on a plane curve.

Nothing enters but the wish for a quick run; six panels, and errors in the plane and in the
eigenmap leave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, FloatVector, IndexVector
from beltrami.data import plane_curve
from beltrami.graph.recipes import KnnGraph
from beltrami.learners import EigenfunctionClassifier
from beltrami.report.pictures.figures import bare
from beltrami.report.pictures.palette import style_of
from beltrami_papers.baselines.neighbors import nearest_label
from beltrami_papers.cells import summary, table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.preparation import draw_per_class, keep_labels
from beltrami_papers.thesis.chapter2.maps import eigenmap_of, explained_share

PER_CLASS = 3
N_POINTS = 500
PLANE, MAP, LEARNER = "1-NN in the plane", "1-NN in the eigenmap", "EigenfunctionClassifier"
_GRAPH = KnnGraph(8, weights="binary", connect="raise")


@dataclass(frozen=True, slots=True, eq=False)
class CurveScene:
    """Everything in the six panels.

    Attributes
    ----------
    points : ndarray of shape (n, 2)
        On the curve.
    classes : ndarray of shape (n,)
        0 for "-" and 1 for "+".
    ideal : ndarray of shape (n, 2)
        The circle that the arc length winds around.
    eigenmap : ndarray of shape (n, 2)
        Computed from the points alone.
    labelled : ndarray of shape (6,)
        Rows with labels.
    query : int
        Row of the "?".
    """

    points: FloatMatrix
    classes: IndexVector
    ideal: FloatMatrix
    eigenmap: FloatMatrix
    labelled: IndexVector
    query: int


def curve_scene(n_points: int = N_POINTS) -> CurveScene:
    """Draw points on the curve and map them."""
    sample = plane_curve(n_points, random_state=0)
    points, classes = np.asarray(sample.points), np.asarray(sample.targets)
    angle = 2 * np.pi * np.asarray(sample.extras["arc_length"]) / sample.extras["length"]
    eigenmap = eigenmap_of(points, _GRAPH).coordinates
    labelled = draw_per_class(classes, PER_CLASS, seed=0)
    return CurveScene(
        points=points,
        classes=classes,
        ideal=np.column_stack([np.cos(angle), np.sin(angle)]),
        eigenmap=eigenmap,
        labelled=labelled,
        query=_misleading_point(points, eigenmap, classes, labelled),
    )


def curve_errors(scene: CurveScene, per_class: int, draws: int) -> dict[str, NDArray[np.float64]]:
    """Return the errors on unlabelled points in percent, with and without the eigenmap."""
    errors: dict[str, list[float]] = {PLANE: [], MAP: [], LEARNER: []}
    learner = EigenfunctionClassifier(graph=_GRAPH).fit(scene.points, scene.classes)
    for draw in range(draws):
        rows = draw_per_class(scene.classes, per_class, seed=draw)
        y = keep_labels(scene.classes, rows)
        answers = {
            PLANE: nearest_label(scene.points, rows, scene.classes),
            MAP: nearest_label(scene.eigenmap, rows, scene.classes),
            LEARNER: learner.fit_labels(y).transduction_,
        }
        for method, answer in answers.items():
            errors[method].append(100 * float(np.mean((answer != scene.classes)[y < 0])))
    return {method: np.array(each) for method, each in errors.items()}


def _plane_curve_figure(scene: CurveScene | None = None) -> Figure:
    """Draw the six panels: a curve whose two halves nearly touch, and its eigenmap, a circle."""
    seen = scene or curve_scene()
    points, eigenmap, classes = seen.points, seen.eigenmap, seen.classes
    figure = Figure(figsize=(10, 6.9), layout="constrained")
    figure.suptitle(
        "In the plane the nearest label misleads; along the curve, which the eigenmap opens into "
        "a ring, it does not"
    )
    panels = figure.subplots(2, 3)
    _draw_classes(panels[0, 0], points, classes, "1. two classes on a plane curve")
    _draw_labels(panels[0, 1], seen, points, "2. labelled examples and '?'")
    _draw_unlabelled(panels[0, 2], points, f"3. {len(points)} random unlabelled examples")
    _draw_classes(panels[1, 0], seen.ideal, classes, "4. ideal representation")
    _draw_labels(panels[1, 1], seen, eigenmap, "5. labels after the eigenmap")
    _draw_unlabelled(panels[1, 2], eigenmap, "6. all examples after the eigenmap")
    return figure


def curve_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.1, with the errors of nearest labels in the plane and in the eigenmap."""
    clock, draws = StageClock(), 3 if quick else 50
    with clock.stage("eigenmap"):
        scene = curve_scene()
    with clock.stage("labels"):
        cells = [
            {"per_class": count, "method": method, **summary(errors)}
            for count in (1, PER_CLASS)
            for method, errors in curve_errors(scene, count, draws).items()
        ]
    question, ring = _query_distances(scene), explained_share(scene.eigenmap, scene.ideal)
    setting = Setting(
        name="thesis-a1",
        source=f"{THESIS}, figure A.1; Belkin and Niyogi (2002), figure 1",
        data="plane_curve, a curve of our own: the text gives no formula",
        n=len(scene.points),
        settings={"graph": "8 nearest neighbours, weights of one", "map": "2 dimensions"},
        seeds=f"points: random_state=0; drawn labels: default_rng(0); draws of the table: "
        f"default_rng(0) to default_rng({draws - 1}), all methods on the same.",
        remarks=[
            "'?' is chosen by rule: of the points of class '+' that are in the plane much nearer "
            "to a '-' than to a '+', the one that the eigenmap puts farthest on the side of '+'.",
            "The errors are not in the text, which shows one draw.",
        ],
    )
    return reproduction_of(
        setting,
        _plane_curve_figure(scene),
        clock,
        claims=_claims(cells, question, ring),
        numbers={"errors": cells, "question": question, "ring": round(ring, 4)},
        body=_error_lines(cells),
    )


def _query_distances(scene: CurveScene) -> dict[str, float]:
    """Return how far the "?" is from the nearest label of each class, in the plane and the map.

    Ratio of the distance to the nearest "+" to that to the nearest "-", below one where the nearest
    label is right.
    """
    return {
        name: round(
            float(_distances(positions, scene, 1)[scene.query])
            / float(_distances(positions, scene, 0)[scene.query]),
            4,
        )
        for name, positions in (("plane", scene.points), ("eigenmap", scene.eigenmap))
    }


def _claims(
    cells: Sequence[Mapping[str, Any]], question: Mapping[str, float], ring: float
) -> list[Claim]:
    mean = {(cell["per_class"], cell["method"]): cell["mean"] for cell in cells}
    return [
        Claim(
            "the two-dimensional eigenmap comes very close to the ideal circle",
            f"a linear map of it explains {ring:.1%} of the circle's variance",
            ring > 0.95,
        ),
        Claim(
            "'?' cannot be told from the labels alone; in the map it falls in the middle of '+'",
            f"its nearest '+' is {question['plane']:.2f} times as far as its nearest '-' in the "
            f"plane, {question['eigenmap']:.2f} times in the map",
            question["plane"] > 1 > question["eigenmap"],
        ),
        Claim(
            "classifiers on the curve have an advantage",
            f"with three labels of each class {mean[PER_CLASS, PLANE]:.1f} percent wrong by the "
            f"nearest label in the plane, {mean[PER_CLASS, MAP]:.1f} in the map",
            mean[PER_CLASS, MAP] < mean[PER_CLASS, PLANE],
        ),
    ]


def _error_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    place = {(cell["per_class"], cell["method"]): cell for cell in cells}
    counts = sorted({cell["per_class"] for cell in cells})
    rows = [
        [
            method,
            *(f"{place[c, method]['mean']:.1f} ± {place[c, method]['std']:.1f}" for c in counts),
        ]
        for method in (PLANE, MAP, LEARNER)
    ]
    header = ["percent of unlabelled points wrong", *(f"{c} per class" for c in counts)]
    lead = f"Mean and standard deviation over {cells[0]['draws']} draws of labels."
    return [lead, "", *table_lines(header, rows, words=(0,))]


def _distances(positions: FloatMatrix, scene: CurveScene, kind: int) -> FloatVector:
    return _to_nearest(positions, scene.labelled[scene.classes[scene.labelled] == kind])


def _to_nearest(positions: FloatMatrix, rows: IndexVector) -> FloatVector:
    gaps: FloatVector = np.linalg.norm(positions[:, None] - positions[rows], axis=2).min(axis=1)
    return gaps


def _misleading_point(
    points: FloatMatrix, eigenmap: FloatMatrix, classes: IndexVector, labelled: IndexVector
) -> int:
    """Return a "+" that is nearer to a "-" in the plane and well among "+" in the eigenmap."""
    minus, plus = (labelled[classes[labelled] == kind] for kind in (0, 1))
    misleading = (classes == 1) & (_to_nearest(points, minus) < 0.6 * _to_nearest(points, plus))
    clear = _to_nearest(eigenmap, minus) - _to_nearest(eigenmap, plus)
    return int(np.argmax(np.where(misleading, clear, -np.inf)))


def _draw_classes(axes: Any, points: FloatMatrix, classes: IndexVector, title: str) -> None:
    for number in (0, 1):
        colour, _ = style_of(number)
        inside = classes == number
        axes.scatter(points[inside, 0], points[inside, 1], s=6, c=colour, linewidths=0)
    _finish(axes, title)


def _draw_labels(axes: Any, scene: CurveScene, points: FloatMatrix, title: str) -> None:
    axes.plot(points[:, 0], points[:, 1], ".", c="0.9", ms=2)
    for number, mark in ((0, "$-$"), (1, "$+$")):
        colour, _ = style_of(number)
        chosen = scene.labelled[scene.classes[scene.labelled] == number]
        axes.scatter(points[chosen, 0], points[chosen, 1], marker=mark, c=colour, s=130)
    axes.scatter(*points[scene.query], marker="$?$", c="black", s=150)
    _finish(axes, title)


def _draw_unlabelled(axes: Any, points: FloatMatrix, title: str) -> None:
    axes.scatter(points[:, 0], points[:, 1], s=5, c="0.35", linewidths=0)
    _finish(axes, title)


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize="medium")
    axes.set_aspect("equal", adjustable="datalim")
    bare(axes)
