"""Real problems for multi-manifold separation: how they are made, judged and told."""

import json
from functools import partial

import numpy as np
import pytest

from beltrami_papers.journal import Journal
from beltrami_papers.model import record_text
from beltrami_papers.slides.real import experiment
from beltrami_papers.slides.real.experiment import CURVES, UNITS, Trial, trials_of
from beltrami_papers.slides.real.lines import (
    HELPS,
    HURTS,
    all_lines,
    best_lines,
    cells_of,
    compare_paired,
    count_lines,
    curve_lines,
    won_lines,
)
from beltrami_papers.slides.real.methods import (
    BASES,
    CHOSEN,
    CLAIRVOYANT,
    GLOBAL,
    GRAPH,
    KERNEL,
    KMEANS,
    LINEAR,
    OURS,
    error_of,
    trial,
)
from beltrami_papers.slides.real.problems import (
    ANGLES,
    CANDIDATES,
    CLASSES,
    VALUES,
    RealProblem,
)
from beltrami_papers.slides.sizes import Size


def _two_lines(draw, kind=VALUES):
    """Two crossing lines with opposite slopes."""
    rng = np.random.default_rng(draw)
    pieces = np.arange(200) % 2
    along = rng.uniform(-1, 1, 200)
    points = np.where(pieces[:, None] == 0, [[1.0, 0.0]], [[0.0, 1.0]]) * along[:, None]
    values = np.where(pieces == 0, 1 + along, -1 - along)
    if kind == CLASSES:
        return RealProblem(points, (values > 0).astype(np.intp), CLASSES, pieces)
    if kind == ANGLES:
        return RealProblem(points, np.pi * along, ANGLES, pieces)
    return RealProblem(points, values, VALUES, pieces)


@pytest.mark.parametrize(
    ("kind", "base"), [*zip((VALUES, CLASSES, ANGLES), BASES, strict=True), (CLASSES, KERNEL)]
)
def test_every_method_has_an_error_with_every_base(kind, base):
    found = trial(partial(_two_lines, kind=kind), 40, base, 0, own_number=True)
    methods = {GLOBAL, OURS, KMEANS, CHOSEN, CLAIRVOYANT}
    assert set(found["errors"]) == (methods | {GRAPH} if base == KERNEL else methods)
    assert np.isfinite(list(found["errors"].values())).all()
    assert found["regions"][GLOBAL] == 1
    assert json.loads(json.dumps(found)) == found


def test_known_pieces_make_crossing_lines_linear():
    found = trial(_two_lines, 40, LINEAR, 0, own_number=False)["errors"]
    assert found[CLAIRVOYANT] < 5 < found[GLOBAL]


def test_labels_hold_every_class_and_follow_the_draw():
    problem = _two_lines(0, CLASSES)
    rows = problem.draw_labels(12, 3)
    assert len(np.unique(rows)) == 12
    assert set(problem.targets[rows]) == {0, 1}
    assert np.array_equal(rows, problem.draw_labels(12, 3))
    assert not np.array_equal(rows, problem.draw_labels(12, 4))


def test_errors_are_of_unlabelled_rows_and_angles_go_round():
    problem = RealProblem(np.zeros((4, 1)), np.radians([0.0, 179.0, 90.0, 0.0]), ANGLES)
    off = np.radians([90.0, -179.0, 90.0, 4.0])
    assert error_of(problem, np.array([0]), [np.cos(off), np.sin(off)]) == pytest.approx(2.0)
    classes = RealProblem(np.zeros((4, 1)), np.array([0, 1, 1, 0]), CLASSES)
    assert error_of(classes, np.array([0]), [np.array([1, 1, 0, 0])]) == pytest.approx(100 / 3)


