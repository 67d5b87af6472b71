"""Every contest with a peer runs once at toy size, so that none rots."""

import gc
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.common.facts import circumstances
from benchmarks.peers import memory, report
from benchmarks.peers.contest import Answer, Contest, NotComparable, Problem, Row, hold
from benchmarks.peers.contests import contests

from beltrami.core.machine.threads import thread_limit

# What a peer warns of is the peer's affair.
pytestmark = pytest.mark.filterwarnings("ignore")

TOYS = contests(toy=True)
FACTS = {
    "cpu": "a processor",
    "cores": 2,
    "threads": 2,
    "omp_wait_policy": "default",
    "python": "3",
    "versions": {"numpy": "2"},
    "seed": 0,
    "commit": "abc",
    "date": "2000-01-01",
}


@pytest.fixture(autouse=True)
def _uncollected(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory is tidied before a timing: amid all other tests that takes longer than the toys."""
    monkeypatch.setattr(gc, "collect", lambda: 0)


def _twins(peer_answer: float, tolerance: float) -> Contest:
    return Contest(
        "add",
        "one number",
        lambda: Problem("one number", 1, {}),
        lambda _: Answer((np.ones(1),)),
        lambda _, answer: abs(float(answer.arrays[0][0]) - 1),
        peer=lambda _: Answer((np.full(1, peer_answer),), "a remark"),
        peer_name="the peer",
        gap=lambda _, ours, theirs: float(np.abs(ours.arrays[0] - theirs.arrays[0]).max()),
        tolerance=tolerance,
    )


def _row(name: str, ours: float, peer: float, **more: object) -> Row:
    return Row(name, name, "toy", "the peer", 10, 0.0, 1.0, [ours] * 3, [peer] * 3, **more)


def _cases() -> Iterator[Any]:
    for contest in TOYS:  # pynndescent compiles for most of a minute in every process
        marks = pytest.mark.slow if contest.needs == "pynndescent" else ()
        yield pytest.param(contest, id=contest.name, marks=marks)


@pytest.mark.parametrize("contest", list(_cases()))
def test_every_contest_runs_at_toy_size_and_its_answers_agree(contest: Contest) -> None:
    if contest.needs and importlib.util.find_spec(contest.needs) is None:
        pytest.skip(f"the peer {contest.needs} is not installed; see the group bench")
    with thread_limit(1):  # tiny work: threads would only wait for each other
        row = hold(contest, contest.problem(), rounds=1)
    assert len(row.ours_s) == 1
    assert len(row.peer_s) == (contest.peer is not None)
    assert "NOT converged" not in row.note


def test_toy_and_full_lists_pair_up_and_names_are_keys() -> None:
    full = contests()
    assert [one.peer_name for one in full] == [one.peer_name for one in TOYS]
    for found in (full, TOYS):
        assert len({one.name for one in found}) == len(found)


@pytest.mark.parametrize("answer", [1.5, np.nan])
def test_a_different_answer_is_not_comparable(answer: float) -> None:
    contest = _twins(answer, tolerance=0.1)
    with pytest.raises(NotComparable, match="add on one number vs the peer"):
        hold(contest, contest.problem())


def test_rounds_are_interleaved_and_end_with_the_budget() -> None:
    contest = _twins(1.0, tolerance=0.1)
    row = hold(contest, contest.problem(), rounds=3)
    assert len(row.ours_s) == len(row.peer_s) == len(row.ratios) == 3
    assert row.note == "peer: a remark"
    assert len(hold(contest, contest.problem(), rounds=3, budget_s=0.0).ours_s) == 1


def test_the_peers_accuracy_becomes_our_tolerance() -> None:
    seen = []
    contest = Contest(
        **{
            **vars(_twins(1.0, 0.1)),
            "ours": lambda problem: seen.append(problem.settings) or Answer((np.ones(1),)),
            "match": lambda _, theirs: {"tol": float(theirs.arrays[0][0]) / 4},
        }
    )
    assert hold(contest, contest.problem(), rounds=1).settings == {"tol": 0.25}
    assert seen == [{"tol": 0.25}] * 2


def test_the_table_keeps_losing_rows() -> None:
    page = report.render(FACTS, [_row("won", 1.0, 2.0), _row("lost", 4.0, 1.0)])
    lines = [line for line in page.splitlines() if "vs the peer" in line]
    assert len(lines) == 2
    assert "**2** [2, 2]" in lines[0]
    assert "**0.25** [0.25, 0.25]" in lines[1]


def test_a_second_run_replaces_its_rows_and_keeps_the_others(tmp_path: Path) -> None:
    order = ["first", "second"]
    report.save(tmp_path, FACTS, [_row("second", 1.0, 1.0), _row("first", 1.0, 1.0)], order)
    report.save(tmp_path, FACTS | {"commit": "def"}, [_row("second", 1.0, 3.0)], order)
    found = report.load(tmp_path)
    assert [(row.name, row.peer_s[0], stamp["commit"]) for row, stamp in found] == [
        ("first", 1.0, "abc"),
        ("second", 3.0, "def"),
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["contests.json", "contests.md"]


def test_growth_is_fitted_and_kept_out_of_the_table_of_contests() -> None:
    rows = [Row("g", "g", "toy", "", n, ours_s=[n**1.5], growth="a task") for n in (10, 20, 40)]
    page = report.render(FACTS, rows)
    assert "| a task |" in page
    assert "| 1.50 |" in page
    assert "alone" not in page


def test_the_page_names_no_machine_and_no_path() -> None:
    facts = circumstances()
    page = report.render(facts, [_row("won", 1.0, 2.0)])
    assert str(Path(__file__).resolve().parents[2]) not in page
    assert set(facts) == set(FACTS)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_peak_memory_is_measured_in_a_child() -> None:
    name = next(one.name for one in TOYS if one.task == "growth: 8-NN")
    assert memory.peak_mb(name, "ours", toy=True, settings={}) >= 0
