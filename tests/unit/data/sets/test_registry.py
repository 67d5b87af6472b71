import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from beltrami.core.errors import CorruptDataError, DatasetUnavailableError, InvalidInputError
from beltrami.data import available_datasets, load_dataset
from beltrami.data.sets import public, registry
from beltrami.data.sets.fingerprints import SHA256


@pytest.fixture
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BELTRAMI_DATA", raising=False)


def no_network() -> None:
    raise OSError("network is unreachable")


def write_g50c(folder: Path, **changes: object) -> Path:
    members = {
        "X": np.zeros((6, 50)),
        "y": np.array([-1, 1, -1, 1, -1, 1], dtype=np.int8),
        "labeled": np.array([[0, 1]], dtype=np.int16),
        **changes,
    }
    path = folder / "lds_g50c.npz"
    np.savez(path, **{key: value for key, value in members.items() if value is not None})
    return path


def test_every_name_of_the_papers_is_known() -> None:
    names = available_datasets()
    assert len(names) == 27
    assert list(names) == sorted(names)
    assert {"mnist", "newsgroups20", "brown", "sslbook_secstr", "timit_demo", "digits"} < set(names)


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("digits", (1797, 64), 10),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("breast_cancer", (569, 30), 2),
    ],
)
def test_bundled_sets_need_no_folder(
    no_folder: None, name: str, shape: tuple[int, int], n_classes: int
) -> None:
    dataset = load_dataset(name)
    assert dataset.points is not None
    assert dataset.points.shape == shape
    assert dataset.target_names is not None
    assert len(dataset.target_names) == n_classes


def test_diabetes_keeps_its_real_target(no_folder: None) -> None:
    dataset = load_dataset("diabetes")
    assert dataset.targets is not None
    assert dataset.targets.dtype == np.float64
    assert dataset.target_names is None


@pytest.mark.parametrize(("typo", "meant"), [("minst", "mnist"), ("USPS", "usps"), ("irs", "iris")])
def test_unknown_name_suggests_the_closest_and_lists_all(typo: str, meant: str) -> None:
    with pytest.raises(InvalidInputError, match=rf"Did you mean '{meant}'\?.*breast_cancer.*wine"):
        load_dataset(typo)


def test_unknown_name_far_from_all_is_only_listed() -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_dataset("zzzzzz")
    assert "Did you mean" not in str(caught.value)


def test_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetUnavailableError, match=r"nowhere.*from folder.*no such folder"):
        load_dataset("usps", folder=tmp_path / "nowhere")
    monkeypatch.setenv("BELTRAMI_DATA", str(tmp_path / "gone"))
    with pytest.raises(DatasetUnavailableError, match=r"gone.*from BELTRAMI_DATA"):
        load_dataset("mnist")


def test_set_without_public_source_says_where_it_looked_and_what_to_do(
    tmp_path: Path, no_folder: None
) -> None:
    with pytest.raises(DatasetUnavailableError, match=r"no data folder is set.*BELTRAMI_DATA"):
        load_dataset("usps")
    with pytest.raises(DatasetUnavailableError, match=r"does not hold it.*'usps_esl.npz'"):
        load_dataset("usps", folder=tmp_path)


@pytest.mark.parametrize("name", ["mnist", "newsgroups20"])
def test_public_source_that_does_not_answer_becomes_advice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public, "FETCHED", {name: no_network})
    with pytest.raises(DatasetUnavailableError, match=r"network is unreachable.*BELTRAMI_DATA"):
        load_dataset(name, folder=tmp_path)


def test_mnist_from_its_public_source_has_the_values_of_the_file(
    no_folder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bunch = SimpleNamespace(data=np.full((60000, 2), 255), target=np.array(["7"] * 60000))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *_, **__: bunch)
    dataset = load_dataset("mnist")
    assert dataset.points is not None
    assert dataset.targets is not None
    assert dataset.points.dtype == np.float32
    assert dataset.points.max() == 255
    assert dataset.targets[0] == 7
    assert dataset.n_train == 60000


