"""Multi-manifold tables and the margin experiment: draws, journals, tables and quick runs."""

import json
from functools import partial

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose

from beltrami.data import dollar_sign, two_squares
from beltrami_papers.journal import Journal
from beltrami_papers.model import record_text
from beltrami_papers.slides import margins as multi_manifold_margins
from beltrami_papers.slides import multi_manifold, now_it_helps
from beltrami_papers.slides.curves import draw_curves, shade
from beltrami_papers.slides.lines import error_lines, verdict_lines
from beltrami_papers.slides.margins import (
    MarginPlan,
    MarginTrial,
    decision_sets,
    margin_cells,
    margin_plan,
    margin_trials,
    squares,
)
from beltrami_papers.slides.multi_manifold import (
    Plan,
    Trial,
    cells_of,
    multi_manifold_record,
    plan_for,
    run_trials,
    seconds_of,
    trials_of,
)
from beltrami_papers.slides.now_it_helps import (
    draw_margins,
    margin_lines,
    margin_record,
    our_verdict,
    slide_verdict,
)
from beltrami_papers.slides.pictures import SCENES, fit_scene
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    GRAPH,
    LAPLACIAN,
    METHODS,
    OURS,
    SETS,
    SLIDES,
    TASKS,
    classes_of,
    draw_problem,
    problem_of,
    trial,
)
from beltrami_papers.slides.purity import (
    KMEANS,
    purity,
    purity_cells,
    purity_lines,
)
from beltrami_papers.slides.sizes import Size

SMALL = MarginPlan((0.3, -0.3), (30,), (300,), 2)


@pytest.fixture(scope="module")
def small():
    return draw_problem(dollar_sign, 0, n_reserved=40, n_unlabelled=400, n_test=300)


def test_classes_change_within_each_manifold_and_between_them():
    dataset = dollar_sign(1000, random_state=0)
    classes, manifold = classes_of(dataset), dataset.extras["manifold"]
    high = dataset.extras["position"] > 0.5
    for first, upper, wanted in ((0, True, 1), (0, False, 0), (1, True, 0), (1, False, 1)):
        assert (classes[(manifold == first) & (high == upper)] == wanted).all()


def test_a_draw_is_the_same_again_and_its_parts_do_not_overlap(small):
    again = draw_problem(dollar_sign, 0, n_reserved=40, n_unlabelled=400, n_test=300)
    assert_allclose(again.points, small.points)
    assert not np.allclose(
        draw_problem(dollar_sign, 1, n_unlabelled=10).points[:5], small.points[:5]
    )
    rows = small.rows(20, 100)
    assert (rows[:20] == np.arange(20)).all()
    assert (rows[20:] == np.arange(40, 140)).all()
    assert len(np.unique(np.vstack([small.points, small.test_points]), axis=0)) == 740


@pytest.mark.parametrize("task", TASKS)
def test_a_clairvoyant_learner_errs_less_than_a_global_one(small, task):
    known = trial(small, task, CLAIRVOYANT, 40, 0, 0)
    plain = trial(small, task, GLOBAL, 40, 0, 0)
    assert known["error"] < plain["error"]
    assert (known["regions"], plain["regions"]) == (2, 1)


def test_a_global_learner_is_the_multi_manifold_learner_with_one_region(small):
    from beltrami import MultiManifoldRegressor

    model = MultiManifoldRegressor(n_regions=1).fit(small.points[:40], small.values[:40])
    error = np.sqrt(np.mean((model.predict(small.test_points) - small.test_values) ** 2))
    assert_allclose(trial(small, "regression", GLOBAL, 40, 0, 0)["error"], error, atol=2e-5)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_runs_on_both_tasks(small, method):
    for task in TASKS:
        found = trial(small, task, method, 40, 200, 0)
        assert 0 <= found["error"] < (5 if task == "regression" else 60)


def test_the_full_plan_goes_from_few_to_many_labels():
    plan = plan_for(Size.FULL)
    assert plan.sets == tuple(SETS)
    assert plan.labelled == (20, 60, 200, 640)
    assert set(plan.draws) == set(METHODS)
    trials = list(trials_of(plan))
    assert len(trials) == len(set(trials))
    assert {one.unlabelled for one in trials if one.method == OURS} == {2000, 6000, 20000}
    assert all(one.unlabelled == 0 for one in trials if one.method in {GLOBAL, CLAIRVOYANT})
    assert [one.draw for one in trials] == sorted(one.draw for one in trials)


