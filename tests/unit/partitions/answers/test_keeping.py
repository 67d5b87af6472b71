"""What was learned from partitions is kept as what was learned from one table."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import beltrami as bt
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.kept.keeping import load_table_labeller
from beltrami.partitions.answers.keeping import labeller_of, recipe_of
from beltrami.partitions.reading.layout import Layout
from beltrami.tables import Roles, TableOptions
from beltrami.tables.features.faults import Faults
from beltrami.tables.reading.objects import arrow_table


def _layout(dtype: type) -> Layout:
    kind = pa.from_numpy_dtype(dtype)
    types = {"v": pa.list_(kind), "x": kind, "y": kind, "kind": pa.string()}
    roles = Roles(label="kind", vectors=("v",), numeric=("x", "y"))
    return Layout(roles, types, {"v": 2, "x": 1, "y": 1}, np.dtype(dtype))


def _rows(n: int, dtype: type, *, has_gaps: bool = True) -> pa.Table:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 4)).astype(dtype) + 7 * (np.arange(n) % 2)[:, None].astype(dtype)
    if has_gaps:
        points[3, 2] = points[5, 3] = np.nan
    vectors = [row.tolist() for row in points[:, :2]]
    columns = {
        "v": pa.array(vectors, pa.list_(pa.from_numpy_dtype(dtype))),
        "x": pa.array(points[:, 2], from_pandas=True),
        "y": pa.array(points[:, 3]),
        "kind": pa.array([("a", "b")[i % 2] if i < 12 else None for i in range(n)]),
    }
    return pa.table(columns)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_layout_as_a_recipe_makes_the_same_bits(dtype: type) -> None:
    layout, rows = _layout(dtype), _rows(30, dtype)
    fill = np.array([0.1, 0.2, 0.3, 0.4])
    faults = Faults("new", ids=None, impute=False, is_new=True)
    points, is_empty = recipe_of(layout, fill).make(arrow_table(rows, "new"), faults)
    expected = layout.points(rows, fill)
    assert points.dtype == expected.dtype
    assert points.tobytes() == expected.tobytes()
    assert not is_empty.any()


@pytest.mark.usefixtures("few_trees")
def test_a_learner_of_representatives_answers_tables_from_its_file(tmp_path: Path) -> None:
    layout, rows = _layout(np.float64), _rows(60, np.float64, has_gaps=False)
    fill = np.zeros(4)
    labels = np.array(rows["kind"].to_pylist(), dtype=object)
    points = layout.points(rows, fill)
    learner = bt.ManifoldClassifier("poisson", unlabeled=float("nan"), random_state=0)
    learner.fit(points, labels)
    made = labeller_of(KeptLabeller.of(learner), layout, fill, TableOptions(), {"data": "parts"})
    kept = load_table_labeller(made.save(tmp_path / "m.beltrami"))
    assert kept.predict_proba(rows).tobytes() == learner.predict_proba(points).tobytes()
    answers = kept.apply(rows)
    assert answers["source"].to_pylist()[:12] == ["human"] * 12
    assert answers["guess"].to_pylist() == [("a", "b")[i % 2] for i in range(60)]
