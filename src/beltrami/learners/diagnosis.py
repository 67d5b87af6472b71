"""What `diagnose()` returns: facts about a fit's graph and labels, and supervised baselines."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Points
from beltrami.graph.model import Graph
from beltrami.learners.baselines import ColumnScale, neighbors_among, ridge_path
from beltrami.learners.leave_one_out import mean_of_others
from beltrami.learners.model import Labeled, LeftOut

_CLEARLY = 2.5
"""Standard errors by which a baseline must be better before the graph is called no help."""

FEWEST_NET_ERRORS = 5
"""Errors that a baseline must make fewer, for the same."""

_RIDGES = np.geomspace(1e-4, 1e3, 15)  # penalties tried, over the mean squared singular value
_VOTERS = (1, 3, 5)  # neighbours tried


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """Facts about a fitted learner.

    Attributes
    ----------
    learner : str
        Its class.
    n_points, n_labels : int
        Sizes.
    class_counts : dict of str to int
        Labels per class; empty for a regression.
    n_components : int
        Connected components of the graph.
    n_components_unlabeled : int
        Those without a label.
    n_unreached : int
        Rows in them.
    n_label_pairs : int
        Edges of the graph that join two labelled rows.
    purity : float or None
        Weighted share of those that join the same class; None without such edges or classes.
    choices : tuple of str
        What was chosen from the data, and why.
    measure : str
        "error rate" or "mean squared error".
    held_out : float or None
        The learner's own, each label predicted by the others on the unchanged graph; None where no
        class has two labels, since an only label cannot be predicted by others.
    baselines : dict of str to float
        The same of learners that see the labelled rows only.
    n_left_out : int
        Labels that were left out in turn: those whose class has another, a sample of many.
    is_beaten : bool
        Whether a baseline is clearly better.
    advice : tuple of str
        What to do, most important first.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import PoissonClassifier, load_dataset
    >>> flowers = load_dataset("iris")
    >>> y = np.where(np.arange(150) % 10 == 0, flowers.targets, -1)
    >>> diagnosis = PoissonClassifier().fit(flowers.points, y).diagnose()
    >>> diagnosis.n_labels, diagnosis.class_counts
    (15, {'0': 5, '1': 5, '2': 5})
    """

    learner: str
    n_points: int
    n_labels: int
    class_counts: dict[str, int]
    n_components: int
    n_components_unlabeled: int
    n_unreached: int
    n_label_pairs: int
    purity: float | None
    choices: tuple[str, ...]
    measure: str
    held_out: float | None
    baselines: dict[str, float]
    n_left_out: int
    is_beaten: bool
    advice: tuple[str, ...]

    def __str__(self) -> str:
        show = "{:.1%}".format if self.measure == "error rate" else "{:.4g}".format
        purity = "-" if self.purity is None else f"{self.purity:.1%}"
        rows = [
            ("points", f"{self.n_points}, of which {self.n_labels} labelled"),
            ("components", f"{self.n_components}; without a label {self.n_components_unlabeled}"),
            ("not reached", f"{self.n_unreached} points"),
            ("label purity", f"{purity} of {self.n_label_pairs} edges between labelled points"),
            (f"{self.measure}, held out", self._held_out_text(show)),
            *((f"  {name}, labels alone", show(value)) for name, value in self.baselines.items()),
        ]
        if self.class_counts:
            counts = sorted(self.class_counts.items(), key=lambda item: item[1])
            (least, fewest), (most, largest) = counts[0], counts[-1]
            spread = f"{fewest} labels each"
            if fewest != largest:
                spread = f"fewest labels {fewest} (class {least}), most {largest} (class {most})"
            rows.insert(1, ("classes", f"{len(counts)}, {spread}"))
        width = max(len(name) for name, _ in rows)
        lines = [self.learner, *(f"  {name:<{width}}  {value}" for name, value in rows)]
        lines += [f"  chosen: {reason}" for reason in self.choices]
        lines += [f"  ! {line}" for line in self.advice]
        return "\n".join(lines)

    __repr__ = __str__

    def _held_out_text(self, show: Callable[[float], str]) -> str:
        if self.held_out is None:
            return "cannot be judged: no class has two labels"
        return f"{show(self.held_out)} on {self.n_left_out} labels"


def diagnosis_of(
    learner: str,
    graph: Graph,
    points: Points,
    metric: Any,
    labeled: Labeled,
    reached: BoolVector,
    left_out: LeftOut,
    choices: tuple[str, ...],
    names: tuple[str, ...],
) -> Diagnosis:
    """Gather the facts of a fit.

    `metric` is that of the recipe; None, for a given graph, leaves the baselines Euclidean. `names`
    are those of the classes, empty for a regression.
    """
    is_class = bool(names)
    left_out = _predictable(left_out) if is_class else left_out
    losses = _losses(left_out.scores, left_out, is_class=is_class)
    rivals = {
        name: _losses(scores, left_out, is_class=is_class)
        for name, scores in _baselines(points, metric, left_out, is_class=is_class).items()
    }
    count, membership = graph.components()
    n_unlabeled = count - len(np.unique(membership[labeled.rows]))
    n_pairs, purity = _purity(graph, labeled) if is_class else (0, None)
    least = FEWEST_NET_ERRORS if is_class else 0
    beaten = [name for name, rival in rivals.items() if is_clear(losses - rival, least)]
    average = {name: _mean(rival, left_out) for name, rival in rivals.items()}
    advice = _advice(beaten, average, n_unlabeled, int((~reached).sum()), purity, n_pairs)
    has_label = np.asarray(labeled.targets.any(axis=0))
    without_label = [name for name, known in zip(names, has_label, strict=False) if not known]
    if without_label:
        missing = ", ".join(without_label)
        advice += (f"class(es) {missing} have no label and are never predicted.",)
    return Diagnosis(
        learner=learner,
        n_points=graph.n_nodes,
        n_labels=len(labeled.rows),
        class_counts=dict(
            zip(names, (labeled.targets > 0).sum(axis=0).astype(int).tolist(), strict=True)
        )
        if is_class
        else {},
        n_components=count,
        n_components_unlabeled=n_unlabeled,
        n_unreached=int((~reached).sum()),
        n_label_pairs=n_pairs,
        purity=purity,
        choices=choices,
        measure="error rate" if is_class else "mean squared error",
        held_out=_mean(losses, left_out) if len(losses) else None,
        baselines=average,
        n_left_out=len(left_out.rows),
        is_beaten=bool(beaten),
        advice=advice,
    )


def _losses(scores: FloatMatrix, left_out: LeftOut, *, is_class: bool) -> FloatVector:
    truth = left_out.targets
    if is_class:
        return np.asarray(scores.argmax(axis=1) != truth.argmax(axis=1), dtype=np.float64)
    return np.asarray(((scores - truth) ** 2).sum(axis=1))


def _mean(losses: FloatVector, left_out: LeftOut) -> float:
    return float(np.average(losses, weights=left_out.weights))


def _predictable(left_out: LeftOut) -> LeftOut:
    """Keep the labels whose class has another: an only label cannot be predicted by others."""
    codes = left_out.targets.argmax(axis=1)
    kept = np.bincount(codes, minlength=left_out.targets.shape[1])[codes] > 1
    return LeftOut(
        left_out.rows[kept], left_out.targets[kept], left_out.scores[kept], left_out.weights[kept]
    )


def is_clear(gaps: FloatVector, least: float) -> bool:
    """Say whether a mean of paired differences is clearly above zero, and their sum at `least`."""
    if len(gaps) < 5 or gaps.sum() < least:
        return False
    error = float(gaps.std(ddof=1)) / np.sqrt(len(gaps))
    return bool(gaps.mean() > _CLEARLY * error and gaps.mean() > 0)


def _purity(graph: Graph, labeled: Labeled) -> tuple[int, float | None]:
    """Return how many edges join two labels, and the weighted share that join the same class."""
    codes = labeled.targets.argmax(axis=1)
    inner = graph.weights[labeled.rows][:, labeled.rows].tocoo()
    if inner.nnz == 0:
        return 0, None
    rows, columns = inner.coords
    same = codes[rows] == codes[columns]
    return inner.nnz // 2, float(inner.data[same].sum() / inner.data.sum())


def _baselines(
    points: Points, metric: Any, left_out: LeftOut, *, is_class: bool
) -> dict[str, FloatMatrix]:
    """Return held-out predictions of k-NN (the best k) and ridge, from the labelled rows alone."""
    rows = left_out.rows
    if len(rows) < 3:
        return {}
    inputs = points[rows][:, rows] if metric == "precomputed" else points[rows]
    labeled = Labeled(rows, left_out.targets, left_out.weights)
    votes = _neighbor_votes(inputs, metric or "euclidean", left_out)
    best = min(votes, key=lambda k: _mean(_losses(votes[k], left_out, is_class=is_class), left_out))
    baselines = {"the most frequent" if is_class else "the mean": mean_of_others(labeled)}
    baselines[f"{best}-NN"] = votes[best]
    if metric != "precomputed":
        baselines["ridge"] = _ridge(inputs, left_out, is_class=is_class)
    return baselines


def _neighbor_votes(points: Points, metric: Any, left_out: LeftOut) -> dict[int, FloatMatrix]:
    """Return the mean target of the k nearest other labels, by k."""
    k = min(max(_VOTERS), len(left_out.rows) - 1)
    lists = neighbors_among(points, metric, k)
    return {
        n: left_out.targets[lists[:, :n]].mean(axis=1)
        # The nearest breaks a tie.
        + 1e-6 * left_out.targets[lists[:, 0]]
        for n in _VOTERS
        if n <= k
    }


def _ridge(points: Points, left_out: LeftOut, *, is_class: bool) -> FloatMatrix:
    """Return exact leave-one-out predictions of ridge regression, at its best strength."""
    dense = points.toarray() if issparse(points) else np.asarray(points)
    rows = np.asarray(ColumnScale.of(dense).apply(dense))
    path = ridge_path(rows, np.ones(len(rows)))
    size = float((rows**2).sum()) / min(rows.shape)
    best: tuple[float, FloatMatrix] = (np.inf, left_out.targets)
    for strength in _RIDGES * max(size, 1e-300):
        scores = path.held_out(left_out.targets, strength).values
        loss = _mean(_losses(scores, left_out, is_class=is_class), left_out)
        if loss < best[0]:
            best = (loss, scores)
    return best[1]


def _advice(
    beaten: list[str],
    baselines: dict[str, float],
    n_unlabeled: int,
    n_unreached: int,
    purity: float | None,
    n_pairs: int,
) -> tuple[str, ...]:
    lines = []
    if beaten:
        name = min(beaten, key=baselines.__getitem__)
        lines.append(
            f"the graph does not help here: {name} on the labelled rows alone does clearly better "
            "on held-out labels. Use it, or try another metric, scaling or graph."
        )
    if n_unreached:
        lines.append(
            f"{n_unreached} points in {n_unlabeled} component(s) have no label to learn from: "
            "label one in each, join more neighbours (n_neighbors or radius), or use connect='mst'."
        )
    if purity is not None and n_pairs >= 10 and purity < 0.5:
        lines.append(
            f"only {purity:.0%} of the edges between labelled points join the same class: the "
            "metric does not see the classes."
        )
    return tuple(lines)
