"""The methods: each takes a problem and the labelled rows and returns a class for every row.

Ours first, then the peers on the same graph, the peer that makes its own lists from the points,
and what the labelled rows alone can do. No method is told the sizes of the classes.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import numpy as np

from beltrami_papers.baselines.neighbors import nearest_label
from beltrami_papers.preparation import keep_labels
from benchmarks.common.threads import threads
from benchmarks.few_labels.problems import NEIGHBORS, FewLabels

Learner = Callable[[FewLabels, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Method:
    """A learner and how it is run.

    `fit` learns from nothing but the problem and the labelled rows. `again`, where there is one,
    learns from other labels with what the last `fit` on this problem left behind; with
    `clock_again` it is what is timed, after one `fit`. `inputs` are the attributes of the problem
    to be made before the clock starts. `needs` names a module, or a name of beltrami.
    """

    side: str
    title: str
    fit: Learner
    again: Learner | None = None
    clock_again: bool = False
    inputs: tuple[str, ...] = ("weights",)
    needs: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """The key under which the row is kept, and what ``--only`` is matched against."""
        return f"{self.side}: {self.title}"

    def missing(self) -> str:
        """Say what this method lacks here; empty where it can run."""
        module, _, thing = self.needs.partition(":")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = import_module(module) if module else None
                if thing:
                    getattr(loaded, thing)
        except ImportError:
            return f"{module} is not installed or cannot be imported"
        except AttributeError:
            return f"{module} has no {thing} yet"
        return ""


def methods() -> list[Method]:
    """Return all methods, in the order of the table."""
    alone = partial(Method, "labels alone", inputs=())
    return [
        _ours("Poisson, plain", "PoissonClassifier", n_steps=0),
        _ours("Poisson, defaults on that graph", "PoissonClassifier"),
        _ours("Poisson, all defaults", "PoissonClassifier", own_graph=True),
        _ours("graph-regularized least squares", "GraphRegularizedClassifier"),
        _ours("graph-regularized, no class mass", "GraphRegularizedClassifier", class_mass=None),
        _ours("eigenfunctions", "EigenfunctionClassifier"),
        _ours("spectral ridge", "EigenfunctionClassifier", gamma="auto"),
        _ours("geodesic neighbours", "GeodesicNeighborsClassifier"),
        graphlearning_method("Poisson", "poisson", use_cuda=False),
        graphlearning_method("Laplace", "laplace"),
        _diffusion(10, "default"),
        _diffusion(200),
        _spreading(0.2, "default"),
        _spreading(0.99),
        alone("1-NN", _nearest),
        alone("logistic regression", _logistic),
    ]


def _ours(title: str, class_name: str, *, own_graph: bool = False, **settings: object) -> Method:
    def fit(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        import beltrami  # noqa: PLC0415 - as late as the peers

        graph = {} if own_graph else {"graph": problem.graph}
        model = getattr(beltrami, class_name)(**graph, **settings)
        problem.models[title] = model
        model.fit(problem.points, keep_labels(problem.targets, rows))
        return np.asarray(model.transduction_)

    def again(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        model = problem.models[title]
        model.fit_labels(keep_labels(problem.targets, rows))
        return np.asarray(model.transduction_)

    note = "its own graph; seconds of fit_labels, peak MB of a fit with the graph"
    needs = f"beltrami:{class_name}"
    return Method("ours", title, fit, again, own_graph, (), needs, note if own_graph else "")


def graphlearning_method(title: str, class_name: str, **settings: object) -> Method:
    """Return graphlearning's class; by default it takes conjugate gradients, no class priors."""

    def fit(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        import graphlearning  # noqa: PLC0415 - optional

        model = getattr(graphlearning.ssl, class_name)(problem.weights, **settings)
        # A number that no label has would be a class of its own, which wins where others are below.
        classes, codes = np.unique(problem.targets[rows], return_inverse=True)
        return np.asarray(classes[model.fit_predict(rows, codes)])

    return Method("peer", f"graphlearning {title}", fit, needs="graphlearning")


def _diffusion(sweeps: int, remark: str = "") -> Method:
    """scikit-network's ``DiffusionClassifier``, all else at its defaults."""

    def fit(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        from sknetwork.classification import DiffusionClassifier  # noqa: PLC0415 - optional

        model = DiffusionClassifier(n_iter=sweeps)
        labels = keep_labels(problem.targets, rows)
        return np.asarray(model.fit_predict(problem.weights, labels))

    title = f"scikit-network diffusion, {sweeps} sweeps" + (f" ({remark})" if remark else "")
    return Method("peer", title, fit, needs="sknetwork")


def spread(problem: FewLabels, rows: np.ndarray, *, alpha: float, kernel: object) -> np.ndarray:
    """Return the transduction of scikit-learn's ``LabelSpreading`` with this kernel."""
    from sklearn.semi_supervised import LabelSpreading  # noqa: PLC0415

    model = LabelSpreading(kernel=kernel, n_neighbors=NEIGHBORS, alpha=alpha, n_jobs=threads())
    model.fit(problem.points, keep_labels(problem.targets, rows))
    return np.asarray(model.transduction_)


def _spreading(alpha: float, remark: str = "") -> Method:
    """``LabelSpreading(kernel="knn")``, spared its search by a kernel that returns the matrix."""

    def fit(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        return spread(problem, rows, alpha=alpha, kernel=lambda *_: problem.directed)

    title = f"scikit-learn LabelSpreading, alpha {alpha:g}" + (f" ({remark})" if remark else "")
    note = "own directed 10-NN lists, their search not counted"
    return Method("peer", title, fit, inputs=("directed",), note=note)


def _nearest(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
    return nearest_label(problem.points, rows, problem.targets, n_jobs=threads())


def _logistic(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415

    model = LogisticRegression(max_iter=1000)
    return model.fit(problem.points[rows], problem.targets[rows]).predict(problem.points)