def _journal(trials, errors):
    known = {}
    for one in trials:
        regions = {GRAPH: None, LAPLACIAN: None}.get(one.method, 2)
        known[one.key] = {"error": errors[one.method], "regions": regions, "seconds": 0.5}
    return Journal(None, known)


def test_tables_show_every_row_losing_ones_included():
    few = {2000: 2}
    draws = {GLOBAL: {0: 2}, CLAIRVOYANT: {0: 2}, OURS: few, SLIDES: few, GRAPH: {2000: 1}}
    plan = Plan(("dollar sign", "two squares"), (20, 40), draws, (2000,), 1)
    trials = list(trials_of(plan))
    errors = {GLOBAL: 1.0, CLAIRVOYANT: 0.2, OURS: 0.6, SLIDES: 2.0, GRAPH: 0.9}
    found = run_trials(trials, _journal(trials, errors))
    cells = cells_of(found)
    text = "\n".join(error_lines(cells, "regression"))
    assert "| slides' settings | 2000 | 2.000 (2) | 2.000 (2) |" in text
    assert "| GraphRegularized, 1 draws | 2000 | 0.900 | 0.900 |" in text
    assert "ours goes 50% at m = 2000" in verdict_lines(cells)[0]
    assert "worse" not in verdict_lines(cells)[0]
    assert seconds_of(found)[OURS] == 0.5 * 2 * 2 * 2 * 2
    record = multi_manifold_record(Size.FULL, plan, cells, [], seconds_of(found))
    assert json.loads(record_text(record))["errors"][0]["each"] == [1.0, 1.0]
    worse = cells_of(run_trials(trials, _journal(trials, {**errors, OURS: 1.5})))
    assert "worse than Global at n = 20, m = 2000 (1.5 against 1)" in verdict_lines(worse)[0]
    figure = draw_curves(cells)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["dollar sign", "two squares"]


def test_a_trial_in_the_journal_is_named_by_all_that_it_depends_on():
    one = Trial("dollar sign", "regression", OURS, 20, 2000, 3)
    assert one.key == "dollar sign/regression/ours/20/2000/3"
    assert problem_of("two squares", 0) is problem_of("two squares", 0)


def test_shades_go_from_light_to_the_colour_itself():
    assert_allclose(shade("#0072B2", 2, 3), to_rgb("#0072B2"))
    assert sum(shade("#0072B2", 0, 3)) > sum(shade("#0072B2", 1, 3))
    assert_allclose(shade("#0072B2", 0, 1), to_rgb("#0072B2"))


def test_purity_is_the_share_on_the_commonest_manifold():
    assert purity(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])) == 0.8
    assert purity(np.arange(5), np.array([0, 0, 1, 1, 1])) == 1.0


def test_purities_are_tabled_beside_plain_clusters():
    cells = purity_cells((300,), 1, Journal(), noises=(0.0,), counts=(2, 12))
    means = {(cell["method"], cell["regions"]): cell["mean"] for cell in cells}
    assert means[OURS, 12] > means[KMEANS, 12]
    lines = purity_lines(cells)
    assert lines[0].endswith("| 2 regions | 12 regions |")
    assert "Mean purity of at least 0.95 at 12 regions" in lines[-1]


@pytest.mark.parametrize("margin", [0.2, 0.0, -0.4])
def test_decision_sets_are_either_square_alone_and_their_overlap(margin):
    plain = two_squares(2000, gap=margin, random_state=0)
    found = squares(2000, margin=margin, random_state=0)
    points, height = np.asarray(plain.points), plain.extras["position"]
    sets = decision_sets(points, margin)
    in_left = (points[:, 0] >= -1 - margin / 2) & (points[:, 0] <= -margin / 2)
    in_right = (points[:, 0] >= margin / 2) & (points[:, 0] <= 1 + margin / 2)
    assert ((sets == 2) == (in_left & in_right)).all()
    assert_allclose(np.asarray(found.targets)[sets == 0], 1 + height[sets == 0])
    assert_allclose(np.asarray(found.targets)[sets == 1], -1 - height[sets == 1])
    assert (np.asarray(found.targets)[sets == 2] == 0).all()
    assert ((sets == 2).mean() > 0.3) == (margin < 0)


