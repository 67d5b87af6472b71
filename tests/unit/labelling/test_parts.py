"""Checks, suggestions, shapes and the demonstration."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.labelling import LearningOptions, take_in
from beltrami.labelling.checks import _equal_rows, check_table
from beltrami.labelling.demo import demonstrate
from beltrami.labelling.maps import clusters_of, eigenmap_of, map_of
from beltrami.labelling.suggestions import suggest_rows
from beltrami.report.doctor import describe_installation
from beltrami.tables import TableOptions
from beltrami.tables.writing import records

pytestmark = pytest.mark.usefixtures("few_trees")

N = 40


def columns(label=lambda i: "ab"[i % 2] if i < 12 else None):
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    return {
        "id": [f"r{i}" for i in range(N)],
        "x": rng.normal(size=N) + 8 * side,
        "z": rng.normal(size=N),
        "label": [label(i) for i in range(N)],
    }


def intake(label=lambda i: "ab"[i % 2] if i < 12 else None):
    return take_in(columns(label), TableOptions(min_classes=0))


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_equal_rows_are_grouped(kind):
    points = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [2.0, 3.0], [5.0, 5.0], [2.0, 3.0]])
    assert sorted(rows.tolist() for rows in _equal_rows(kind(points))) == [[0, 2], [1, 3, 5]]


def test_equal_rows_with_different_labels_are_conflicts():
    table = columns()
    table["x"][[0, 1]], table["z"][[0, 1]] = 0.5, 0.5
    found = check_table(take_in(table), LearningOptions())
    assert found.n_repeated == 1
    assert found.conflicts == (("r0", "r1"),)
    assert found.class_counts == {"a": 6, "b": 6}
    assert any("different labels for equal rows: r0, r1" in line for line in found.lines())


def test_labels_that_others_only_answer_otherwise_are_named_and_told_from_wrong_ones(tmp_path):
    rng = np.random.default_rng(1)
    side = np.arange(N * 4) % 2
    table = {
        "id": [f"r{i}" for i in range(N * 4)],
        "x": rng.normal(size=N * 4) + 1.6 * side,
        "z": rng.normal(size=N * 4),
        "label": ["ab"[i % 2] if i < N else None for i in range(N * 4)],
    }
    found = check_table(take_in(table), LearningOptions())
    issues = found.labelling.issues
    n_sure, names = len(issues), [f"r{row}" for row in issues.denied.rows]
    assert len(names) > 5
    sheet = found.sheet(tmp_path / "issues.csv")
    assert sheet["sure"].tolist() == ["yes"] * n_sure + ["no"] * len(names)
    assert sheet["id"].tolist() == [*issues.names, *names]
    assert len(sheet["x"]) == len(sheet["id"])
    said = "\n".join(found.lines())
    assert [name for name in names if f"  row {name} (" in said] == names[:5]
    assert f"and {len(names) - 5} more answered otherwise" in said
    record = found.record()
    assert len(record["issues"]) == n_sure
    assert [one["id"] for one in record["answered_otherwise"]] == names


def test_suggestions_know_no_guess_before_two_classes():
    found = suggest_rows(intake(lambda _: None), "auto", LearningOptions(n_questions=4))
    assert list(found.columns["ask_rank"]) == [1, 2, 3, 4]
    assert all(guess is None for guess in found.guesses)
    known = suggest_rows(intake(), "auto", LearningOptions(n_questions=4))
    assert set(known.guesses) <= {"a", "b"}
    assert not {f"r{i}" for i in range(12)}.intersection(known.ids)
    assert len(records(known.columns)) == 4


def test_shapes_follow_the_groups_of_the_data():
    own, options = intake(lambda _: None), LearningOptions()
    side = np.arange(N) % 2
    found = clusters_of(own, 2, options)
    assert_array_equal(found.numbers == found.numbers[0], side == side[0])
    assert found.conductances.max() < 0.2
    first = eigenmap_of(own, 1, options)["x1"]
    assert (first[side == 0].max() < first[side == 1].min()) or (
        first[side == 0].min() > first[side == 1].max()
    )
    places = map_of(own, options).positions
    assert places.shape == (N, 2)
    assert np.isfinite(places).all()


def test_the_demonstration_labels_digits_and_tells_the_truth(tmp_path):
    found = demonstrate(3)
    right = found.accuracies
    assert right["the answer"] > 0.85
    assert right["the answer"] > right["logistic regression, labels alone"]
    text = "\n".join(found.lines())
    assert f"{right['the answer']:.1%} right" in text
    n_ours = found.labelling.counts["labelled"]
    assert f"of the {n_ours:,} rows labelled by us, {found.accepted_accuracy:.1%} are right" in text
    names = {path.name for path in found.save(tmp_path / "demo")}
    assert names == {"digits.csv", "labels.csv", "report.html", "map.png"}
    with pytest.raises(InvalidInputError, match="per_class=174 must lie between 1 and 173"):
        demonstrate(174)


def test_the_doctor_names_what_is_installed():
    found = describe_installation()
    assert all(isinstance(value, str) and value for value in found.values())
    assert not [name for name, value in found.items() if value.startswith("MISSING")]
