"""Mbed's tables and figures: how clusters are judged, what is drawn, and quick runs."""

import json
from itertools import combinations

import numpy as np
import pytest
from matplotlib.figure import Figure

from beltrami import Mbed
from beltrami.core.errors import InvalidInputError
from beltrami.embeddings.mbed.modes import PaperMode
from beltrami.embeddings.mbed.simplex import simplex_directions
from beltrami.embeddings.mbed.stages import separation
from beltrami.report.pictures.boundary_pictures import (
    boundary_rays,
    map_figure,
    nearest_stages,
)
from beltrami.report.pictures.boundary_views import view_of
from beltrami_papers import REPRODUCTIONS
from beltrami_papers.mbed import clusters
from beltrami_papers.mbed.agreement import (
    cluster_of_each_class,
    inconsistent_pairs,
    outside_own_cluster,
)
from beltrami_papers.mbed.clusters import (
    cluster_cells,
    cluster_record,
    clusterers,
    pairs_table,
)
from beltrami_papers.mbed.digits import Images, cell_of, drawn_start, fit_map
from beltrami_papers.mbed.figures import draw_annealing
from beltrami_papers.mbed.labels import (
    PAPER,
    PRACTICAL,
    label_cells,
    label_record,
    label_table,
    marks_of,
    methods_of,
)
from beltrami_papers.mbed.logistic import annealed_scales
from beltrami_papers.mbed.problems import per_class_draws
from beltrami_papers.model import StageClock, record_text
from beltrami_papers.preparation import LabelledDraws


def _blobs(n=90, k=3, d=6, seed=0):
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % k
    return rng.normal(size=(n, d)) + 6.0 * np.eye(k, d)[classes], classes


def _problem(name="USPS", n_splits=2):
    points, classes = _blobs()
    return LabelledDraws(name, points, classes, per_class_draws(classes, n_splits=n_splits))


@pytest.fixture(scope="module")
def model():
    points, classes = _blobs()
    y = np.where(np.arange(90) < 9, classes, -1)
    return Mbed(mode=PaperMode(n_steps=48), random_state=0).fit(points, y)


def test_inconsistent_pairs_are_those_of_a_plain_count():
    rng = np.random.default_rng(0)
    classes, clusters = rng.integers(4, size=40), rng.integers(3, size=40)
    wrong = [
        (classes[i] == classes[j]) != (clusters[i] == clusters[j])
        for i, j in combinations(range(40), 2)
    ]
    assert inconsistent_pairs(classes, clusters) == pytest.approx(100 * np.mean(wrong))
    assert inconsistent_pairs(classes, 7 - classes) == 0


def test_clusters_are_matched_to_classes_even_where_some_are_empty():
    classes = np.array(["a", "a", "a", "b", "b", "c"])
    clusters = np.array([3, 3, 0, 0, 0, 0])
    order = cluster_of_each_class(classes, clusters, 4)
    assert order[:2].tolist() == [3, 0]
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert outside_own_cluster(classes, clusters, 4).tolist() == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]


def test_more_classes_than_clusters_cannot_be_matched():
    with pytest.raises(InvalidInputError, match="3 classes cannot each have one of 2 clusters"):
        cluster_of_each_class(np.arange(3), np.array([0, 1, 1]), 2)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("extra", [0, 1, 3])
def test_one_plane_settles_the_class_of_every_point_with_two_and_three_classes(k, extra):
    rng = np.random.default_rng(k + extra)
    directions = simplex_directions(k, k - 1 + extra)
    embedding = rng.normal(size=(50, k - 1 + extra))
    view = view_of(embedding, directions)
    assert view.shows_boundaries
    np.testing.assert_allclose(
        (view.positions @ view.directions.T).argmax(axis=1),
        (embedding @ directions.T).argmax(axis=1),
    )
    np.testing.assert_allclose(np.linalg.norm(view.directions, axis=1), 1)
    for ray in boundary_rays(view.directions):
        first, second = np.sort(view.directions @ ray)[::-1][:2]
        assert first == pytest.approx(second)


