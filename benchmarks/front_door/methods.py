"""The entrants: the front door, our single methods, the peers, and what the labels alone can do.

An entrant may prepare what needs the points only; then it learns from the labelled rows and
answers for every row. No entrant is told the sizes of the classes, and no setting here was changed
after a look at an error on unlabelled rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import issparse

from beltrami_papers.preparation import keep_labels
from benchmarks.common.draws import labelled_rows
from benchmarks.common.threads import threads
from benchmarks.few_labels.methods import Method
from benchmarks.few_labels.methods import methods as few_label_methods
from benchmarks.few_labels.problems import NEIGHBORS
from benchmarks.front_door.problems import DoorProblem
from benchmarks.manifold.rivals import share_kernels

FRONT_DOOR = "front-door"
TRIED = "tried: "
"""Begins the names of rows for what the front door tried on its way."""

COVERAGE = 0.9
_MACHINES = ("LaplacianRLSClassifier", "LaplacianSVC")


@dataclass(frozen=True, eq=False)
class Answer:
    """A class for every row, -1 for none, and what else the entrant says.

    `sets` tells for every row and class whether the class is in the row's prediction set; `tried`
    holds the classes by other methods that were learned on the way.
    """

    codes: np.ndarray
    probabilities: np.ndarray | None = None
    chosen: str = ""
    sets: np.ndarray | None = None
    tried: Mapping[str, np.ndarray] = field(default_factory=dict)


Learn = Callable[[DoorProblem, np.ndarray], Answer]


@dataclass(frozen=True, eq=False)
class Entrant:
    """A learner by name; `prepare`, where there is one, is called once for each problem."""

    name: str
    learn: Learn
    prepare: Callable[[DoorProblem], None] | None = None
    needs: str = ""

    def missing(self) -> str:
        """Say what this entrant lacks here; empty where it can run."""
        return Method("", self.name, self.learn, needs=self.needs).missing()


def entrants() -> list[Entrant]:
    """Return all entrants, in the order of the tables."""
    return [
        _front_door(),
        _ours("eigenfunctions", "EigenfunctionClassifier"),
        _ours("spectral ridge", "EigenfunctionClassifier", gamma="auto"),
        _ours("graph-regularized", "GraphRegularizedClassifier"),
        _ours("Poisson", "PoissonClassifier", weights="tuned_shared"),
        _ours("LapRLS", "LaplacianRLSClassifier"),
        _ours("LapSVM", "LaplacianSVC"),
        Entrant("peer: scikit-learn LabelSpreading", _spread, _list_neighbors),
        Entrant("peer: scikit-learn SelfTraining, logistic", _self_train),
        _of_few_labels("peer: graphlearning Poisson", needs="graphlearning"),
        Entrant("labels alone: logistic regression", _logistic),
        Entrant("labels alone: logistic regression, scaled on all rows", _logistic_all),
        Entrant("labels alone: logistic regression, unscaled", _logistic_raw),
        _of_few_labels("labels alone: 1-NN"),
    ]


def _front_door() -> Entrant:
    """The estimator with no argument, on the data as loaded."""

    def prepare(problem: DoorProblem) -> None:
        from beltrami import ManifoldClassifier  # noqa: PLC0415 - may not be there

        problem.models[FRONT_DOOR] = ManifoldClassifier().fit(problem.raw, _first_labels(problem))

    def learn(problem: DoorProblem, rows: np.ndarray) -> Answer:
        model = problem.models[FRONT_DOOR]
        model.fit_labels(keep_labels(problem.targets, rows))
        sets = model.prediction_sets(coverage=COVERAGE) if _has(model, "prediction_sets") else None
        tried = {}
        if _has(model, "candidates_") and _has(model, "candidate_codes"):
            tried = {one.name: model.candidate_codes(one.name) for one in model.candidates_}
        return Answer(
            np.asarray(model.transduction_),
            np.asarray(model.label_distributions_),
            str(model.method_),
            None if sets is None else np.asarray(sets),
            {name: np.asarray(codes) for name, codes in tried.items()},
        )

    return Entrant(FRONT_DOOR, learn, prepare, "beltrami:ManifoldClassifier")


def _has(model: Any, name: str) -> bool:
    return hasattr(model, name)


def _first_labels(problem: DoorProblem) -> np.ndarray:
    """Return labels to prepare with: always the same, so that a resumed run answers the same."""
    return keep_labels(problem.targets, labelled_rows(problem.targets, 1, 0))


def _ours(title: str, class_name: str, *, weights: str = "", **settings: Any) -> Entrant:
    """A single method with its defaults; of texts by angle and, for machines, with cosines."""

    def prepare(problem: DoorProblem) -> None:
        import beltrami  # noqa: PLC0415 - as late as the peers

        kind, options = getattr(beltrami, class_name), dict(settings)
        if "random_state" in kind().get_params():
            options["random_state"] = 0
        if class_name in _MACHINES:
            # A recipe, not the graph: without one the machines leave out their eigenfunctions.
            options["graph"] = beltrami.KnnGraph(NEIGHBORS, metric=problem.metric)
            options |= {"kernel": "cosine"} if problem.is_text else {}
            kind = share_kernels(kind, problem.models.get("LapRLS"))
        elif weights:
            options["graph"] = beltrami.KnnGraph(NEIGHBORS, metric=problem.metric, weights=weights)
        else:
            options["graph"] = problem.graph
        problem.models[title] = kind(**options).fit(problem.points, _first_labels(problem))

    def learn(problem: DoorProblem, rows: np.ndarray) -> Answer:
        model = problem.models[title].fit_labels(keep_labels(problem.targets, rows))
        return Answer(np.asarray(model.transduction_), np.asarray(model.label_distributions_))

    return Entrant(f"ours: {title}", learn, prepare, f"beltrami:{class_name}")


def _of_few_labels(name: str, needs: str = "") -> Entrant:
    """A method of the contest of few labels, as it is called there."""
    method = next(one for one in few_label_methods() if one.name == name)

    def prepare(problem: DoorProblem) -> None:
        for part in method.inputs:
            getattr(problem, part)

    return Entrant(name, lambda *task: Answer(np.asarray(method.fit(*task))), prepare, needs)


def _list_neighbors(problem: DoorProblem) -> None:
    problem.directed  # noqa: B018 - made once and kept


def _spread(problem: DoorProblem, rows: np.ndarray) -> Answer:
    """``LabelSpreading(kernel="knn", n_neighbors=10)``, spared its search."""
    from sklearn.semi_supervised import LabelSpreading  # noqa: PLC0415

    model = LabelSpreading(
        kernel=lambda *_: problem.directed, n_neighbors=NEIGHBORS, n_jobs=threads()
    )
    model.fit(problem.points, keep_labels(problem.targets, rows))
    # Rows that no label reaches are 0 / 0 there.
    return Answer(model.transduction_, np.nan_to_num(model.label_distributions_))


def _self_train(problem: DoorProblem, rows: np.ndarray) -> Answer:
    from sklearn.semi_supervised import SelfTrainingClassifier  # noqa: PLC0415

    model = SelfTrainingClassifier(_scaled_logistic(problem))
    model.fit(problem.points, keep_labels(problem.targets, rows))
    return _answer_of(model, problem.points)


def _logistic(problem: DoorProblem, rows: np.ndarray) -> Answer:
    """Scaled by the labelled rows, as a pipeline fitted on them would be; of texts not scaled."""
    return _alone(_scaled_logistic(problem), problem.points, problem, rows)


def _logistic_all(problem: DoorProblem, rows: np.ndarray) -> Answer:
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    if issparse(problem.points):
        return _logistic_raw(problem, rows)
    points = StandardScaler().fit_transform(problem.points)
    return _alone(_plain_logistic(), points, problem, rows)


def _logistic_raw(problem: DoorProblem, rows: np.ndarray) -> Answer:
    return _alone(_plain_logistic(), problem.points, problem, rows)


def _alone(model: Any, points: Any, problem: DoorProblem, rows: np.ndarray) -> Answer:
    return _answer_of(model.fit(points[rows], problem.targets[rows]), points)


def _scaled_logistic(problem: DoorProblem) -> Any:
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    if issparse(problem.points):
        return _plain_logistic()
    return make_pipeline(StandardScaler(), _plain_logistic())


def _plain_logistic() -> Any:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    return LogisticRegression(max_iter=1000)


def _answer_of(model: Any, points: Any) -> Answer:
    probabilities = model.predict_proba(points)
    return Answer(model.classes_[probabilities.argmax(axis=1)], probabilities)
