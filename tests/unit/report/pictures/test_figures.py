import numpy as np
import pytest
from matplotlib.figure import Figure

from beltrami.core.errors import InvalidInputError
from beltrami.report.pictures.boundary_pictures import draw_directions
from beltrami.report.pictures.figures import (
    rows_figure,
    save_figure,
    scatter_groups,
    scatter_values,
)
from beltrami.report.pictures.palette import style_of
from beltrami_papers.thesis.chapter4.convergence import HARMONICS, convergence_error


def test_the_first_twenty_four_groups_look_different():
    assert len({style_of(group) for group in range(24)}) == 24


def test_groups_get_a_legend_and_values_a_colour(tmp_path):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    coordinates = np.random.default_rng(0).random((30, 2))
    scatter_groups(left, coordinates, np.arange(30) % 3, names=["a", "b", "c"])
    scatter_values(right, coordinates, np.arange(30))
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["a", "b", "c"]
    path = save_figure(figure, tmp_path / "sub" / "picture.png")
    assert path.is_absolute()
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in path.parent.iterdir()] == ["picture.png"]


@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf", ".PNG"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, kind):
    figure = Figure()
    figure.subplots().plot([0, 1])
    first = save_figure(figure, tmp_path / f"a{kind}").read_bytes()
    assert save_figure(figure, tmp_path / f"b{kind}").read_bytes() == first


def test_a_picture_of_no_known_kind_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"'a.bmp' must end in one of .png, .svg, .pdf"):
        save_figure(Figure(), tmp_path / "a.bmp")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("harmonic", HARMONICS, ids=lambda h: h.name)
def test_the_heat_kernel_laplacian_converges(harmonic):
    """Medians over draws: sixteen times the points, clearly less error (thesis ch. 4)."""
    few = np.median([convergence_error(harmonic, 500, seed=s) for s in range(5)])
    many = np.median([convergence_error(harmonic, 8000, seed=s) for s in range(5)])
    assert many < 0.75 * few
    assert many < 0.2


ODD_NAMES = [r"$\frac{$", r"$\notacommand$", "_private", "a\x1b[31mb\udcff", "5$ or 10$"]


@pytest.mark.parametrize("kind", [".png", ".svg", ".pdf"])
def test_class_names_are_drawn_letter_by_letter(tmp_path, kind):
    figure = Figure()
    axes = figure.subplots()
    coordinates = np.random.default_rng(0).random((5, 2))
    scatter_groups(axes, coordinates, np.arange(5), names=ODD_NAMES)
    assert len(axes.get_legend().get_texts()) == 5
    draw_directions(axes, coordinates[:2], ODD_NAMES[:2], 1.0)
    save_figure(figure, tmp_path / f"groups{kind}")
    labels = np.array([None, *ODD_NAMES], dtype=object)
    drawn = rows_figure(np.random.default_rng(1).random((6, 2)), labels)
    save_figure(drawn, tmp_path / f"map{kind}")
    shown = [text.get_text() for text in drawn.axes[0].get_legend().get_texts()]
    assert len(shown) == 5
    assert r"5\$ or 10\$" in shown  # which matplotlib shows without the backslashes