def test_the_first_of_three_classes_is_on_top_whatever_the_rotation():
    rng = np.random.default_rng(0)
    directions, embedding = simplex_directions(3, 3), rng.normal(size=(20, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    plain, turned = view_of(embedding, directions), view_of(embedding @ turn, directions @ turn)
    np.testing.assert_allclose(plain.directions[0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(turned.positions, plain.positions, atol=1e-12)


def test_the_plane_of_many_classes_separates_best_and_turns_with_the_map():
    rng = np.random.default_rng(1)
    directions = simplex_directions(5, 6)
    codes = rng.integers(5, size=400)
    embedding = 3 * directions[codes] + rng.normal(size=(400, 6)) * np.array([1, 4, 1, 4, 0.3, 1])
    view = view_of(embedding, directions, codes)
    best = separation(view.positions, codes, 5)
    np.testing.assert_allclose(view.axes.T @ view.axes, np.eye(2), atol=1e-12)
    inside = np.linalg.svd(directions)[2][:4].T
    for _ in range(200):
        plane = inside @ np.linalg.qr(rng.normal(size=(4, 2)))[0]
        assert separation(embedding @ plane, codes, 5) <= best + 1e-9
    turn = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    turned = view_of(embedding @ turn, directions @ turn, codes)
    assert separation(turned.positions, codes, 5) == pytest.approx(best)
    np.testing.assert_allclose(np.abs(turned.positions), np.abs(view.positions), atol=1e-8)
    assert not view.shows_boundaries


def test_a_map_is_drawn_with_its_groups_and_its_labelled_points(model):
    figure = map_figure(model, labelled=np.arange(9), names=["a", "b", "long name"], title="t")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "long name"]
    assert [len(points.get_offsets()) for points in axes.collections] == [27] * 3 + [3] * 3
    assert len(axes.lines) == 3


def test_many_classes_have_arrows_and_no_boundaries():
    points, classes = _blobs(80, 4)
    model = Mbed(mode=PaperMode(n_steps=30), random_state=0).fit(points, classes)
    (axes,) = map_figure(model, classes, labelled=[0, 1]).axes
    assert not axes.lines
    assert {text.get_text() for text in axes.texts} - {""} <= {"0", "1", "2", "3"}


def test_of_a_stage_that_the_path_lacks_the_nearest_is_taken(model):
    assert [stage.number for stage in nearest_stages(model.path_, (1, 5, 99))] == [2, 5, 20]


def test_the_curves_of_figure_one_run_from_ten_radii_to_a_tenth():
    scales = annealed_scales()
    assert (scales[0], scales[9], scales[-1]) == pytest.approx((10, 1, 0.1))
    assert isinstance(REPRODUCTIONS["mbed-figure-1"].make().figure, Figure)


def test_draws_have_two_labels_of_each_class_and_come_back():
    _, classes = _blobs()
    draws = per_class_draws(classes)
    assert draws.shape == (10, 6)
    assert all(np.bincount(classes[rows]).tolist() == [2, 2, 2] for rows in draws)
    np.testing.assert_array_equal(draws[:4], per_class_draws(classes, n_splits=4))


def test_a_thinned_set_keeps_the_labels_of_its_first_split():
    whole = _problem()
    small = whole.thin_out(20)
    assert (len(small.classes), small.draws.shape) == (26, (1, 6))
    given = whole.classes[whole.draws[0]]
    np.testing.assert_array_equal(small.labels(0)[:6], given)
    assert (small.labels(0)[6:] == -1).all()


def test_clusters_of_separate_blobs_have_no_inconsistent_pair():
    clock = StageClock()
    cells = cluster_cells([_problem("g50c")], clusterers(quick=True), clock)
    found = {cell["method"]: cell for cell in cells}
    assert set(found) == {"k-means", PAPER, PRACTICAL, "SpectralClustering"}
    assert found["k-means"]["pairs"] == found["k-means"]["error"] == 0
    assert found["k-means"]["published"] == 9.02
    assert "published" not in found["SpectralClustering"]
    assert all(sum(cell["sizes"]) == 90 for cell in cells)
    assert "| k-means | 0.00 (9.02) |" in pairs_table(cells)
    record = cluster_record(cells, clock)
    assert json.loads(record_text(record)) == record


def test_the_table_of_clusters_is_made_from_its_sets(monkeypatch):
    monkeypatch.setattr(clusters, "DATASETS", {"g50c": "g50c"})
    monkeypatch.setattr(clusters, "benchmark", lambda name, quick: _problem(name, 1 + quick))
    found = clusters.clusters_table(quick=True)
    assert found.record["data"] == "g50c (g50c)"
    assert len(found.record["errors"]) == 4
    assert found.table.startswith("# mbed-table-1: ")
    assert found.record["starts"] == {"g50c": [0.0, 0.0]}
    assert "- g50c: 0.00, 0.00; mean 0.00, the paper 9.68." in found.table


def test_errors_with_few_labels_are_kept_split_by_split():
    clock, problem = StageClock(), _problem(n_splits=6)
    rows = ("PoissonClassifier", "1-NN", "the same, reach=1", PAPER)
    methods = {name: methods_of(quick=True)[name] for name in rows}
    cells = label_cells([problem], methods, clock)
    found = {cell["method"]: cell for cell in cells}
    assert {name: len(cell["each"]) for name, cell in found.items()} == {
        "PoissonClassifier": 6,
        "1-NN": 6,
        "the same, reach=1": 5,
        PAPER: 6,
    }
    assert found["PoissonClassifier"]["mean"] < 10
    assert found[PAPER]["published"] == 30.57
    assert found[PAPER]["mean"] == pytest.approx(np.mean(found[PAPER]["each"]), abs=1e-3)
    table = "\n".join(label_table(cells))
    assert "the same, reach=1 (first 5 splits)" in table
    assert "of these, the first 5 splits" in table
    assert "| *paper: LDS* | 15.79 |" in table
    record = label_record(cells, clock)
    assert json.loads(record_text(record)) == record


def test_marks_look_at_the_means():
    def cell(data, method, mean):
        return {"data": data, "method": method, "mean": mean}

    cells = [cell("g50c", PAPER, 6.4), cell("TEXT", PAPER, 9.1)]
    cells += [cell("COIL", PAPER, 30.0), cell("COIL", PRACTICAL, 10.0)]
    assert [mark["held"] for mark in marks_of(cells)] == [True, False, True]


def test_figure_three_counts_wrong_points_and_shows_the_annealing():
    points, classes = _blobs()
    images = Images(points, np.array([2, 4, 8])[classes], np.arange(9))
    clustered = fit_map(images, None, 0, quick=True)
    taught = fit_map(images, images.labels(), 0, quick=True)
    cells = [cell_of(images, clustered, "clusters", 0), cell_of(images, taught, "labels", 0)]
    assert [cell["of"] for cell in cells] == [90, 81]
    assert cells[1]["wrong"] == int((taught.transduction_ != images.digits)[9:].sum())
    figure = draw_annealing(images, clustered, taught, cells)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[1].endswith(f"{cells[1]['wrong']} of 81 unlabelled points wrong")
    assert "(in place of 1)" in titles[2]
    assert len(titles) == 6


@pytest.mark.data
@pytest.mark.parametrize("name", ["mbed-figure-2", "mbed-figure-3"])
def test_a_quick_run_of_a_figure_leaves_its_files(name, quick_run, data_folder, tmp_path):
    found = quick_run(name)
    assert found.record["name"] == name
    assert drawn_start(found.record["errors"])["of"] > 0
    assert {path.suffix for path in found.save(name, tmp_path)} == {".png", ".json", ".md"}
    assert str(data_folder) not in (tmp_path / f"{name}.json").read_text() + found.table
