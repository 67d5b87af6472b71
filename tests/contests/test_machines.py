"""The contests of the Laplacian machines run at toy size, so that none of them rots."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.manifold import (
    accuracy,
    accuracy_report,
    defaults,
    defaults_report,
    speed,
    speed_report,
)
from benchmarks.manifold.clouds import mnist, sheets
from benchmarks.manifold.default_cases import MARKS, Case, cases
from benchmarks.manifold.exact import PER_CLASS, contests
from benchmarks.manifold.published import ASKED, PRINTED
from benchmarks.manifold.rivals import rivals
from benchmarks.manifold.samples import SETS, TOY, Sample, sample
from benchmarks.peers.contest import Contest, hold

from beltrami import LaplacianPower, LaplacianSVC
from beltrami.core.machine.threads import thread_limit

# Bridges in a toy graph and folds with few of a class are no news.
pytestmark = pytest.mark.filterwarnings("ignore")

ROOT = Path(__file__).resolve().parents[2]
FACTS = {
    "cpu": "a processor",
    "cores": 2,
    "threads": 2,
    "python": "3",
    "versions": {"numpy": "2", "scipy": "1", "scikit-learn": "1"},
    "commit": "abc",
    "date": "2000-01-01",
}


@pytest.fixture(scope="module")
def toy() -> Sample:
    return sample(TOY)


def _rows(toy: Sample, draw: int = 0) -> np.ndarray:
    return next(iter(toy.splits.values()))[draw]


def _found(*errors: float) -> dict[str, Any]:
    chosen = {"n_neighbors": 10, "power": 2, "errors": [1.0, 2.0]}
    return {
        name: {"errors": list(errors), "seconds": [], "chosen": [chosen] * len(errors)}
        for name in accuracy_report.MACHINES
    }


# Accuracy


@pytest.mark.slow
def test_the_accuracy_table_is_written_at_toy_size(tmp_path: Path, threads_in_force: str) -> None:
    asked = ["--quick", "--threads", threads_in_force, "--draws", "1", "--out", str(tmp_path)]
    accuracy.main(asked)
    record = json.loads((tmp_path / "manifold_accuracy.json").read_text(encoding="utf-8"))
    page = (tmp_path / "manifold_accuracy.md").read_text(encoding="utf-8")
    (cell,) = record["cells"]
    assert cell["set"] == TOY
    for learner in cell["learners"].values():
        assert len(learner["errors"]) == len(learner["chosen"]) == 1
        assert learner["errors"][0] < 30
    assert all(f"| {name} |" in page for name in cell["learners"])
    assert str(ROOT) not in page


def test_machines_with_shared_modes_answer_as_those_without(toy: Sample) -> None:
    with thread_limit(1):  # tiny work: threads would only wait for each other
        learners = rivals(toy)
        for draw in range(2):
            learners["LapRLS"](_rows(toy, draw))
            shared = learners["LapSVM"](_rows(toy, draw))
            alone = rivals(toy)["LapSVM"](_rows(toy, draw))
            np.testing.assert_array_equal(shared.predicted, alone.predicted)
            for name in ("n_neighbors", "power", "width", "lambda1", "ratio"):
                assert shared.chosen[name] == pytest.approx(alone.chosen[name])


def test_only_unlabelled_rows_are_scored(toy: Sample) -> None:
    rows = _rows(toy)
    assert toy.error(rows, toy.targets) == 0
    assert toy.error(rows, toy.labels(rows)) == 100


def test_printed_numbers_and_marks_are_of_sets_in_the_table() -> None:
    assert {name for name, _ in PRINTED} == set(SETS)
    assert set(ASKED) <= set(PRINTED)


def test_marks_are_held_or_missed_by_the_mean(tmp_path: Path, toy: Sample) -> None:
    name, labels = next(iter(ASKED))
    most = ASKED[name, labels]
    data = Sample(name, toy.points, toy.targets, {})
    for error, word in [(most - 0.1, "held"), (most + 0.1, "MISSED")]:
        accuracy_report.save(tmp_path, FACTS, data, labels, _found(error))
        record = accuracy_report.load(tmp_path)
        assert len(record["cells"]) == 1
        assert [mark["held"] for mark in record["marks"]] == [word == "held"] * 2
        assert word in accuracy_report.render(record)


# Defaults


@pytest.mark.slow
def test_the_defaults_are_written_at_toy_size(tmp_path: Path, threads_in_force: str) -> None:
    asked = ["--quick", "--threads", threads_in_force, "--draws", "1", "--out", str(tmp_path)]
    defaults.main(asked)
    defaults.main([*asked, "--only", "0.05", "--column", "before", "--commit", "old"])
    record = defaults_report.load(tmp_path)
    page = (tmp_path / "manifold_defaults.md").read_text(encoding="utf-8")
    assert [mark["held"] for mark in record["marks"]] == [True] * 6
    assert record["cases"]["make_moons, noise 0.05"]["before"]["commit"] == "old"
    assert "before" not in record["cases"]["two_moons"]
    assert record["circumstances"]["commit"] != "old"  # the page is that of now
    assert page.count("held") == 6
    assert str(ROOT) not in page


def test_machines_with_kept_kernels_answer_as_those_without() -> None:
    first = next(iter(cases(is_quick=True)))
    points, classes, rows = first.draws[0]
    with thread_limit(1):
        kept: dict[Any, Any] = {}
        found = [{"errors": [], "seconds": [], "chosen": []} for _ in range(3)]
        machines = [defaults.keep_kernels(LaplacianSVC, kept)] * 2 + [LaplacianSVC]
        for machine, record in zip(machines, found, strict=True):
            defaults._one_draw(machine, points, classes, rows, record)
    assert len(kept) == 1
    assert found[0]["errors"] == found[1]["errors"] == found[2]["errors"]
    assert found[0]["chosen"] == found[1]["chosen"] == found[2]["chosen"]


@pytest.mark.parametrize(("error", "word"), [(0.0, "held"), (50.0, "MISSED")])
def test_a_mark_of_the_defaults_is_held_or_missed(tmp_path: Path, error: float, word: str) -> None:
    case = Case(next(iter(MARKS)), "moons", [])
    defaults_report.save(tmp_path, "now", FACTS, case, _found(error, error))
    record = defaults_report.load(tmp_path)
    assert [mark["held"] for mark in record["marks"]] == [word == "held"] * 2
    assert word in defaults_report.render(record)


# Speed


@pytest.mark.parametrize("contest", contests(toy=True), ids=lambda contest: contest.name)
def test_the_exact_path_answers_as_the_papers_formulas_do(contest: Contest) -> None:
    with thread_limit(1):
        row = hold(contest, contest.problem(), rounds=1)
    assert row.gap < row.tolerance
    assert row.ours_error < 0.2


@pytest.mark.slow
def test_the_speed_page_is_written_at_toy_size(tmp_path: Path, threads_in_force: str) -> None:
    only = "a solve per class|LapRLS$|part"
    asked = ["--toy", "--only", only, "--rounds", "1", "--out", str(tmp_path)]
    speed.main([*asked, "--threads", threads_in_force])
    record = json.loads((tmp_path / "manifold_speed.json").read_text(encoding="utf-8"))
    page = (tmp_path / "manifold_speed.md").read_text(encoding="utf-8")
    kinds = [run["kind"] for run in record["runs"].values()]
    assert kinds == ["contest", "contest", "mnist", "exact", "sheets", "sheets"]
    assert "Failed" not in page
    assert str(ROOT) not in page
    asked_for = [mark["about"] for mark in record["marks"]]
    for word in (PER_CLASS, "peak GiB", "points of test error", "growth, graph and fit"):
        assert any(word in about for about in asked_for)


def test_toy_and_full_plans_pair_up() -> None:
    full = speed.plan(toy=False, rounds=1, minutes=1.0)
    assert len(full) == len(contests()) + 3 + len(speed.SIZES) + 1


def test_a_failed_run_stays_on_the_page(tmp_path: Path) -> None:
    found = {"kind": "failure", "note": "MemoryError: too much"}
    speed_report.save(tmp_path, FACTS, "a run", found, ["a run"])
    page = (tmp_path / "manifold_speed.md").read_text(encoding="utf-8")
    assert "- a run: MemoryError: too much" in page


def test_a_part_of_a_cloud_keeps_the_labelled_rows() -> None:
    whole = mnist(toy=True)
    part = whole.part(300)
    assert len(part.targets) == 300
    np.testing.assert_array_equal(part.targets[part.rows], whole.targets[whole.rows])
    np.testing.assert_array_equal(part.points[part.rows], whole.points[whole.rows])


def test_sheets_are_always_the_same_and_can_be_learned() -> None:
    cloud = sheets(600, toy=True)
    np.testing.assert_array_equal(cloud.points, sheets(600, toy=True).points)
    with thread_limit(1):
        learner = LaplacianSVC(gamma_a=1e-4, gamma_i=1e-2, smoothness=LaplacianPower(1))
        learner.fit(cloud.points, cloud.labels)
    assert (learner.predict(cloud.new_points) == cloud.new_targets).mean() > 0.6
