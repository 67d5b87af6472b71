"""Pictures of separated data: what is projected, coloured and drawn."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from numpy.testing import assert_allclose

from beltrami import MultiManifoldClassifier, MultiManifoldRegressor
from beltrami.core.errors import InvalidInputError
from beltrami.data import dollar_sign, surface_sphere
from beltrami.data.shapes.crossing import crossing_spheres
from beltrami.report.pictures.figures import save_figure
from beltrami.report.pictures.palette import OKABE_ITO
from beltrami.report.pictures.region_pictures import (
    draw_cut,
    draw_links,
    draw_predictions,
    draw_shapes,
    region_figure,
)
from beltrami.report.pictures.region_views import farthest_rows, panels_of, region_colours, view_of


def _fitted(dataset, n_regions=4, n_labelled=40):
    n = len(dataset.points)
    labelled = np.random.default_rng(0).permutation(n)[:n_labelled]
    y = np.full(n, np.nan)
    y[labelled] = dataset.targets[labelled]
    model = MultiManifoldRegressor(n_regions=n_regions, random_state=0)
    return model.fit(dataset.points, y), labelled


@pytest.fixture(scope="module")
def dollar():
    return _fitted(dollar_sign(600, random_state=0), n_regions=6)


@pytest.fixture(scope="module")
def surface():
    return _fitted(surface_sphere(600, random_state=0))


def test_two_and_three_dimensions_are_shown_as_they_are():
    rng = np.random.default_rng(0)
    for d in (2, 3):
        points = rng.random((20, d))
        view = view_of(points)
        assert view.is_solid == (d == 3)
        assert_allclose(view.place(points), points)
    line = rng.random((20, 1))
    assert_allclose(view_of(line).place(line), np.column_stack([line, np.zeros(20)]))


def test_more_dimensions_are_shown_on_the_plane_of_largest_spread():
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    points = rng.standard_normal((400, 7)) * [9, 5, 1, 1, 1, 0.5, 0.1] @ frame + 3
    view = view_of(points)
    assert_allclose(view.axes.T @ view.axes, np.eye(2), atol=1e-12)
    alike = np.abs(frame[:2] @ view.axes)
    assert_allclose(alike, np.eye(2), atol=0.15)
    assert_allclose(view.place(points).mean(axis=0), 0, atol=1e-10)


def test_regions_that_touch_have_different_colours(dollar):
    model, _ = dollar
    colours = region_colours(model.shape_graph_, model.node_regions_)
    assert len(colours) == 6
    assert set(colours) <= set(OKABE_ITO)
    weights = model.shape_graph_.graph.weights.tocoo()
    ends = model.node_regions_[weights.row], model.node_regions_[weights.col]
    for one, other in set(zip(*ends, strict=True)):
        assert (colours[one] == colours[other]) == (one == other)


def test_rows_are_chosen_far_apart():
    places = np.concatenate([np.zeros((50, 2)), np.ones((1, 2)), [[0.0, 1.0]]])
    assert sorted(map(tuple, places[farthest_rows(places, 3)])) == [(0, 0), (0, 1), (1, 1)]
    assert len(farthest_rows(places[:2], 5)) == 2


def test_an_ellipse_has_the_half_axes_of_its_covariance(dollar):
    model, _ = dollar
    separated = model.shape_graph_
    view = view_of(separated.points)
    axes = panels_of(Figure(), 1, view)[0]
    assert draw_shapes(axes, separated, view, n_shapes=10, scale=2.0) == 2.0
    outlines = [path.vertices[:-1] for path in axes.collections[-1].get_paths()]
    nodes = farthest_rows(separated.points[separated.rows], 10)
    assert len(outlines) == 10
    for outline, node in zip(outlines, nodes, strict=True):
        steps = outline - separated.points[separated.rows[node]]
        inverse = np.linalg.inv(separated.shapes.covariance(int(node)))
        assert_allclose(np.einsum("pa,ab,pb->p", steps, inverse, steps), 4.0, rtol=1e-6)


def test_links_are_drawn_once_with_the_strong_ones_on_top(dollar):
    model, _ = dollar
    view = view_of(model.shape_graph_.points)
    figure = Figure()
    axes = panels_of(figure, 1, view)[0]
    draw_links(axes, model.shape_graph_, view, colour_bar=True)
    drawn = axes.collections[0]
    assert len(drawn.get_segments()) == model.shape_graph_.graph.n_edges
    assert (np.diff(drawn.get_array()) >= 0).all()
    # Strong links are darker.
    weak, strong = drawn.cmap(0.0), drawn.cmap(1.0)
    assert sum(weak[:3]) > sum(strong[:3]) + 1


def test_the_story_has_four_panels_and_rings_the_labels(dollar, tmp_path):
    model, labelled = dollar
    figure = region_figure(model, labelled=labelled, title="Dollar sign")
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles[1:] == ["graph of like shapes", "cut into 6 regions", "predictions"]
    assert titles[0].startswith("local covariances")
    rings = figure.axes[3].collections[-1]
    assert_allclose(np.asarray(rings.get_offsets()), model.shape_graph_.points[labelled])
    assert save_figure(figure, tmp_path / "story.png").stat().st_size > 10_000


def test_three_dimensions_are_drawn_in_space(surface):
    model, labelled = surface
    figure = region_figure(model, labelled=labelled)
    kinds = [type(drawn) for axes in figure.axes[:2] for drawn in axes.collections]
    assert Poly3DCollection in kinds
    assert Line3DCollection in kinds


def test_five_dimensions_are_projected_and_new_points_can_be_shown():
    dataset = crossing_spheres(400, dimensions=(1, 4), random_state=0)
    model, _ = _fitted(dataset, n_regions=3)
    queries = np.asarray(crossing_spheres(50, dimensions=(1, 4), random_state=1).points)
    figure = region_figure(model, queries=queries)
    assert len(figure.axes[3].collections[0].get_offsets()) == 50


def test_classes_are_drawn_in_colours_of_their_own():
    dataset = dollar_sign(400, random_state=0)
    y = np.full(400, -1)
    y[::10] = (dataset.targets > 0)[::10]
    model = MultiManifoldClassifier(n_regions=3, random_state=0).fit(dataset.points, y)
    figure = region_figure(model)
    groups = figure.axes[3].collections
    assert sum(len(group.get_offsets()) for group in groups) == 400
    assert len({tuple(group.get_facecolors()[0]) for group in groups}) == 2


def test_a_cut_without_a_graph_takes_the_palette_in_order():
    points = np.random.default_rng(0).random((8, 2))
    view = view_of(points)
    axes = panels_of(Figure(), 1, view)[0]
    draw_cut(axes, view, points, np.arange(8))
    assert len(np.unique(axes.collections[0].get_facecolors(), axis=0)) == 6
    draw_predictions(axes, view, points, np.linspace(0, 1, 8))
    assert axes.collections[1].get_array() is not None


def test_one_region_without_a_graph_is_refused_with_advice():
    points = np.random.default_rng(0).random((30, 2))
    y = np.full(30, np.nan)
    y[:6] = points[:6, 0]
    model = MultiManifoldRegressor(n_regions=1).fit(points, y)
    with pytest.raises(InvalidInputError, match="n_regions of at least 2"):
        region_figure(model)


def test_the_library_does_not_import_matplotlib_by_itself():
    code = "import sys, beltrami; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