def test_the_verdict_needs_two_standard_errors():
    ours = np.array([1.0, 1.2, 0.9, 1.1])
    assert compare_paired(ours, ours + 1)["verdict"] == HELPS
    assert compare_paired(ours, ours - 1)["verdict"] == HURTS
    assert compare_paired(ours, ours + np.array([1.0, -1.0, 1.0, -0.9]))["verdict"] == ""
    assert compare_paired(ours, ours)["verdict"] == ""
    assert compare_paired(ours[:1], ours[:1] + 1)["standard_error"] is None


def test_the_page_holds_every_problem_losses_included():
    found = {}
    for place, data in enumerate(("wine", "diabetes")):
        for base in BASES:
            for draw in range(3):
                errors = {GLOBAL: 10.0, OURS: 8.0 + 4 * place + draw, KMEANS: 9.5}
                if base == KERNEL:
                    errors[GRAPH] = 9.0
                one = Trial(data, base, CANDIDATES[data].n_labelled, draw)
                found[one] = {"errors": errors, "regions": {OURS: 2.0}, "seconds": 0.1}
    cells = cells_of(found)
    assert [cell["against"][GLOBAL]["won"] for cell in cells[:2]] == [2, 2]
    table = "\n".join(all_lines(cells, LINEAR))
    assert "wine" in table
    assert HURTS in table
    assert "-1.0 ± 0.6" in table
    assert len(count_lines(cells)) == 2 + 2 * len(BASES)
    assert won_lines(cells)[:2] == [f"- {KERNEL}, helps: none.", f"- {KERNEL}, hurts: diabetes."]
    assert best_lines(cells) == ["- None."]
    assert len(curve_lines(cells, ["wine"], LINEAR)) == 3


def test_trials_go_draw_by_draw_and_know_their_curves():
    trials = list(trials_of(Size.FULL))
    assert len(set(trials)) == len(trials)
    assert [one.draw for one in trials] == sorted(one.draw for one in trials)
    assert {one.data for one in trials} == set(CANDIDATES)
    assert all(CANDIDATES[name].n_labelled in counts for name, counts in CURVES.items())
    assert set(UNITS) == set(CURVES)


def test_the_page_and_the_figure_are_made_from_one_problem(monkeypatch):
    trials = [Trial("wine", base, 40, 0) for base in BASES]
    monkeypatch.setattr(experiment, "trials_of", lambda size: iter(trials))
    monkeypatch.setattr(experiment, "SHOWN", "wine")
    found = experiment.real_figure(Size.QUICK)
    assert {cell["base"] for cell in found.record["errors"]} == set(BASES)
    assert all(f"## All problems, base: {base}" in found.table for base in BASES)
    assert found.figure is not None


def test_a_known_result_is_not_computed_again(tmp_path):
    journal = Journal.at(tmp_path / "known.jsonl")
    first = journal.result("key", lambda: {"errors": {GLOBAL: 1.0}})
    again = Journal.at(tmp_path / "known.jsonl").result("key", lambda: pytest.fail("known"))
    assert again == first


@pytest.mark.parametrize("name", ["COIL-20 pose, five", "turned 6, 9: xor", "iris sepals"])
def test_real_problems_have_labels_of_their_kind(data_folder, name):
    problem = CANDIDATES[name].make(0)
    assert problem.points.shape[1] <= 100
    assert len(problem.points) == len(problem.targets) == len(problem.pieces)
    if problem.kind == CLASSES:
        assert set(problem.targets) == {0, 1}
    if name.startswith("COIL"):
        assert np.bincount(problem.pieces).tolist() == [72] * 5
        rounds = np.diff(problem.points[:72], axis=0)
        far = problem.points[36:72] - problem.points[:36]
        assert np.linalg.norm(rounds, axis=1).mean() < 0.6 * np.linalg.norm(far, axis=1).mean()


@pytest.mark.slow
def test_the_quick_reproduction_runs(quick_run, data_folder):
    found = quick_run("multi-manifold-real")
    assert "iris sepals" in found.table
    assert found.figure is not None
    record = json.loads(record_text(found.record))
    assert {cell["draws"] for cell in record["errors"]} == {2}
