"""``python -m benchmarks.front_door.queries``: which rows to label next, beside random and a peer.

Every strategy asks in batches of ten on the same graph, and the same learner, `PoissonClassifier`
by default, learns from the answers; only the choice of rows differs. The steps of a run are kept
in a journal, so that a stopped run goes on.
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami_papers.preparation import keep_labels
from benchmarks.common.cache import from_cache
from benchmarks.common.command import CACHE, add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances
from benchmarks.common.journal import RowJournal
from benchmarks.common.pages import table, write_results
from benchmarks.common.threads import set_threads

STEM = "front_door_queries"
BATCH, MOST = 10, 100
SHOWN = (10, 20, 30, 50, 100)
GOAL_PROBLEM, GOAL = "mnist", 95.0
RANDOM = "ours: random"
N_VECTORS, N_PEER_VECTORS = 100, 50
PROBLEMS: Mapping[str, str] = {
    "digits": "the choices were made by looking at this set",
    "usps": "the choices were made by looking at this set",
    "phoneme": "the choices were made by looking at this set",
    "coil20": "the choices were made by looking at this set",
    "isolet": "seen in part while choices were made",
    "sslbook_usps": "no choice was made by looking at this set",
    "sslbook_digit1": "no choice was made by looking at this set",
    "newsgroups20": "no choice was made by looking at this set",
    "mnist": "no choice was made by looking at this set",
}


@dataclass(frozen=True, eq=False)
class Asked:
    """What a strategy may see: the graph, its bases, the labelled rows in order, the beliefs."""

    problem: "QueryProblem"
    labelled: np.ndarray
    distributions: np.ndarray | None
    n: int
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class QueryProblem:
    """One problem: the learner's own default graph, eigenvectors for us and for the peer."""

    name: str
    targets: np.ndarray
    graph: Any
    basis: Any
    peer_basis: Any

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.targets)


Strategy = Callable[[Asked], np.ndarray]


