"""Two runs beside each other: every number counts, circumstances do not."""

import math

from hypothesis import given
from hypothesis import strategies as st

from beltrami_papers.comparison import TOLERANCE, agreement, compare_runs

RECORD = {
    "name": "x",
    "seconds": {"total": 3.0},
    "threads": 2,
    "errors": [{"mean": 12.0, "std": None, "held": True, "seconds": 1.0}, {"mean": 0.5}],
}


def test_circumstances_do_not_count():
    other = {**RECORD, "seconds": {"total": 9.0, "more": 1.0}, "threads": 1}
    found = agreement("x", RECORD, other)
    assert (found.n_numbers, found.largest, found.holds()) == (2, 0.0, True)


def test_the_largest_difference_and_its_place_are_found():
    other = {**RECORD, "errors": [{"mean": 12.3}, {"mean": 0.51}]}
    found = agreement("x", RECORD, other)
    assert found.place == "errors[0]/mean"
    assert math.isclose(found.largest, 0.3 / 12.3)  # relative above one
    assert not found.holds()
    small = agreement("x", {"a": 0.5}, {"a": 0.5 + TOLERANCE / 2})  # absolute below one
    assert math.isclose(small.largest, TOLERANCE / 2)
    assert small.holds()


def test_an_entry_in_one_record_only_is_infinitely_far():
    found = agreement("x", RECORD, {**RECORD, "new": 1.0})
    assert (found.largest, found.place) == (math.inf, "new, in one")
    assert not agreement("x", {"a": 1.0}, {"a": math.nan}).holds()


@given(st.dictionaries(st.text(max_size=3), st.floats(), max_size=5))
def test_a_record_agrees_with_itself(record):
    assert agreement("x", record, dict(record)).largest == 0.0


def test_a_record_that_is_missing_is_not_compared(tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    assert compare_runs("x", tmp_path, tmp_path).holds()
    assert compare_runs("x", tmp_path, tmp_path / "other") is None
