"""The contest of few-label learners runs at toy size, so that no method of it rots."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.common.draws import labelled_rows
from benchmarks.few_labels import latency, memory, report
from benchmarks.few_labels.__main__ import main
from benchmarks.few_labels.contest import Cell, Row, hold, percent_right
from benchmarks.few_labels.methods import Method, methods, spread
from benchmarks.few_labels.problems import FewLabels, problem

from beltrami.core.machine.threads import thread_limit
from beltrami_papers.preparation import keep_labels

# What a peer warns of is told in the row.
pytestmark = pytest.mark.filterwarnings("ignore")

FACTS = {
    "cpu": "a processor",
    "cores": 2,
    "threads": 2,
    "python": "3",
    "versions": {"numpy": "2"},
    "draws": "a seed",
    "commit": "abc",
    "date": "2000-01-01",
}


@pytest.fixture(scope="module")
def toy() -> FewLabels:
    return problem("toy")


class NearestLabel:
    """Stands in for a learner of ours: the class of the nearest labelled point."""

    def __init__(self, graph=None, n_eigenvectors=None, gamma=None):
        self.graph = graph

    def fit(self, X, y):
        self.points = X
        return self.fit_labels(y)

    def fit_labels(self, y):
        rows = np.flatnonzero(y >= 0)
        gaps = np.linalg.norm(self.points[:, None] - self.points[rows], axis=2)
        self.transduction_ = y[rows][gaps.argmin(axis=1)]
        return self


def _hold(toy: FewLabels, *chosen: Method, **plan: object) -> dict[str, Row]:
    with thread_limit(1):  # tiny work: threads would only wait for each other
        return list(hold(toy, chosen, **{"per_class": (1, 2), "draws": 2, **plan}))[-1]


def _truth(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
    return problem.targets


@pytest.mark.parametrize("method", methods(), ids=lambda method: method.name)
def test_every_method_runs_at_toy_size_and_beats_chance(method: Method, toy: FewLabels) -> None:
    if why := method.missing():
        pytest.skip(why)
    row = _hold(toy, method)[method.name]
    assert not row.failed
    assert list(row.cells) == ["1", "2"]
    for cell in row.cells.values():
        assert len(cell.accuracy) == len(cell.seconds) == 2
        assert min(cell.accuracy) > 40
    assert (row.first_fit_s is not None) == method.clock_again


def test_names_are_keys() -> None:
    assert len({method.name for method in methods()}) == len(methods())


@pytest.mark.parametrize("alpha", [0.2, 0.99])
def test_spreading_spared_its_search_predicts_what_it_predicts_with_it(
    alpha: float, toy: FewLabels
) -> None:
    for draw in range(2):
        rows = labelled_rows(toy.targets, 2, draw)
        spared = spread(toy, rows, alpha=alpha, kernel=lambda *_: toy.directed)
        searched = spread(toy, rows, alpha=alpha, kernel="knn")
        # Digits have equal distances, between which each search chooses by the way it rounds.
        assert (spared == searched).mean() > 0.97


def test_draws_are_balanced_and_always_the_same(toy: FewLabels) -> None:
    rows = labelled_rows(toy.targets, 3, 0)
    assert np.bincount(toy.targets[rows]).tolist() == [3] * 10
    assert len(set(rows.tolist())) == 30
    np.testing.assert_array_equal(rows, labelled_rows(toy.targets, 3, 0))
    assert set(rows.tolist()) != set(labelled_rows(toy.targets, 3, 1).tolist())


def test_only_unlabelled_points_are_percent_right(toy: FewLabels) -> None:
    rows = labelled_rows(toy.targets, 2, 0)
    assert percent_right(toy, rows, toy.targets) == 100
    assert percent_right(toy, rows, keep_labels(toy.targets, rows)) == 0


def test_a_spent_budget_ends_the_draws_unless_new_labels_are_cheap(toy: FewLabels) -> None:
    plain = Method("peer", "slow", _truth)
    ours = Method("ours", "slow", _truth, again=_truth)
    rows = _hold(toy, plain, ours, draws=3, budget_s=0.0)
    assert len(rows["peer: slow"].cells["1"].accuracy) == 1
    cell = rows["ours: slow"].cells["1"]
    assert (len(cell.accuracy), len(cell.seconds), len(cell.again_s)) == (3, 1, 2)
    record = {name: row.as_json() for name, row in rows.items()}
    page = report.render(_record(record))
    assert "| 3 (1 timed) |" in page


@pytest.mark.parametrize("ending", [ValueError("no"), SystemExit("bad argument")])
def test_a_method_that_fails_becomes_a_row_that_says_so(
    ending: BaseException, toy: FewLabels
) -> None:
    def fail(problem: FewLabels, rows: np.ndarray) -> np.ndarray:
        raise ending

    rows = _hold(toy, Method("peer", "broken", fail), Method("peer", "sound", _truth))
    assert type(ending).__name__ in rows["peer: broken"].failed
    assert rows["peer: sound"].cells["2"].accuracy == [100, 100]


def test_a_method_that_is_missing_says_what_it_lacks() -> None:
    assert "not installed" in Method("peer", "x", _truth, needs="no_such_module").missing()
    assert "no Nonsense yet" in Method("ours", "x", _truth, needs="beltrami:Nonsense").missing()
    assert Method("peer", "x", _truth).missing() == ""


def test_new_labels_are_timed_on_a_fitted_model(
    toy: FewLabels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "beltrami", SimpleNamespace(**{latency.NEEDS: NearestLabel}))
    found = latency.measure(toy, 20)
    assert (found["labels"], len(found["fit_labels_ms"])) == (100, latency.CALLS)
    assert min(found["accuracy"]) > 80
    page = report.render(_record({}) | {"latency": found | {"date": "today", "commit": "abc"}})
    assert f"{latency.NEEDS}(n_eigenvectors=20, gamma='auto')" in page


def test_ours_are_called_as_agreed(toy: FewLabels, monkeypatch: pytest.MonkeyPatch) -> None:
    method = next(one for one in methods() if "eigenfunctions" in one.title)
    monkeypatch.setitem(sys.modules, "beltrami", SimpleNamespace(**{latency.NEEDS: NearestLabel}))
    row = _hold(toy, method, budget_s=0.0)[method.name]
    assert not row.failed
    assert len(row.cells["1"].again_s) == 1


def _row(name: str, mean: float) -> dict[str, object]:
    return Row(name, {"1": Cell([mean - 1, mean + 1], [0.1, 0.3])}).as_json()


def _record(rows: dict[str, object]) -> dict[str, object]:
    about = {"n": 9, "class_sizes": [4, 5], "graph_s": 1.0, "lists_s": None, "rows": rows}
    return {"circumstances": FACTS, "problems": {"digits": about}, "latency": {}, "skipped": {}}


def test_the_table_keeps_losing_rows_and_marks_the_best() -> None:
    page = report.render(_record({name: _row(name, mean) for name, mean in [("a", 80), ("b", 90)]}))
    assert "| a | 80.0 (1.4) | 0.2 | - | 2 |" in page
    assert "| b | **90.0** (1.4) | 0.2 | - | 2 |" in page


def test_a_second_run_replaces_its_rows_and_keeps_the_others(
    toy: FewLabels, tmp_path: Path
) -> None:
    both = {name: Row(name, {"1": Cell([50.0], [1.0])}) for name in ("a", "b")}
    report.save_rows(tmp_path, FACTS, toy, both)
    better = {"b": Row("b", {"1": Cell([60.0], [1.0])})}
    report.save_rows(tmp_path, FACTS | {"commit": "def"}, toy, better)
    rows = report.load(tmp_path)["problems"]["toy"]["rows"]
    assert {name: (row["cells"]["1"]["accuracy"], row["commit"]) for name, row in rows.items()} == {
        "a": ([50.0], "abc"),
        "b": ([60.0], "def"),
    }


def test_the_command_writes_a_page_without_paths(tmp_path: Path, threads_in_force: str) -> None:
    asked = ["--toy", "--only", "1-NN", "--no-memory", "--out", str(tmp_path)]
    main([*asked, "--threads", threads_in_force])
    page = (tmp_path / "few_labels.md").read_text(encoding="utf-8")
    assert "| labels alone: 1-NN |" in page
    assert str(Path(__file__).resolve().parents[2]) not in page


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_peak_memory_is_measured_in_a_child() -> None:
    assert memory.peak_mb("toy", "labels alone: 1-NN") >= 0