def main(arguments: list[str] | None = None) -> None:
    """Run what the journal lacks, problem by problem, and write the tables after each."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded

    folder = results_folder(asked.out, toy=asked.toy)
    journal = RowJournal(asked.journal or CACHE / f"{STEM}.jsonl")
    chosen = {
        name: one
        for name, one in _strategies().items()
        if re.search(asked.only, name, re.IGNORECASE)
    }
    most = 20 if asked.toy else asked.most
    draws = range(asked.first, asked.first + asked.draws)
    for name in ["toy"] if asked.toy else PROBLEMS:
        if not asked.pages_only and re.search(asked.problems, name, re.IGNORECASE):
            try:
                hold(_pose_queries(name), chosen, draws, journal, most=most)
            except FileNotFoundError as error:
                print(f"{name} skipped: {error}")
        _save(folder, _collect_runs(circumstances(), journal.rows()))
    print(f"written: {STEM}.json and {STEM}.md", flush=True)


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("front_door.queries", __doc__)
    parser.add_argument("--toy", action="store_true", help="400 digits, 20 labels")
    parser.add_argument("--problems", default="", metavar="PATTERN", help="regular expression")
    parser.add_argument("--only", default="", metavar="PATTERN", help="the same for strategies")
    parser.add_argument("--draws", type=int, default=10, help="seeds of each strategy")
    parser.add_argument("--first", type=int, default=0, help="the first seed, to share the work")
    parser.add_argument("--most", type=int, default=MOST, help="labels at which a run ends")
    add_threads(parser, 1)
    parser.add_argument("--journal", type=Path, help="where the steps are kept")
    parser.add_argument("--pages-only", action="store_true", help="from the journal as it is")
    return parser.parse_args(arguments)


def _pose_queries(name: str) -> QueryProblem:
    """Return the problem of that name, its graph and bases from the cache where they are there."""
    from beltrami import Graph, KnnGraph  # noqa: PLC0415
    from beltrami.solvers.eigen import eigenbasis  # noqa: PLC0415
    from benchmarks.front_door.problems import problem  # noqa: PLC0415

    cloud = problem(name)

    def make() -> dict[str, Any]:
        recipe = KnnGraph(10, weights="tuned_shared", metric=cloud.metric)
        graph = recipe.build(cloud.points)
        made: dict[str, Any] = {"weights": graph.weights}
        for kind, p in (("random_walk", N_VECTORS), ("normalized", N_PEER_VECTORS)):
            basis = eigenbasis(graph, p, kind=kind)
            made |= {f"{kind}-values": basis.values, f"{kind}-vectors": basis.vectors}
        return made

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bridges are welcome
        arrays = from_cache(f"front-door-queries-{name}", cloud.size, make)
    bases = (_basis(arrays, kind) for kind in ("random_walk", "normalized"))
    return QueryProblem(name, cloud.targets, Graph(arrays["weights"]), *bases)


def _basis(arrays: Mapping[str, Any], kind: str) -> Any:
    from beltrami.solvers.model import Basis  # noqa: PLC0415

    values, vectors = arrays[f"{kind}-values"], arrays[f"{kind}-vectors"]
    return Basis(values, vectors, np.zeros(len(values)), 0, True, kind, "cached", 1, 1, 0.0)


def _strategies() -> dict[str, Strategy]:
    """Return ours, then those of graphlearning after a random first batch, where it is here."""
    named = {f"ours: {name}": _ours(name) for name in ("random", "auto", "cover", "uncertain")}
    named["ours: auto, random start"] = _after_random(_ours("auto"))
    try:
        import graphlearning.active_learning as peer  # noqa: F401, PLC0415
    except ImportError:
        print("graphlearning is not installed: its strategies are left out")
        return named
    names = ("unc_sampling", "var_opt", "sigma_opt", "model_change", "model_change_var_opt")
    return named | {f"graphlearning: {name}": _after_random(_peer(name)) for name in names}


def _ours(name: str) -> Strategy:
    def choose(asked: Asked) -> np.ndarray:
        from beltrami.questions import choose_questions  # noqa: PLC0415

        if name == "random" or (name == "uncertain" and not len(asked.labelled)):
            return _random(asked)
        questions = choose_questions(
            asked.problem.graph,
            n=asked.n,
            strategy=name,
            distributions=asked.distributions,
            labelled=asked.labelled,
            basis=asked.problem.basis,
            rng=asked.rng,
        )
        return np.array([question.row for question in questions])

    return choose


def _random(asked: Asked) -> np.ndarray:
    rest = np.setdiff1d(np.arange(len(asked.problem.targets)), asked.labelled)
    return asked.rng.choice(rest, asked.n, replace=False)


def _after_random(strategy: Strategy) -> Strategy:
    return lambda asked: strategy(asked) if len(asked.labelled) else _random(asked)


def _peer(name: str) -> Strategy:
    """Return an acquisition of graphlearning, on 50 eigenvectors of the normalised Laplacian.

    Those that keep a covariance are told of each row of the batch before they choose the next,
    which is kinder than taking their best ten at once.
    """

    def choose(asked: Asked) -> np.ndarray:
        import graphlearning.active_learning as peer  # noqa: PLC0415

        basis = asked.problem.peer_basis
        spectral = {"C": np.diag(1 / (basis.values + 1e-11)), "V": basis.vectors}
        acquisition = getattr(peer, name)(**({} if name == "unc_sampling" else spectral))
        acquisition.update(asked.labelled, None)
        rest = np.setdiff1d(np.arange(len(asked.problem.targets)), asked.labelled)
        if name == "unc_sampling":
            return rest[np.argsort(-acquisition.compute(asked.distributions, rest))[: asked.n]]
        chosen = []
        for _ in range(asked.n):
            best = int(rest[np.argmax(acquisition.compute(asked.distributions, rest))])
            chosen.append(best)
            acquisition.update(np.array([best]), None)
            rest = rest[rest != best]
        return np.array(chosen)

    return choose


def hold(
    problem: QueryProblem,
    chosen: Mapping[str, Strategy],
    draws: Sequence[int],
    journal: Any,
    *,
    most: int = MOST,
    batch: int = BATCH,
) -> None:
    """Run every strategy from every seed to `most` labels, from where the journal stands."""
    from beltrami import PoissonClassifier  # noqa: PLC0415

    classes = np.arange(int(problem.targets.max()) + 1)
    learner = PoissonClassifier(graph=problem.graph, classes=classes)
    for draw in draws:
        for name, strategy in chosen.items():
            steps = [
                row for row in journal.rows()
                if (row["problem"], row["method"], row["draw"]) == (problem.name, name, draw)
            ]  # fmt: skip
            last = max(steps, key=lambda row: row["labels"], default={"labels": 0, "rows": []})
            labelled = np.array(last["rows"], dtype=int)
            beliefs = _learn(learner, problem, labelled)[1] if 0 < len(labelled) < most else None
            while len(labelled) < most:
                rng = np.random.default_rng((draw, len(labelled)))
                start = time.perf_counter()
                rows = strategy(Asked(problem, labelled, beliefs, batch, rng))
                seconds = time.perf_counter() - start
                labelled = np.concatenate([labelled, rows])
                accuracy, beliefs = _learn(learner, problem, labelled)
                key = {"problem": problem.name, "labels": len(labelled), "draw": draw}
                key |= {"method": name, "code": "1", "n": problem.size}
                measures = {"accuracy": accuracy, "seconds": seconds, "rows": labelled.tolist()}
                journal.add(key | measures)
            print(f"    {problem.name} {name} {draw}", flush=True)


def _learn(learner: Any, problem: QueryProblem, labelled: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the percentage of right answers on the unlabelled rows, and the distributions."""
    from benchmarks.few_labels.contest import percent_right  # noqa: PLC0415

    labels = keep_labels(problem.targets, labelled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(learner, "graph_"):
            learner.fit_labels(labels)
        else:
            learner.fit(np.zeros((len(labels), 1)), labels)  # the graph is given
    return percent_right(problem, labelled, learner.transduction_), learner.label_distributions_


def _collect_runs(facts: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the record: for each problem and strategy the accuracies of each seed, in steps."""
    problems: dict[str, Any] = {}
    for row in sorted(rows, key=lambda one: (one["draw"], one["labels"])):
        about = problems.setdefault(row["problem"], {"n": row["n"], "runs": {}})
        run = about["runs"].setdefault(row["method"], {}).setdefault(str(row["draw"]), {})
        run[str(row["labels"])] = round(row["accuracy"], 3)
        about.setdefault("seconds", {}).setdefault(row["method"], []).append(
            round(row["seconds"], 3)
        )
    return {"circumstances": dict(facts), "problems": problems}


def _labels_to_goal(run: Mapping[str, float], goal: float) -> int | None:
    """Return the labels of the first step at the goal or above it; None where none is."""
    return min((int(step) for step, accuracy in run.items() if accuracy >= goal), default=None)


def _save(folder: Path, record: Mapping[str, Any]) -> None:
    """Write both files."""

    write_results(folder, STEM, record, render(record))


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts, problems = record["circumstances"], record["problems"]
    page = (
        "# Which rows to label next\n\n"
        f"{facts['cpu']}, {facts['threads']} thread(s); Python {facts['python']}, NumPy "
        f"{facts['versions']['numpy']}; {facts['date']} at commit {facts['commit']}. Every "
        f"strategy asks for {BATCH} rows at a time on the same graph, and `PoissonClassifier` by "
        "default learns from the answers. Accuracy in percent on the rows without a label: mean "
        "over seeds (standard deviation), of fewer seeds where it "
        "says so. Random is uniform over the rows. graphlearning's "
        "acquisitions need labels to begin with and get a random first batch, as does the row "
        "that says so; then they see the same learner's distributions and 50 eigenvectors of the "
        "normalised Laplacian of the same graph. Strategies are in the order of their mean over "
        "the columns. Seconds are the median of one batch, the basis given.\n"
    )
    if GOAL_PROBLEM in problems:
        page += f"\n## Labels needed for {GOAL:g} % on {GOAL_PROBLEM}\n\n" + table(
            (
                "strategy",
                "mean labels",
                "of random's",
                "seeds there",
                "runs end at",
                "each",
            ),
            _goal_lines(problems[GOAL_PROBLEM]["runs"]),
        )
    for name in [*PROBLEMS, "toy"]:
        if name in problems:
            about = problems[name]
            note = f", {PROBLEMS[name]}" if name in PROBLEMS else ""
            header = ("strategy", "seeds", *map(str, SHOWN), "s")
            page += f"\n## {name}: {about['n']} rows{note}\n\n" + table(header, _lines(about))
    return page


def _goal_lines(runs: Mapping[str, Any]) -> list[list[str]]:
    """A run that never got there counts as one batch more than its last, a lower bound."""
    lines, means = [], {}
    for name, seeds in runs.items():
        needs = [_labels_to_goal(run, GOAL) for run in seeds.values()]
        bounds = [
            max(map(int, run)) + BATCH if one is None else one
            for one, run in zip(needs, seeds.values(), strict=True)
        ]
        means[name] = float(np.mean(bounds))
        sign = "at least " if None in needs else ""
        each = " ".join("-" if one is None else str(one) for one in needs)
        got = sum(one is not None for one in needs)
        ends = [max(map(int, run)) for run in seeds.values()]
        end = f"{min(ends)} to {max(ends)}"
        lines.append([name, f"{sign}{means[name]:.0f}", "", f"{got} of {len(needs)}", end, each])
    for line in lines:
        if RANDOM in means:
            line[2] = f"{means[line[0]] / means[RANDOM]:.2f}"
    return sorted(lines, key=lambda line: means[line[0]])


def _lines(about: Mapping[str, Any]) -> list[list[str]]:
    lines = []
    for name, seeds in about["runs"].items():
        cells, means = [], []
        for step in SHOWN:
            accuracies = [run[str(step)] for run in seeds.values() if str(step) in run]
            few = f" of {len(accuracies)}" if len(accuracies) < len(seeds) else ""
            cells.append(
                f"{np.mean(accuracies):.1f} ({np.std(accuracies):.1f}){few}" if accuracies else ""
            )
            means += [float(np.mean(accuracies))] if accuracies else []
        seconds = f"{np.median(about['seconds'][name]):.2f}"
        lines.append((float(np.mean(means)), [name, str(len(seeds)), *cells, seconds]))
    return [line for _, line in sorted(lines, key=lambda one: -one[0])]


if __name__ == "__main__":
    main()
