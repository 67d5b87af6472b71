"""The registry of reproductions, what they write, and a quick run of each."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from beltrami.data import principal_components
from beltrami.graph.search import open_space
from beltrami_papers import Reproduction
from beltrami_papers.model import StageClock, circumstances, record_text
from beltrami_papers.preparation import project_on_components
from beltrami_papers.thesis.chapter3 import variants
from beltrami_papers.thesis.chapter3.heldout import (
    heldout_errors,
    nearest_of_labelled,
)
from beltrami_papers.thesis.chapter3.learning_curves import (
    curve_cells,
    curve_table,
    draw_curves,
    one_fifth,
    parts_of,
)
from beltrami_papers.thesis.chapter3.published import TABLE_3_1, TABLE_3_3
from beltrami_papers.thesis.chapter3.samples import Sample
from beltrami_papers.thesis.chapter3.tables_3_1_to_3_3 import Plan, learning_table, plan_for
from beltrami_papers.thesis.chapter3.trials import eigenvector_rows, label_draws


def _sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % 3
    points = rng.normal(size=(n, 10)) + 3.0 * np.eye(3, 10)[classes]
    return Sample("three blobs", points, classes, remarks=("a remark",))


def test_what_there_is_is_written_and_nothing_else(tmp_path):
    figure = Figure()
    figure.subplots()
    drawn = Reproduction(figure=figure).save("one", tmp_path / "new")
    assert [path.name for path in drawn] == ["one.png"]
    told = Reproduction(record={"a": 1}, table="# page\n").save("two", tmp_path)
    assert [path.name for path in told] == ["two.md", "two.json"]
    assert told[0].read_text() == "# page\n"
    assert json.loads(told[1].read_text()) == {"a": 1}


def test_a_record_is_json_with_a_line_per_item():
    record = {"name": "x", "numbers": [1, 2], "cells": [{"a": 1.5}, {"a": None}], "none": []}
    text = record_text(record)
    assert json.loads(text) == record
    assert '  {"a": 1.5},\n' in text
    assert ' "numbers": [1, 2],\n' in text


def test_the_clock_adds_up_stages_also_when_they_fail():
    clock = StageClock()
    with clock.stage("one"):
        pass
    with pytest.raises(ZeroDivisionError), clock.stage("one"):
        raise ZeroDivisionError
    with clock.stage("two"):
        pass
    assert list(clock.rounded_seconds()) == ["one", "two", "total"]
    found = circumstances()
    assert set(found) == {"versions", "threads", "processor_seconds", "peak_memory_mib"}


def test_a_plan_keeps_the_cells_that_fit():
    plan = plan_for(TABLE_3_3, 2880, quick=False)
    assert plan.labelled == (20, 50, 100, 500, 1000)
    assert plan.eigenvectors == (5, 10, 20, 50, 100, 200, 500)
    assert plan.sizes(50) == [5, 10, 20]
    whole = plan_for(TABLE_3_1, 60000, quick=False)
    assert whole.labelled == tuple(TABLE_3_1.errors)
    assert {len(whole.sizes(count)) for count in (20, 50000)} == {2, 8}
    assert max(plan_for(TABLE_3_1, 3000, quick=True).eigenvectors) == 100


def test_a_table_of_separate_blobs_is_learned_and_recorded():
    plan = Plan((20, 100), (5, 10, 50), n_draws=3, fewer={50: 2})
    found = learning_table("toy", _sample(), plan, TABLE_3_1, StageClock())
    assert set(found.record) >= {"errors", "published_n", "largest_difference", "neighbors"}
    cells = {(c["labelled"], c["eigenvectors"]): c for c in found.record["errors"]}
    assert set(cells) == {(20, 5), (20, 10), (100, 5), (100, 10), (100, 50)}
    assert cells[100, 50]["draws"] == 2
    assert cells[100, 10]["draws"] == 3
    assert cells[100, 5]["mean"] < 10
    assert cells[100, 5]["published"] == 48.6
    assert f"{cells[100, 5]['mean']:.1f} (48.6)" in found.table
    assert "2 for p = 50" in found.table
    usual = {c["labelled"]: c for c in found.record["by_default"]}
    assert (set(usual), usual[100]["draws"]) == ({20, 100}, 3)
    assert usual[100]["mean"] < 10
    json.loads(record_text(found.record))


def test_one_fifth_of_the_labels_with_floor_and_ceiling():
    assert [one_fifth(count) for count in (1, 20, 100, 50000)] == [1, 4, 20, 1000]


def test_parts_are_distinct_and_the_whole_comes_once():
    ((whole, _),) = parts_of(30, 30)
    np.testing.assert_array_equal(whole, np.arange(30))
    parts = parts_of(30, 10)
    assert len({tuple(rows) for rows, _ in parts}) == len(parts) == 5
    assert len({seed for _, seed in parts}) == 5


def test_curves_hold_the_classifier_and_the_baseline_of_every_part():
    sample, clock = _sample(), StageClock()
    cells = curve_cells(sample, 400, (20, 100), 5, clock) + curve_cells(sample, 90, (20,), 5, clock)
    assert [(c["points"], c["labelled"], c["draws"]) for c in cells] == [
        (400, 20, 5),
        (400, 100, 5),
        (90, 20, 5),
    ]
    assert cells[1]["mean"] < 10
    assert cells[1]["neighbors"]["mean"] < 20
    assert curve_table(cells)[0] == "| labelled | p | 400 points | 90 points |"
    assert curve_table(cells)[-1].endswith("|  |")
    assert len(draw_curves(cells, "t").axes[0].get_legend().get_texts()) == 4


def test_new_points_are_projected_as_by_scikit_learn():
    rng = np.random.default_rng(0)
    points, new = rng.normal(size=(80, 9)) * np.arange(1, 10), rng.normal(size=(7, 9))
    ours = project_on_components(points, principal_components(points, 4), new)
    peer = PCA(4).fit(points).transform(new)
    np.testing.assert_allclose(np.abs(ours), np.abs(peer), rtol=1e-8)


@pytest.mark.parametrize("labelled", [3, 40, 200])
def test_nearest_labelled_points_of_new_ones_are_found_with_and_without_lists(labelled):
    rng = np.random.default_rng(1)
    points, new = rng.normal(size=(300, 9)), rng.normal(size=(20, 9))
    lists = open_space(points, "euclidean").nearest(new, 30)[0]
    chosen = np.sort(rng.choice(300, labelled, replace=False))
    distances = np.linalg.norm(new[:, None] - points[chosen], axis=2)
    expected = chosen[np.argsort(distances, axis=1)[:, :5]]
    np.testing.assert_array_equal(nearest_of_labelled(points, chosen, new, lists), expected)


def _heldout(rows, labelled):
    sample = _sample()
    lists = open_space(sample.points, "euclidean").nearest(sample.points, 30)[0]
    draws = label_draws(400, labelled, 2)
    return heldout_errors(rows, sample, sample.points, sample.classes, lists, draws)


def test_labels_given_by_the_laplacian_teach_the_held_out_classifier():
    found = _heldout(eigenvector_rows(_sample().graph(), 60), 50)
    assert found["neighbors"].shape == (2, 3)
    assert found["unlabelled"].max() < 10
    assert found["heldout"].max() < 10


def test_labelled_points_keep_their_labels_before_they_vote():
    """On noise instead of eigenvectors the fit is worthless, but few points depend on it."""
    found = _heldout(np.random.default_rng(0).normal(size=(80, 400)), 380)
    assert found["unlabelled"].min() > 30
    assert found["heldout"].max() < 10


@pytest.mark.data
def test_other_stop_lists_are_tabled_beside_the_thesis(monkeypatch, data_folder):
    monkeypatch.setattr(variants, "newsgroups", lambda *, quick, stop_words: _sample(1200))
    found = variants.newsgroups_variants(quick=True)
    names = {cell["variant"] for cell in found.record["errors"]}
    assert names == {variants.SMART, *variants.STOP_LISTS}
    assert all(f"| {name} |" in found.table for name in names)


@pytest.mark.data
def test_the_phonemes_say_that_they_are_another_sample(quick_run, data_folder):
    found = quick_run("thesis-3.3")
    assert "ANOTHER SAMPLE" in found.table
    assert "no eh" in found.table
    assert f"n = {found.record['n']}" in found.table
