"""Rows of partitions are answered in the words of every table of answers."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, write_parts

import beltrami as bt
from beltrami.labelling.kept.answers import COLUMNS


@pytest.mark.usefixtures("few_trees")
def test_labels_that_people_gave_stand_there_as_a_kept_labeller_says_them(tmp_path: Path) -> None:
    table = blob_table()
    kinds = table.column("kind").to_pylist()
    turned = {"c0": "c1", "c1": "c2", "c2": "c0"}
    first = kinds.index("c0")
    kinds[first], kinds[first + 9] = turned["c0"], turned[turned[kinds[first + 9]]]
    table = table.set_column(4, "kind", pa.array(kinds))
    source = write_parts(tmp_path / "in", table)
    found = bt.label_partitions(
        source, "kind", out=tmp_path / "out", method="logistic", id="id", random_state=0
    )
    answers = pa.concat_tables([pq.read_table(path) for path in found.written])
    labeller = bt.load(found.save(tmp_path / "m"))
    assert answers.column_names == list(COLUMNS)
    again = labeller.apply(table)
    assert answers.equals(again)
    assert again["margin"].null_count == 0
    assert max(again["margin"][row].as_py() for row in (first, first + 9)) < 0
    assert np.all(np.asarray(again["confidence"]) >= 0)
