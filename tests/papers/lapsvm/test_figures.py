"""Pictures of many two-class problems."""

import numpy as np
import pytest

from beltrami_papers.lapsvm.figures import draw_pairs, draw_speakers

RNG = np.random.default_rng(0)


def _views(names, shape):
    return {name: RNG.uniform(1, 20, shape) for name in names}


@pytest.fixture
def pairs():
    machines = ("RLS", "LapRLS", "SVM", "TSVM", "LapSVM")
    table = {name: _views(("unlabelled", "test"), (3, 4)) for name in machines}
    return table, draw_pairs(table, ["0-1", "0-2", "1-2"], "t")


def _labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_pairs_fill_six_panels_with_a_mark_per_pair(pairs):
    table, figure = pairs
    assert len(figure.axes) == 6
    first = figure.axes[0]
    assert _labels(first)[0] == f"RLS, mean {table['RLS']['unlabelled'].mean():.2f}"
    assert [tick.get_text() for tick in first.get_xticklabels()] == ["0", "1"]
    marks = [line for line in first.lines if line.get_label().startswith("RLS")]
    np.testing.assert_allclose(marks[0].get_ydata(), table["RLS"]["unlabelled"].mean(axis=1))


def test_out_of_sample_panels_have_both_machines_and_one_scale(pairs):
    _, figure = pairs
    for axes in figure.axes[3:]:
        assert axes.get_xlim() == axes.get_ylim()
    assert _labels(figure.axes[4]) == ["SVM", "LapSVM"]
    assert len(_labels(figure.axes[5])) == 3


def test_speakers_have_least_squares_left_and_margins_right():
    machines = ("RLS", "LapRLS (a)", "LapRLS (b)", "SVM", "TSVM", "LapSVM (a)", "LapSVM (b)")
    table = {name: _views(("unlabelled", "isolet5"), (6, 1)) for name in machines}
    figure = draw_speakers(table, "t")
    assert len(figure.axes) == 4
    assert [label.split(":")[0] for label in _labels(figure.axes[2])] == list(machines[:3])
    assert [label.split(":")[0] for label in _labels(figure.axes[3])] == list(machines[3:])
    colours = {line.get_color() for line in figure.axes[1].lines}
    assert len(colours) == 4
    for axes in figure.axes:
        low, high = axes.get_ylim()
        heights = np.concatenate([np.asarray(line.get_ydata()) for line in axes.lines])
        assert low < heights.min()
        assert heights.max() < high
