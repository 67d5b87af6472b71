"""The contest of the front door runs at toy size, and its measures are what they say."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.common.draws import labelled_rows
from benchmarks.common.journal import RowJournal
from benchmarks.front_door import tables
from benchmarks.front_door.accuracy import main
from benchmarks.front_door.contest import Plan, calibration_error, hold, measure
from benchmarks.front_door.methods import FRONT_DOOR, Answer, Entrant, entrants
from benchmarks.front_door.problems import DoorProblem, pose, problem
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from beltrami.core.machine.threads import thread_limit

# What a peer warns of is no news here.
pytestmark = pytest.mark.filterwarnings("ignore")

FACTS = {
    "cpu": "a processor",
    "threads": 1,
    "python": "3",
    "versions": {"numpy": "2"},
    "commit": "abc",
    "date": "2000-01-01",
}
PLAN = Plan(per_class=(1, 2), draws=range(2))


@pytest.fixture
def toy() -> DoorProblem:
    return problem("toy")


@pytest.fixture(scope="module")
def posts() -> DoorProblem:
    """Sparse counts of 40 words; each of two classes prefers its own half of them."""
    rng = np.random.default_rng(0)
    targets = np.arange(120) % 2
    rates = np.where((np.arange(40) < 20) == targets[:, None], 0.6, 0.1)
    return pose(
        "posts", csr_array(rng.poisson(rates) * 3.0 + np.eye(120, 40)), targets, is_text=True
    )


@pytest.fixture
def journal(tmp_path: Path) -> RowJournal:
    return RowJournal(tmp_path / "rows.jsonl")


def _hold(posed: DoorProblem, journal: RowJournal, *chosen: Entrant, plan: Plan = PLAN) -> list:
    with thread_limit(1):
        hold(posed, chosen, plan, journal)
    return journal.rows()


def _truth(posed: DoorProblem, rows: np.ndarray) -> Answer:
    return Answer(posed.targets)


@pytest.mark.parametrize("entrant", entrants(), ids=lambda one: one.name)
@pytest.mark.parametrize("kind", ["toy", "posts"])
def test_every_entrant_runs_and_beats_chance(
    entrant: Entrant, kind: str, posts: DoorProblem, journal: RowJournal
) -> None:
    if why := entrant.missing():
        pytest.skip(why)
    rows = _hold(problem("toy") if kind == "toy" else posts, journal, entrant)
    assert not [row["failed"] for row in rows if "failed" in row]
    assert [(row["labels"], row["draw"]) for row in rows] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert np.mean([row["error"] for row in rows]) < (70 if kind == "toy" else 49)
    assert all(0 <= row["ece"] <= 1 for row in rows if "ece" in row)


class Door:
    """Stands in for the front door: the truth for the first class, zero elsewhere."""

    fits = 0

    def fit(self, X, y):
        Door.fits += 1
        self.n = X.shape[0]
        return self.fit_labels(y)

    def fit_labels(self, y):
        self.method_ = "guess" if (y >= 0).sum() < 20 else "guess more"
        self.transduction_ = np.where(y >= 0, y, 0)
        self.label_distributions_ = np.tile([0.55] + [0.05] * 9, (self.n, 1))
        self.candidates_ = (SimpleNamespace(name="zero"), SimpleNamespace(name="one"))
        return self

    def candidate_codes(self, name):
        return np.full(self.n, ["zero", "one"].index(name))

    def prediction_sets(self, coverage):
        return np.tile(np.arange(10) < 9, (self.n, 1))


def test_the_front_door_is_fitted_once_and_gives_rows_for_what_it_tried(
    toy: DoorProblem, journal: RowJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = next(one for one in entrants() if one.name == FRONT_DOOR)
    monkeypatch.setitem(sys.modules, "beltrami", SimpleNamespace(ManifoldClassifier=Door))
    rows = _hold(toy, journal, door)
    assert Door.fits == 1
    own = {row["labels"]: row for row in rows}
    assert {labels: row["chosen"] for labels, row in own.items()} == {1: "guess", 2: "guess more"}
    hidden = np.setdiff1d(np.arange(toy.size), labelled_rows(toy.targets, 2, 1))
    share = float((toy.targets[hidden] == 0).mean())
    assert own[2]["error"] == pytest.approx(100 * (1 - share), abs=1e-3)
    assert own[2]["tried"]["zero"] == pytest.approx(own[2]["error"])
    assert own[2]["ece"] == pytest.approx(0.55 - share, abs=1e-4)
    assert own[2]["coverage"] == pytest.approx(100 * (toy.targets[hidden] < 9).mean(), abs=1e-2)
    page = tables.render(tables.collect(FACTS, rows, range(2)))
    assert "| guess | 2 | 0 |" in page
    assert "| tried: one |" in page


def test_only_unlabelled_rows_are_measured() -> None:
    targets, rows = np.array([0, 0, 1, 1]), np.array([0, 2])
    found = measure(targets, rows, Answer(np.array([1, 0, 0, 0]), np.eye(2)[[0, 0, 0, 0]]))
    assert (found["error"], found["ece"], found["confidence"]) == (50.0, 0.5, 1.0)


def test_calibration_error_of_one_bin_is_the_gap_and_bins_do_not_cancel() -> None:
    right = np.array([True, True, True, False])
    assert calibration_error(np.full(4, 0.95), right) == pytest.approx(0.2)
    assert calibration_error(np.array([0.75] * 4), right) == pytest.approx(0.0)
    two = calibration_error(np.array([0.5, 1.0]), np.array([True, False]))
    assert two == pytest.approx((0.5 + 1.0) / 2)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_lies_between_the_overall_gap_and_one(pairs: list) -> None:
    confidence, right = (np.array(one, dtype=float) for one in zip(*pairs, strict=True))
    found = calibration_error(confidence, right)
    assert abs(float((confidence - right).mean())) - 1e-12 <= found <= 1 + 1e-12


def test_texts_are_scaled_for_single_methods_and_raw_for_the_front_door(posts: DoorProblem) -> None:
    np.testing.assert_allclose(posts.points.multiply(posts.points).sum(axis=1), 1.0)
    assert posts.raw.max() > 1
    assert posts.metric == "angle"


def test_a_stopped_run_goes_on_where_it_stood(toy: DoorProblem, tmp_path: Path) -> None:
    calls = []

    def learn(posed: DoorProblem, rows: np.ndarray) -> Answer:
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(rows)
        return _truth(posed, rows)

    place = tmp_path / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        _hold(toy, RowJournal(place), Entrant("x", learn))
    with place.open("a", encoding="utf-8") as file:
        file.write('{"problem": "toy", "lab')  # a line cut short
    rows = _hold(toy, RowJournal(place), Entrant("x", _truth))
    assert len(rows) == 4
    assert len(RowJournal(place).rows()) == 4  # nothing was glued to the broken line
    again = _hold(toy, RowJournal(place), Entrant("x", lambda *_: pytest.fail("learned twice")))
    assert again == rows


def test_rows_are_measured_again_when_asked_or_for_another_version_of_the_code(
    toy: DoorProblem, journal: RowJournal
) -> None:
    wrong = Entrant("x", lambda posed, rows: Answer(posed.targets + 1))
    _hold(toy, journal, wrong, Entrant("y", _truth))
    again = Plan(PLAN.per_class, PLAN.draws, again=True)
    rows = _hold(toy, journal, Entrant("x", _truth), plan=again)
    assert [row["error"] for row in rows] == [0.0] * 8
    newer = Plan(PLAN.per_class, PLAN.draws, code="2")
    rows = _hold(toy, RowJournal(journal.path), wrong, plan=newer)
    assert sorted(row["error"] for row in rows) == [0.0] * 4 + [100.0] * 4


def test_a_spent_allowance_ends_the_draws_of_a_column(
    toy: DoorProblem, journal: RowJournal
) -> None:
    rows = _hold(toy, journal, Entrant("x", _truth), plan=Plan((1, 2), range(5), budget_s=-1.0))
    assert [(row["labels"], row["draw"]) for row in rows] == [(1, 0), (2, 0)]
    page = tables.render(tables.collect(FACTS, rows, range(5)))
    assert "| x | **0.0** of 1 | **0.0** of 1 |" in page


def test_an_entrant_that_fails_says_so_and_the_others_go_on(
    toy: DoorProblem, journal: RowJournal
) -> None:
    def fail(posed: DoorProblem, rows: np.ndarray) -> Answer:
        raise SystemExit("bad argument")

    rows = _hold(toy, journal, Entrant("broken", fail), Entrant("sound", _truth))
    page = tables.render(tables.collect(FACTS, rows, range(2)))
    assert "failed in 4 draws: SystemExit: bad argument" in page
    assert "| sound | **0.0** (0.0) |" in page


def _rows(errors: dict[str, float], problem: str = "p", labels: int = 10, **more: object) -> list:
    key = {"problem": problem, "labels": labels, "draw": 0, "code": "1", "n": 9, "classes": 2}
    return [
        {**key, "method": name, "error": error, "seconds": 1.0, **more}
        for name, error in errors.items()
    ]


def test_ranks_share_ties_and_leave_out_what_was_only_tried() -> None:
    rows = _rows({"ours: a": 5.0, "peer: b": 9.0})
    rows += _rows({FRONT_DOOR: 5.0}, tried={"c": 1.0})
    rows += _rows({FRONT_DOOR: 1.0, "ours: a": 2.0}, problem="q")
    means = tables.cell_means(tables.collect(FACTS, rows, range(1)))
    assert tables.mean_ranks(means) == {
        FRONT_DOOR: (1.25, 3.0, 2),
        "ours: a": (1.75, 3.5, 2),
        "peer: b": (3.0, 9.0, 1),
    }


@pytest.mark.parametrize(("own", "verdict"), [(11.9, "held"), (12.1, "MISSED")])
def test_losses_and_marks_are_shown(own: float, verdict: str) -> None:
    rows = _rows(
        {FRONT_DOOR: own, "labels alone: l": 10.0, "labels alone: m": 11.0, "ours: a": 11.5},
        ece=0.04, confidence=0.9,
    )  # fmt: skip
    page = tables.render(tables.collect(FACTS, rows, range(1)))
    marks = page[: page.index("## Summary")]
    assert f"cells further behind | {verdict} |" in marks
    assert "below 0.05 | 0.040 | held |" in marks
    assert f"| p | 10 | {own:.2f} | ours: a | 11.50 | {own - 11.5:+.2f} |" in page
    line = f"| p | 10 | {own:.2f} | labels alone: l | 10.00 | {own - 10:+.2f} |"
    assert (line in page) == (verdict == "MISSED")
    assert ("Nowhere." in page) == (verdict == "held")


def test_other_draws_stay_out_of_the_page() -> None:
    rows = _rows({"ours: a": 5.0})
    assert tables.collect(FACTS, rows, range(100, 110))["problems"] == {}


def test_the_command_writes_a_page_without_paths(tmp_path: Path, threads_in_force: str) -> None:
    asked = ["--toy", "--only-methods", "1-NN", "--out", str(tmp_path)]
    asked += ["--journal", str(tmp_path / "rows.jsonl"), "--threads", threads_in_force]
    main(asked)
    page = (tmp_path / "front_door_accuracy.md").read_text(encoding="utf-8")
    assert "| labels alone: 1-NN |" in page
    assert str(Path(__file__).resolve().parents[2]) not in page
