"""The published facts about the data sets of the papers, checked on the files themselves."""

from pathlib import Path

import numpy as np
import pytest

from beltrami.core.errors import CorruptDataError
from beltrami.data import Dataset, load_dataset

pytestmark = pytest.mark.data


def counts(dataset: Dataset) -> list[int]:
    return np.unique(np.asarray(dataset.targets), return_counts=True)[1].tolist()


TABLES = {
    "coil20": ((1440, 1024), [72] * 20),
    "g10n": ((550, 10), [276, 274]),
    "g50c": ((550, 50), [275, 275]),
    "lds_text": ((1946, 7511), [961, 985]),
    "phoneme": ((4509, 256), [695, 1022, 757, 1163, 872]),
    "sslbook_bci": ((400, 117), [200, 200]),
    "sslbook_coil": ((1500, 241), [250] * 6),
    "sslbook_coil2": ((1500, 241), [750, 750]),
    "sslbook_digit1": ((1500, 241), [766, 734]),
    "sslbook_g241c": ((1500, 241), [750, 750]),
    "sslbook_g241d": ((1500, 241), [752, 748]),
    "sslbook_secstr": ((83679, 315), [47856, 35823]),
    "sslbook_text": ((1500, 11960), [750, 750]),
    "sslbook_usps": ((1500, 241), [1200, 300]),
    "uspst": ((2007, 256), [327, 273, 206, 178, 196, 140, 174, 173, 160, 180]),
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_table_has_its_published_shape_classes_and_splits(data_folder: Path, name: str) -> None:
    dataset = load_dataset(name, folder=data_folder)
    shape, sizes = TABLES[name]
    assert dataset.points is not None
    assert dataset.points.shape == shape
    assert counts(dataset) == sizes
    for key, rows in dataset.splits.items():
        assert rows.shape[1] == (int(key.removeprefix("labeled") or 50))
        assert rows.shape[0] == (12 if name.startswith("ssl") and name[8:] != "secstr" else 10)
        assert all(np.unique(row).size == row.size for row in rows)
        partial = dataset.number_classes().partial_targets(key)
        assert int((partial != -1).sum()) == rows.shape[1]
    assert bool(dataset.splits) == (name not in ("coil20", "phoneme"))


def test_mnist_has_its_published_counts_and_pixels(data_folder: Path) -> None:
    dataset = load_dataset("mnist", folder=data_folder)
    assert isinstance(dataset.points, np.ndarray)
    assert dataset.targets is not None
    assert dataset.points.dtype == np.float32
    assert (dataset.points.min(), dataset.points.max()) == (0, 255)
    train = np.bincount(dataset.targets[: dataset.n_train])
    assert train.tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert dataset.n_points == 70000


def test_usps_ranges_from_minus_one_to_one(data_folder: Path) -> None:
    dataset = load_dataset("usps", folder=data_folder)
    assert isinstance(dataset.points, np.ndarray)
    assert dataset.points.shape == (9298, 256)
    assert (dataset.points.min(), dataset.points.max()) == (-1.0, 1.0)
    assert dataset.n_train == 7291


def test_isolet_lacks_three_letters_of_three_speakers(data_folder: Path) -> None:
    dataset = load_dataset("isolet", folder=data_folder)
    assert dataset.points is not None
    assert dataset.targets is not None
    assert dataset.points.shape == (7797, 617)
    assert (dataset.targets.min(), dataset.targets.max()) == (1, 26)
    per_speaker = np.bincount(dataset.extras["speaker"])
    assert np.flatnonzero(per_speaker == 51).tolist() == [84, 108, 123]
    assert per_speaker.size == 150
    assert np.unique(dataset.extras["group"]).tolist() == [1, 2, 3, 4, 5]


def test_phoneme_has_names_and_utterances(data_folder: Path) -> None:
    dataset = load_dataset("phoneme", folder=data_folder)
    assert dataset.target_names == ("aa", "ao", "dcl", "iy", "sh")
    is_train = np.char.startswith(dataset.extras["utterance"], "train")
    assert (int(is_train.sum()), int((~is_train).sum())) == (3340, 1169)


def test_newsgroups_have_a_thousand_posts_each_and_the_bydate_parts(data_folder: Path) -> None:
    dataset = load_dataset("newsgroups20", folder=data_folder)
    assert dataset.target_names is not None
    assert dataset.texts is not None
    sizes = dict(zip(dataset.target_names, counts(dataset), strict=True))
    assert sizes.pop("soc.religion.christian") == 997
    assert set(sizes.values()) == {1000}
    assert np.bincount(dataset.extras["bydate"]).tolist() == [1151, 11314, 7532]
    assert all("Newsgroups:" in text for text in dataset.texts[:100])


def test_brown_has_its_known_numbers_of_sentences_and_words(data_folder: Path) -> None:
    dataset = load_dataset("brown", folder=data_folder)
    assert dataset.target_names is not None
    assert dataset.n_points == 500
    assert len(dataset.target_names) == 15
    assert len(dataset.extras["sentences"]) == 57340
    assert sum(sentence.count(" ") + 1 for sentence in dataset.extras["tags"]) == 1161192


def test_recordings_have_six_utterances_and_their_phones(data_folder: Path) -> None:
    extras = load_dataset("timit_demo", folder=data_folder).extras
    assert extras["sample_rate"] == 16000
    assert extras["offset"].size == 7
    assert extras["phone"].size == 215
    assert np.unique(extras["phone"]).size == 33
    assert extras["word"][:5].tolist() == ["she", "had", "your", "dark", "suit"]
    assert extras["wave"].dtype == np.int16


def test_a_set_with_its_rows_reversed_is_refused(data_folder: Path, tmp_path: Path) -> None:
    with np.load(data_folder / "lds_g50c.npz") as archive:
        members = {name: archive[name] for name in archive.files}
    members |= {"X": members["X"][::-1], "y": members["y"][::-1]}
    np.savez(tmp_path / "lds_g50c.npz", **members)
    with pytest.raises(CorruptDataError, match=r"SHA-256.*fresh copy"):
        load_dataset("g50c", folder=tmp_path)
