"""Labels that leave a project through any door and enter another one are the same labels."""

import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.support.door_rows import FILES, WITH_USERS, labelled_rows, opened, said, send, take


@pytest.mark.parametrize("form", FILES)
@given(rows=labelled_rows())
@settings(max_examples=20)
def test_labels_come_back_through_every_door(form, rows):
    called, answers = rows
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells that look like formulas
        folder = Path(name)
        with opened(called, folder / "a.beltrami", answers) as first:
            path, before = send(first, form, folder), said(first)
        with opened(called, folder / "b.beltrami") as second:
            taken = take(second, path)
            after = said(second)
            assert take(second, path).counts["same"] == len(before)
    assert not taken.unknown
    assert taken.n_replaced == taken.n_kept == taken.n_disputed == 0
    if form not in WITH_USERS:
        before = {name: (label, "me", False) for name, (label, _, _) in before.items()}
    assert after == before
