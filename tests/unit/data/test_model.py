import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.data import Dataset


def small(**changes: object) -> Dataset:
    parts: dict[str, object] = {
        "name": "small",
        "points": np.arange(8.0).reshape(4, 2),
        "targets": np.array([3, 5, 3, 7]),
        "splits": {"labeled": np.array([[0, 1], [2, 3]])},
    }
    return Dataset(**{**parts, **changes})  # type: ignore[arg-type]


def test_a_split_keeps_its_labels_and_marks_the_rest() -> None:
    assert small().partial_targets(index=1).tolist() == [-1, -1, 3, 7]
    assert small().partial_targets(index=0, unlabeled=-9).tolist() == [3, 5, -9, -9]


def test_marker_that_is_a_class_is_refused_until_classes_are_numbered() -> None:
    signs = small(targets=np.array([-1, 1, 1, -1]))
    with pytest.raises(InvalidInputError, match=r"is a class of 'small' itself \(2 points\)"):
        signs.partial_targets()
    numbered = signs.number_classes()
    assert numbered.target_names == ("-1", "1")
    assert numbered.partial_targets(index=1).tolist() == [-1, -1, 1, 0]
    assert numbered.points is signs.points


def test_numbering_keeps_names_that_are_there() -> None:
    named = small(target_names=("c", "e", "g")).number_classes()
    assert named.target_names == ("c", "e", "g")
    assert named.targets is not None
    assert named.targets.tolist() == [0, 1, 0, 2]


def test_missing_splits_are_named() -> None:
    with pytest.raises(InvalidInputError, match="no published split 'labeled10'; it has 'labeled'"):
        small().partial_targets("labeled10")
    with pytest.raises(InvalidInputError, match="splits 0 to 1"):
        small().partial_targets(index=2)
    with pytest.raises(InvalidInputError, match="has no targets"):
        small(targets=None).partial_targets()
    with pytest.raises(InvalidInputError, match="dtype float64"):
        small(targets=np.zeros(4)).partial_targets()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"targets": np.zeros(3)}, "4 points, 3 targets"),
        ({"texts": ("a", "b")}, "4 points, 2 texts"),
        ({"targets": np.zeros((4, 1))}, "must be a vector"),
        ({"points": np.zeros(4)}, "must be a matrix"),
        ({"n_train": 5}, "between 0 and 4"),
        ({"splits": {"labeled": np.array([[0, 4]])}}, "names rows 0 to 4"),
        ({"splits": {"labeled": np.array([[-1, 2]])}}, "names rows -1 to 2"),
        ({"splits": {"labeled": np.array([0, 1])}}, "one split per row"),
    ],
)
def test_parts_that_do_not_fit_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        small(**changes)


def test_repr_is_a_table_of_what_is_there() -> None:
    shown = repr(small(points=csr_array(np.eye(4)), extras={"angle": np.zeros(4)}))
    assert shown.splitlines() == [
        "Dataset",
        "  name     small",
        "  points   4 x 4 sparse float64",
        "  targets  3 classes",
        "  splits   labeled 2 x 2",
        "  extras   angle",
    ]
    assert "4 values" in repr(small(targets=np.array([0.1, 0.2, 0.3, 0.4])))


def test_dataset_is_frozen_keeps_its_own_mappings_and_pickles() -> None:
    extras = {"angle": np.zeros(4)}
    dataset = small(extras=extras)
    extras["more"] = np.ones(4)
    assert list(dataset.extras) == ["angle"]
    with pytest.raises(AttributeError):
        dataset.name = "other"  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(again.points, dataset.points)


def test_number_of_points_comes_from_whatever_is_there() -> None:
    assert small().n_points == 4
    assert Dataset(name="texts", texts=("a", "b")).n_points == 2
    assert Dataset(name="waves", extras={"wave": np.zeros(9)}).n_points == 0


def test_points_and_targets_come_together_or_not_at_all():
    points, targets = np.zeros((2, 3)), np.array([0, 1])
    assert Dataset("both", points, targets).points_and_targets() == (points, targets)
    with pytest.raises(InvalidInputError, match="'bare' has no points: it holds texts"):
        Dataset("bare", texts=("a", "b"), targets=targets).points_and_targets()
    with pytest.raises(InvalidInputError, match="no targets"):
        Dataset("open", points).points_and_targets()