def test_the_slide_says_where_unlabelled_points_help():
    for margin, wanted in ((0.2, "no"), (0.05, "yes"), (0.01, "no"), (-0.01, "no"), (-0.1, "yes")):
        assert slide_verdict(margin, 80, 4000) == wanted


def test_a_gain_within_two_standard_errors_is_none():
    assert our_verdict({"gain": 0.1, "gain_error": 0.06}) == "no"
    assert our_verdict({"gain": 0.1, "gain_error": 0.04}) == "yes"
    assert our_verdict({"gain": -0.1, "gain_error": 0.04}) == "harm"


def test_margins_are_tabled_and_drawn_with_paired_gains():
    found = {}
    for one in margin_trials(SMALL):
        error = {GLOBAL: 0.5, CLAIRVOYANT: 0.1, OURS: 0.3}[one.method] + 0.01 * one.draw
        found[one] = {"error": error, "regions": 1, "seconds": 0.1}
    cells = margin_cells(found)
    ours = next(cell for cell in cells if cell["method"] == OURS)
    assert (ours["gain"], ours["gain_error"]) == (0.2, 0.0)
    text = "\n".join(margin_lines(cells))
    assert "| 0.3 | 0.505 | 0.105 | 0.305 ± 0.007 | yes (no) |" in text
    figure = draw_margins(cells)
    assert figure.axes[0].get_xlim()[0] > figure.axes[0].get_xlim()[1]
    assert (
        json.loads(record_text(margin_record(Size.BOOK, SMALL, found)))["n"]
        == "30 labelled, 300 unlabelled"
    )


def test_the_figure_of_six_sets_is_made_from_a_tiny_plan(monkeypatch):
    draws = {GLOBAL: {0: 1}, CLAIRVOYANT: {0: 1}, OURS: {200: 1}}
    plan = Plan(("dollar sign",), (20,), draws, (200,), 1)
    few = partial(purity_cells, noises=(0.0,), counts=(2,))
    monkeypatch.setattr(multi_manifold, "plan_for", lambda size: plan)
    monkeypatch.setattr(multi_manifold, "purity_cells", few)
    found = multi_manifold.multi_manifold_figure(Size.QUICK)
    assert {cell["method"] for cell in found.record["errors"]} == set(draws)
    assert "## Purity of the regions" in found.table


def test_the_figure_of_margins_is_made_from_a_tiny_plan(monkeypatch):
    monkeypatch.setattr(now_it_helps, "margin_plan", lambda size: SMALL)
    found = now_it_helps.now_it_helps_figure(Size.QUICK)
    assert len(found.record["errors"]) == 2 * 3
    assert "| margin |" in found.table


def test_margin_trials_of_one_draw_share_their_points():
    trials = list(margin_trials(SMALL))
    assert trials[0] == MarginTrial(GLOBAL, 0.3, 30, 0, 0)
    assert len(trials) == len(set(trials)) == 2 * 2 * 3
    problem = multi_manifold_margins.margin_problem(0.3, 0)
    assert problem is multi_manifold_margins.margin_problem(0.3, 0)


def test_scenes_are_fitted_with_the_regions_they_ask_for():
    model, labelled = fit_scene(SCENES[0], 500)
    assert model.n_regions_ == 12
    assert len(labelled) == 80


def test_the_book_runs_a_part_of_the_full_plan():
    book, full = plan_for(Size.BOOK), plan_for(Size.FULL)
    assert set(trials_of(book)) < set(trials_of(full))
    assert set(margin_trials(margin_plan(Size.BOOK))) < set(margin_trials(margin_plan(Size.FULL)))
    assert Size.FULL.reproduction_name("x") == "x-full"
    assert Size.QUICK.reproduction_name("x") == Size.BOOK.reproduction_name("x") == "x"
