"""A result of ours is known for one, and its answers are never taken for data."""

import pandas as pd
import pytest

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.tables import TableOptions, join_side_labels, read_table
from beltrami.tables.own_results import is_result, refuse_result

RESULT = {
    "id": [0, 1, 2, 3, 4],
    "label": ["a", "b", "b", None, None],
    "source": ["human", "propagated", "human", "abstained", "unreached"],
    "confidence": [1.0, 0.9, 1.0, 0.4, 0.0],
    "guess": ["a", "b", "b", "a", None],
    "second_label": ["b", "a", "a", "b", None],
    "margin": [1.0, 0.8, 1.0, 0.1, 0.0],
}


def test_a_result_is_known_by_its_columns_and_sources():
    assert is_result(read_table(RESULT))
    assert is_result(read_table(pd.DataFrame(RESULT).astype({"source": "category"})))


@pytest.mark.parametrize("name", ["source", "margin"])
def test_a_table_without_one_of_these_is_none(name):
    assert not is_result(read_table({key: RESULT[key] for key in RESULT if key != name}))


def test_a_table_with_sources_of_its_own_is_none():
    assert not is_result(read_table(RESULT | {"source": ["web"] * 5}))
    assert not is_result(read_table(RESULT | {"source": [1] * 5}))


def test_a_frame_that_is_a_result_is_refused_by_the_call():
    with pytest.raises(InvalidInputError, match=r"1 of its 5 labels are our own answers"):
        bt.label(pd.DataFrame(RESULT))


def test_columns_that_stand_beside_ours_may_be_named():
    table = read_table(RESULT | {"truth": [*list("abab"), None], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    refuse_result(table, TableOptions(label="truth", features=["x"]))
    for said in (
        TableOptions(label="truth"),
        TableOptions(features=["x"]),
        TableOptions(label="truth", features=["x", "confidence"]),
    ):
        with pytest.raises(InvalidInputError, match="is a result of beltrami"):
            refuse_result(table, said)


def test_of_a_result_beside_the_data_only_labels_of_people_are_taken():
    data = read_table({"id": [0, 1, 2, 3, 4], "label": [None, None, None, "a", None]})
    joined = join_side_labels(data, TableOptions(labels=RESULT))
    assert joined.columns.column("label").to_pylist() == ["a", None, "b", "a", None]
