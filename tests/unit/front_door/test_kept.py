"""A labeller that is kept answers as the learner in memory does, to the last bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from beltrami import ManifoldClassifier, load_dataset
from beltrami.core.errors import InvalidInputError
from beltrami.core.store import Parcel
from beltrami.front_door.kept.file import VERSION, is_labeller, read_labeller, write_labeller
from beltrami.front_door.kept.labeller import KeptLabeller

METHODS = (
    "poisson", "regularized", "eigenfunctions", "laplacian_rls", "laplacian_svc", "logistic",
    "forest", "neighbors", "auto",
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("few_trees")


def _digits(n: int = 250, n_new: int = 50):
    digits = load_dataset("digits")
    points = digits.points
    return points[:n], digits.targets[:n], points[n - 10 : n + n_new]


def _fitted(points, targets, **options) -> ManifoldClassifier:
    labels = np.where(np.arange(len(targets)) < 60, targets, -1)
    return ManifoldClassifier(random_state=0, **options).fit(points, labels)


@pytest.mark.parametrize("method", METHODS)
def test_a_kept_labeller_answers_to_the_last_bit(method: str, tmp_path: Path) -> None:
    points, targets, new = _digits()
    learner = _fitted(points, targets, method=method, risk=0.1)
    kept, _ = read_labeller(learner.save(tmp_path / "model.beltrami"))
    expected = learner.predict_proba(new)
    assert kept.predict_proba(new).tobytes() == expected.tobytes()
    assert kept.predict(new).tolist() == learner.predict(new).tolist()
    again, _ = read_labeller((tmp_path / "model.beltrami").read_bytes())
    assert again.predict_proba(new).tobytes() == expected.tobytes()


def test_a_labeller_whose_anchors_lie_in_cells_answers_to_the_last_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 4200)
    points = (rng.normal(size=(4200, 10)) + 8 * np.eye(3, 10)[kinds]).astype(np.float32)
    learner = _fitted(points, kinds, method="poisson")
    kept, _ = read_labeller(learner.save(tmp_path / "model.beltrami"))
    assert kept.answerer.anchors.cells is not None
    new = points[::7] + np.float32(0.01)
    assert kept.predict_proba(new).tobytes() == learner.predict_proba(new).tobytes()


def test_sparse_points_words_and_priors_come_back(tmp_path: Path) -> None:
    points, targets, new = _digits()
    words = np.array([f"digit {one}" for one in targets], dtype=object)
    words[60:] = None
    priors = {f"digit {one}": 0.1 for one in range(10)}
    learner = ManifoldClassifier(random_state=0, priors=priors)
    learner.fit(csr_array(points + 0.1 * (points == 0)), words)
    kept, _ = read_labeller(learner.save(tmp_path / "model"))
    probe = csr_array(new)
    assert kept.predict_proba(probe).tobytes() == learner.predict_proba(probe).tobytes()
    assert kept.classes_.tolist() == learner.classes_.tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_point_that_no_label_reaches_stays_without_one(tmp_path: Path) -> None:
    from beltrami import KnnGraph

    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(40, 2)) + shift for shift in (0, 100, 200)])
    labels = np.full(120, None, dtype=object)
    labels[:4], labels[40:44] = "near", "far"
    graph = KnnGraph(5, connect="keep")
    learner = ManifoldClassifier("poisson", graph=graph, random_state=0).fit(points, labels)
    kept, _ = read_labeller(learner.save(tmp_path / "model"))
    new = points[[0, 50, 100]] + 0.01
    verdict = kept.judge(new)
    assert kept.predict(new).tolist() == learner.predict(new).tolist() == ["near", "far", ""]
    assert verdict.reached.tolist() == [True, True, False]
    assert not verdict.accepted[2]
    assert kept.predict_proba(new).tobytes() == learner.predict_proba(new).tobytes()


def test_rows_unlike_the_kept_ones_are_not_accepted(tmp_path: Path) -> None:
    points, targets, new = _digits()
    kept, _ = read_labeller(_fitted(points, targets).save(tmp_path / "model"))
    strange = np.random.default_rng(0).uniform(0, 16, size=(20, points.shape[1]))
    assert kept.judge(strange).unlike.all()
    assert not kept.judge(strange).accepted.any()
    assert kept.judge(new).unlike.mean() < 0.2


def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    points, targets, _ = _digits()
    path = _fitted(points, targets, method="logistic").save(tmp_path / "model")
    content = path.read_bytes()
    assert is_labeller(path)
    for place in np.linspace(0, len(content) - 1, 40).astype(int).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 16
        with pytest.raises(InvalidInputError):
            read_labeller(bytes(damaged))
    for length in (0, 5, 100, len(content) - 1):
        with pytest.raises(InvalidInputError):
            read_labeller(content[:length])


def test_other_files_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    project = tmp_path / "project.beltrami"
    project.write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(InvalidInputError, match="a project of the studio"):
        read_labeller(project)
    assert not is_labeller(project)
    points, targets, _ = _digits()
    content = _fitted(points, targets, method="logistic").save(tmp_path / "model").read_bytes()
    ours, other = f"kept labeller {VERSION}".encode(), b"kept labeller 9"
    with pytest.raises(InvalidInputError, match=f"form 9, and this beltrami reads form {VERSION}"):
        read_labeller(content.replace(ours, other, 1))
    with pytest.raises(InvalidInputError, match="no file on this machine"):
        read_labeller(tmp_path / "nothing")


def test_points_of_other_columns_are_refused(tmp_path: Path) -> None:
    points, targets, new = _digits()
    kept, _ = read_labeller(_fitted(points, targets, method="logistic").save(tmp_path / "model"))
    with pytest.raises(ValueError, match="features"):
        kept.predict(new[:, :5])


def test_one_stray_row_of_the_fit_does_not_make_strangers_usual() -> None:
    rng = np.random.default_rng(0)
    targets = rng.integers(2, size=300)
    points = rng.normal(size=(300, 2)) + 6.0 * targets[:, None]
    points[200] = [80.0, 0.0]
    kept = KeptLabeller.of(_fitted(points, targets, method="poisson"))
    verdict = kept.judge(np.array([[80.0, 0.0], [80.5, 0.5], [60.0, 10.0], [0.0, 0.0]]))
    assert verdict.unlike.tolist() == [True, True, True, False]
    assert kept.own_far()[200]


def test_many_names_of_columns_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"ENSG{i:011d}" for i in range(60_000)]
    frame = pd.DataFrame(rng.normal(size=(30, len(names))).astype(np.float32), columns=names)
    labels = np.where(np.arange(30) % 3 == 0, np.arange(30) % 2, -1)
    learner = ManifoldClassifier("neighbors", random_state=0).fit(frame, labels)
    kept, _ = read_labeller(learner.save(tmp_path / "wide"))
    assert kept.feature_names == tuple(names)
    assert kept.predict(frame[:3]).tolist() == learner.predict(frame[:3]).tolist()


def test_nothing_is_written_that_could_not_be_read_again(tmp_path: Path) -> None:
    points, targets, _ = _digits()
    kept = KeptLabeller.of(_fitted(points, targets, method="logistic"))
    with pytest.raises(InvalidInputError, match="bytes of header"):
        write_labeller(kept, tmp_path / "model", Parcel({}, {"more": "x" * 2**20}))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("marker", [np.int64(-1), np.int8(-1), -1, np.str_("?"), None])
def test_the_marker_of_rows_without_a_label_comes_back(marker, tmp_path: Path) -> None:
    points, targets, _ = _digits()
    kept = KeptLabeller.of(_fitted(points, targets, method="logistic"))
    again, _ = read_labeller(replace(kept, marker=marker).save(tmp_path / "model"))
    assert again.marker == marker
    assert (again.marker is None) == (marker is None)


def test_a_marker_that_no_file_holds_is_refused(tmp_path: Path) -> None:
    points, targets, _ = _digits()
    kept = KeptLabeller.of(_fitted(points, targets, method="logistic"))
    with pytest.raises(InvalidInputError, match="Mark them by a text, a number or None"):
        replace(kept, marker=b"?").save(tmp_path / "model")


def test_classes_that_are_numbers_of_numpy_are_kept(tmp_path: Path) -> None:
    points, targets, _ = _digits()
    kept = KeptLabeller.of(_fitted(points, targets, method="logistic"))
    objects = np.empty(10, dtype=object)
    objects[:] = [np.int64(one) for one in range(10)]
    again, _ = read_labeller(replace(kept, classes_=objects).save(tmp_path / "model"))
    assert again.classes_.tolist() == list(range(10))


def test_classes_are_no_wider_than_the_longest(tmp_path: Path) -> None:
    points, targets, new = _digits()
    labels = np.array([f"c{one}" if i < 60 else "unlabelled" for i, one in enumerate(targets)])
    learner = ManifoldClassifier("logistic", unlabeled="unlabelled", random_state=0)
    learner.fit(points, labels)
    path = learner.save(tmp_path / "model")
    kept, _ = read_labeller(path)
    assert kept.predict(new).tolist() == learner.predict(new).tolist()
    assert kept.save(tmp_path / "again").read_bytes() == path.read_bytes()