def test_newsgroups_from_their_public_source_have_flags_and_article_numbers(
    no_folder: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    bunch = SimpleNamespace(
        data=["a", "b"],
        target=np.array([0, 1]),
        target_names=["alt.atheism", "sci.space"],
        filenames=np.array(
            ["x/20news-bydate-train/alt.atheism/51", "x/20news-bydate-test/sci.space/9"]
        ),
    )
    monkeypatch.setattr("sklearn.datasets.fetch_20newsgroups", lambda **_: bunch)
    dataset = load_dataset("newsgroups20")
    assert dataset.texts == ("a", "b")
    assert dataset.extras["bydate"].tolist() == [1, 2]
    assert dataset.extras["article"].tolist() == [51, 9]


def test_folder_of_the_environment_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, any_content: None
) -> None:
    write_g50c(tmp_path)
    monkeypatch.setenv("BELTRAMI_DATA", str(tmp_path))
    dataset = load_dataset("g50c")
    assert dataset.n_points == 6
    assert dataset.splits["labeled"].tolist() == [[0, 1]]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-400])


def overwrite(path: Path) -> None:
    path.write_bytes(b"this is not an archive")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[300] ^= 0xFF
    path.write_bytes(bytes(content))


def plain_array(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


@pytest.mark.parametrize("damage", [truncate, overwrite, empty, flip, plain_array])
def test_damaged_archive_is_reported_by_name(
    damage: Callable[[Path], None], tmp_path: Path, any_content: None
) -> None:
    damage(write_g50c(tmp_path))
    with pytest.raises(CorruptDataError, match=r"lds_g50c\.npz.*fresh copy"):
        load_dataset("g50c", folder=tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"X": None}, "KeyError"),
        ({"y": None}, "KeyError: 'y'"),
        ({"X": np.zeros((6, 49))}, "50 columns and the file 49"),
        ({"X": np.zeros(6)}, r"shape \(6,\)"),
        ({"X": np.full((6, 50), "a")}, "dtype <U1"),
        ({"X": np.full((6, 50), None)}, "allow_pickle=False"),
        ({"y": np.zeros(5)}, "6 points, 5 targets"),
        ({"labeled": np.array([[0, 6]])}, "names rows 0 to 6"),
    ],
)
def test_archive_with_wrong_content_is_reported(
    changes: dict[str, object], reason: str, tmp_path: Path, any_content: None
) -> None:
    write_g50c(tmp_path, **changes)
    with pytest.raises(CorruptDataError, match=reason):
        load_dataset("g50c", folder=tmp_path)


def test_a_file_with_other_bytes_than_the_published_ones_is_refused(tmp_path: Path) -> None:
    write_g50c(tmp_path)
    with pytest.raises(CorruptDataError, match=r"SHA-256 begins \w{12}, that of.*40d8d7c1cd8c"):
        load_dataset("g50c", folder=tmp_path)


def test_every_file_has_a_fingerprint() -> None:
    assert {entry.file for entry in registry._FILES.values()} == set(SHA256)


def test_a_pipe_in_the_place_of_a_data_set_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lds_g50c.npz")
    with pytest.raises(CorruptDataError, match="no regular file"):
        load_dataset("g50c", folder=tmp_path)


def test_a_stop_list_that_is_not_there_is_said_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetUnavailableError, match=r"Put 'smart-stop-words\.txt' into a folder"):
        load_dataset("smart_stop_words", folder=tmp_path)


def test_a_stop_list_is_a_word_a_line(tmp_path: Path, any_content: None) -> None:
    (tmp_path / "smart-stop-words.txt").write_text("a\na's\nable", encoding="utf-8")
    assert load_dataset("smart_stop_words", folder=tmp_path).texts == ("a", "a's", "able")
