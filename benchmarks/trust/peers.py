"""Peers on the same labels and the same rows, beside the front door on sets that were left out.

``python -m benchmarks.trust.peers``, after ``benchmarks.trust.fit``, whose record of every draw it
reads. All stand on equal terms: peers see the points that the front door's baselines see, columns
on one scale where their units differ (`View.plain`), and those that look at distances see rows of
length one where the front door compares by angle. Their accuracies are kept in the cache, set by
set; what is there is not worked out again.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import SelfTrainingClassifier

from beltrami import KnnGraph
from beltrami.core.files import write_text
from beltrami.front_door.prepare import prepare
from beltrami_papers.preparation import keep_labels
from benchmarks.common.command import CACHE, RESULTS
from benchmarks.common.facts import SEED, circumstances, package_version
from benchmarks.common.pages import load_record, write_results
from benchmarks.common.threads import set_threads
from benchmarks.few_labels.methods import Method, graphlearning_method
from benchmarks.few_labels.methods import methods as few_label_methods
from benchmarks.few_labels.problems import NEIGHBORS, FewLabels, timed_graph
from benchmarks.trust import fit
from benchmarks.trust.sets import KINDS, PER_CLASS, TrustSet, load_set, set_names
from benchmarks.trust.standings import compare, measure, render

STEM = "trust_peers"
FOLDER = CACHE / STEM
MOST_ROWS = 20_000
"""Rows up to which label spreading, whose search compares all rows with all, and self-training,
which fits ten times to nearly all of them, are tried."""
BOOSTED_AT = (10,)
"""Labels per class at which boosting is tried: fewer leave nothing to split."""


@dataclass(frozen=True, eq=False)
class PeerProblem(FewLabels):
    """A set as peers get it; `plain` is what the front door's baselines see.

    `points` are the same, of length one where rows are compared by angle; the graph is theirs, ten
    neighbours with self-tuning weights, as in the contest of few labels.
    """

    plain: Any = None


Learner = Callable[[PeerProblem, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Peer:
    """A learner: of a problem, labelled rows and rows to judge, the classes of the latter.

    `call` says how it is made. It is tried with as many labels per class as `counts` lists, up to
    `most_rows`, and on sparse points only if it `takes_sparse` ones. `needs` names a module.
    """

    name: str
    call: str
    learn: Learner
    counts: tuple[int, ...] = PER_CLASS
    most_rows: int | None = None
    takes_sparse: bool = True
    needs: str = ""

    def missing(self) -> str:
        """Say what this peer lacks here; empty where it can run."""
        return Method("", self.name, self.learn, needs=self.needs).missing()

    def skip_reason(self, problem: PeerProblem) -> str:
        """Say why it is not tried on a problem, or nothing."""
        if self.most_rows is not None and problem.size > self.most_rows:
            return f"above {self.most_rows:,} rows: it takes too long"
        if not self.takes_sparse and issparse(problem.plain):
            return "sparse points: it takes none"
        return ""


def peers() -> list[Peer]:
    """Return all peers, in the order of the page."""
    known = {method.name: method for method in few_label_methods()}
    boosting = {"counts": BOOSTED_AT, "takes_sparse": False}
    return [
        Peer("logistic", "`LogisticRegression(C=1)`", _alone(_logistic)),
        _transductive("1-NN", "`KNeighborsClassifier(1)`", known["labels alone: 1-NN"]),
        Peer("forest", "`RandomForestClassifier(200)`", _alone(_forest)),
        Peer(
            "boosting",
            "`HistGradientBoostingClassifier()`, whose leaves hold at least 20 labels: fewer than "
            "40, such as ten of each of three classes, are not split, and one class is said of all",
            _alone(_boosting),
            **boosting,
        ),
        Peer(
            "boosting, leaves of 5",
            "`HistGradientBoostingClassifier(min_samples_leaf=5)`",
            _alone(lambda: _boosting(min_samples_leaf=5)),
            **boosting,
        ),
        Peer(
            "self-training",
            "`SelfTrainingClassifier(LogisticRegression(C=1))`",
            _self_train,
            most_rows=MOST_ROWS,
        ),
        _transductive(
            "label spreading",
            f'`LabelSpreading(kernel="knn", n_neighbors={NEIGHBORS})`',
            known["peer: scikit-learn LabelSpreading, alpha 0.2 (default)"],
            most_rows=MOST_ROWS,
        ),
        _transductive(
            "graphlearning Poisson",
            f"`graphlearning.ssl.poisson` on our graph of {NEIGHBORS} neighbours, self-tuning",
            known["peer: graphlearning Poisson"],
        ),
        _transductive(
            "graphlearning Poisson, descent",
            'the same with `solver="gradient_descent"`, which stops early',
            graphlearning_method("Poisson", "poisson", solver="gradient_descent", use_cuda=False),
        ),
    ]


def _alone(make: Callable[[], Any]) -> Learner:
    """Return a learner of the labelled rows only."""

    def learn(problem: PeerProblem, rows: np.ndarray, judged: np.ndarray) -> np.ndarray:
        model = make().fit(problem.plain[rows], problem.targets[rows])
        return np.asarray(model.predict(problem.plain[judged]))

    return learn


def _transductive(name: str, call: str, method: Method, **options: Any) -> Peer:
    """Return a method of the contest of few labels, as it is called there."""

    def learn(problem: PeerProblem, rows: np.ndarray, judged: np.ndarray) -> np.ndarray:
        return np.asarray(method.fit(problem, rows))[judged]

    return Peer(name, call, learn, needs=method.needs, **options)


def _self_train(problem: PeerProblem, rows: np.ndarray, judged: np.ndarray) -> np.ndarray:
    model = SelfTrainingClassifier(_logistic())
    model.fit(problem.plain, keep_labels(problem.targets, rows))
    return np.asarray(model.predict(problem.plain[judged]))


def _logistic() -> Any:
    return LogisticRegression(max_iter=200)  # as many steps as the front door's own takes


def _forest() -> Any:
    return RandomForestClassifier(200, random_state=SEED)


def _boosting(**settings: Any) -> Any:
    return HistGradientBoostingClassifier(random_state=SEED, **settings)


def pose(one: TrustSet) -> PeerProblem:
    """Return a set as peers get it."""
    preparation = prepare(one.points, **one.view_options)
    plain = preparation.rescale(one.points)
    points = csr_array(normalize(plain)) if preparation.metric == "angle" else plain
    recipe = KnnGraph(NEIGHBORS, metric=preparation.metric, random_state=SEED, n_jobs=1)
    name = f"trust-{one.name.replace(' ', '-')}"
    made = timed_graph(f"{name}-graph-{NEIGHBORS}", points, recipe)
    return PeerProblem(name, points, one.targets, *made, plain=plain)


def work_out(name: str, data: Path, draws: int) -> tuple[str, float]:
    """Ask all peers of one set what they were not asked before; return the seconds."""
    place = FOLDER / f"{name.replace(' ', '_')}.json"
    empty: dict[str, Any] = {"set": name, "draws": {}, "notes": {}, "cells": {}}
    record = json.loads(place.read_text(encoding="utf-8")) if place.exists() else empty
    todo = [p for p in peers() if record["draws"].get(p.name, 0) < draws and not p.missing()]
    if not todo:
        return name, 0.0
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    one = load_set(name, data)
    problem = pose(one)
    record["notes"] |= {peer.name: peer.skip_reason(problem) for peer in todo}
    tried = [peer for peer in todo if not record["notes"][peer.name]]
    for per_class in filter(one.can_draw, PER_CLASS):
        some = [peer for peer in tried if per_class in peer.counts]
        for kind in KINDS:
            for draw in range(draws):
                cell = record["cells"].setdefault(f"{per_class}|{kind}|{draw}", {})
                _ask(one, problem, [peer for peer in some if peer.name not in cell], cell,
                     per_class=per_class, kind=kind, draw=draw)  # fmt: skip
            _keep(place, record)
    record["draws"] |= {peer.name: draws for peer in todo}
    _keep(place, record)
    return name, time.perf_counter() - started


def _ask(
    one: TrustSet, problem: PeerProblem, some: list[Peer], cell: dict[str, list[float]],
    *, per_class: int, kind: str, draw: int,
) -> None:  # fmt: skip
    """Write the accuracy and the seconds of the processor of some peers into a cell."""
    rows = one.draw(per_class, kind, draw)
    judged = one.judged(rows, per_class, draw)
    for peer in some:
        started = time.process_time()
        right = peer.learn(problem, rows, judged) == one.targets[judged]
        seconds = time.process_time() - started
        cell[peer.name] = [round(float(right.mean()), 5), round(seconds, 3)]


def _keep(place: Path, record: dict[str, Any]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    write_text(place, json.dumps(record) + "\n")


def collect(front: dict[str, Any], draws: int, before: Path | None = None) -> dict[str, Any]:
    """Return the record: peers from the cache beside the front door, draw by draw."""
    stored = [json.loads(one.read_text(encoding="utf-8")) for one in sorted(FOLDER.glob("*.json"))]
    answers = [
        {"set": record["set"], "per_class": int(per_class), "kind": kind, "draw": int(draw),
         "accuracy": {peer: right for peer, (right, _) in cell.items()}}
        for record in stored
        for key, cell in record["cells"].items()
        for per_class, kind, draw in [key.split("|")]
        if int(draw) < draws
    ]  # fmt: skip
    old = json.loads(before.read_text(encoding="utf-8"))["cells"] if before else []
    cells = compare(front["cells"], answers, old)
    seconds: dict[str, float] = {}
    for one in stored:
        for cell in one["cells"].values():
            for peer, (_, spent) in cell.items():
                seconds[peer] = seconds.get(peer, 0.0) + spent
    facts = circumstances() | {"graphlearning": package_version("graphlearning")}
    return {
        "circumstances": facts,
        "front_door": {key: front["circumstances"][key] for key in ("commit", "date")},
        "peers": {peer.name: peer.call for peer in peers()},
        "missing": {peer.name: why for peer in peers() if (why := peer.missing())},
        "skipped": [
            [one["set"], peer, why] for one in stored for peer, why in one["notes"].items() if why
        ],
        "processor_minutes": {peer: round(spent / 60, 2) for peer, spent in seconds.items()},
        "summary": measure(cells),
        "cells": cells,
    }


def main(arguments: list[str] | None = None) -> None:
    """Work out what is missing, a process for each set, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=[], help="parts of names; all by default")
    parser.add_argument("--jobs", type=int, default=2, help="sets at a time")
    parser.add_argument("--before", type=Path, help="draws of an older front door, as fit's JSON")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    set_threads(1)
    data = Path(os.environ["BELTRAMI_DATA"])
    names = [one for one in set_names(data) if not asked.sets or any(s in one for s in asked.sets)]
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(work_out, name, data, asked.draws): name for name in names}
        for job in as_completed(jobs):
            error = job.exception()
            print(f"{jobs[job]}: {error or f'{job.result()[1]:.0f} s'}", flush=True)
    front = load_record(RESULTS, fit.STEM, cells=[])
    record = collect(front, asked.draws, asked.before) if front["cells"] else {}
    if not record.get("cells"):
        print("no page: benchmarks.trust.fit has judged none of these draws")
        return
    write_results(asked.out, STEM, record, render(record), indent=None)
    print(render(record))


if __name__ == "__main__":
    main()
