"""The map's data are exact to their last bit, and never larger than they may be."""

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.support.fake_pages import DOT, HOSTILE, fake_page, filled_page

from beltrami.core.errors import InvalidInputError
from beltrami.report.page.packing import pack_map, quantise, safe_json, shorten


def column(packed, name: str, kind: str):
    return np.frombuffer(base64.b64decode(packed[name]), dtype=kind)


def test_columns_come_back_as_they_went_in():
    page = fake_page(200, 3)
    packed = json.loads(pack_map(page).json)
    assert packed["n"] == 200
    np.testing.assert_array_equal(column(packed, "codes", "u1").astype(int) - 1, page.codes)
    np.testing.assert_array_equal(column(packed, "given", "u1").astype(int) - 1, page.given)
    np.testing.assert_array_equal(column(packed, "source", "u1"), page.source)
    np.testing.assert_allclose(
        column(packed, "confidence", "u1") / 255, page.confidence, atol=0.5 / 255 + 1e-12
    )
    assert packed["classes"] == list(page.classes)
    assert [one["mark"] for one in packed["styles"]] == ["disc"] * 3


def test_codes_take_two_bytes_above_254_classes():
    codes = np.arange(400) % 300
    page = replace(
        fake_page(400, 3), classes=tuple(map(str, range(300))), codes=codes, questions=(), issues=()
    )
    packed = json.loads(pack_map(page).json)
    np.testing.assert_array_equal(column(packed, "codes", "<u2").astype(int) - 1, codes)


def test_more_classes_than_codes_are_refused():
    page = replace(fake_page(40, 2), classes=tuple(map(str, range(70_000))))
    with pytest.raises(InvalidInputError, match="70000 classes"):
        pack_map(page)


def test_row_numbers_are_not_written_as_ids():
    page = fake_page(50, 2)
    packed = json.loads(pack_map(page).json)
    assert packed["ids"] is None
    np.testing.assert_array_equal(column(packed, "rows", "<u4"), np.arange(50))
    named = replace(page, ids=np.array([f"r{i}" for i in range(50)], dtype=object))
    packed = json.loads(pack_map(named).json)
    assert packed["rows"] is None
    assert packed["ids"][7] == "r7"


def test_a_sample_keeps_given_labels_and_named_rows():
    page = fake_page(5000, 3, n_given=5)
    packed = pack_map(page, max_drawn=100)
    rows = column(json.loads(packed.json), "rows", "<u4")
    assert packed.n_drawn == len(set(rows)) == 100
    assert packed.has_all_given
    assert set(np.flatnonzero(page.given >= 0)) <= set(rows)
    for question in page.questions:
        assert rows[packed.places[question.id]] == int(question.id)


def test_the_sample_is_spread_over_the_rows_and_always_the_same():
    page = fake_page(20_000, 3)
    packed = pack_map(page, max_drawn=2000)
    rows = column(json.loads(packed.json), "rows", "<u4")
    assert np.histogram(rows, 10, (0, 20_000))[0].min() > 120
    assert packed == pack_map(page, max_drawn=2000)


def test_more_given_labels_than_room_are_sampled_and_it_is_said():
    page = fake_page(500, 2, n_given=80)
    packed = pack_map(page, max_drawn=50)
    assert packed.n_drawn == 50
    assert not packed.has_all_given


def test_rows_without_a_place_are_left_out():
    page = fake_page(60, 2)
    page.positions[3, 0] = np.nan
    page.positions[9, 1] = np.inf
    packed = pack_map(page)
    assert (packed.n_drawn, packed.n_lost) == (58, 2)
    assert 3 not in column(json.loads(packed.json), "rows", "<u4")


def test_long_previews_are_cut_before_rows_are_dropped():
    page = fake_page(1000, 2, previews=lambda rows: ["word " * 40] * len(rows))
    whole = pack_map(page)
    assert {len(text) for text in json.loads(whole.json)["previews"]} == {120}
    small = pack_map(page, max_bytes=70_000)
    assert small.n_drawn == 1000
    assert {len(text) for text in json.loads(small.json)["previews"]} == {40}
    smaller = pack_map(page, max_bytes=20_000)
    assert 200 < smaller.n_drawn < 1000
    assert smaller.has_all_given
    assert len(smaller.json.encode()) <= 20_000


def test_a_map_without_positions_is_refused():
    with pytest.raises(InvalidInputError, match="no positions"):
        pack_map(fake_page(10, 2, positions=None))


@given(arrays(np.float64, st.tuples(st.integers(1, 20), st.just(2)), elements=st.floats(-1e3, 1e3)))
def test_quantised_places_are_near_the_true_ones(positions):
    places, extent = quantise(positions)
    low, span = positions.min(axis=0), np.ptp(positions, axis=0).max()
    back = low + places / 65_535 * span
    np.testing.assert_allclose(back, positions, atol=span / 65_535 + 1e-9)
    assert 0.001 <= min(extent) <= max(extent) <= 1.0


def test_one_place_for_all_is_the_middle():
    places, extent = quantise(np.full((3, 2), 7.0))
    np.testing.assert_array_equal(places, 32_768)
    assert extent == (1.0, 1.0)


def test_the_largest_floats_can_be_quantised():
    places, _ = quantise(np.array([[-1.7e308, 0.0], [1.7e308, 1.0]]))
    np.testing.assert_array_equal(places[:, 0], [0, 65_535])


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=4)))
@example(HOSTILE)
@example("<!--<script>")
def test_json_holds_no_markup_and_reads_back(value):
    text = safe_json(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


@given(st.text(), st.integers(2, 30))
def test_shortened_text_is_one_line_of_bounded_length(text, length):
    short = shorten(text, length)
    assert len(short) <= length
    assert "\n" not in short


def test_a_line_that_was_cut_says_so_also_where_it_is_short_for_its_spaces() -> None:
    assert shorten("one" + 200 * " " + "two", 20) == "one…"
    assert shorten("one" + 200 * " ", 20) == "one"
    assert shorten("twelve chars and more", 12) == "twelve char…"


def test_pictures_are_packed_once_and_only_of_rows_that_no_table_shows() -> None:
    page = filled_page()
    named = {one.id for one in page.questions} | {one.id for one in page.issues}
    named |= {name for one in page.islands for name in one.examples[:5]}
    pictures = json.loads(pack_map(page).json)["pictures"]
    assert set(pictures) == {str(row) for row in range(100)} - named
    assert set(pictures.values()) == {DOT}


def test_what_tables_show_leaves_less_room_for_the_map() -> None:
    page = filled_page(2000)
    whole = pack_map(page, max_bytes=90_000)
    large = {one.id: "A" * 4000 for one in page.questions}
    less = pack_map(replace(page, pictures=large), max_bytes=90_000)
    assert len(whole.json) > 70_000
    assert len(less.json) < 90_000 - 12 * 4000


def test_previews_are_asked_for_the_rows_that_are_drawn() -> None:
    asked: list[int] = []

    def previews(rows: np.ndarray) -> list[str]:
        asked.extend(rows.tolist())
        return ["words"] * len(rows)

    pack_map(fake_page(500, 2, previews=previews), max_drawn=100)
    assert len(asked) == 100
