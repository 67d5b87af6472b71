import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from beltrami.core.errors import CorruptDataError
from beltrami.data import load_dataset

pytestmark = pytest.mark.usefixtures("any_content")

POSTS = [[0, 7, 1, "Newsgroups: a\n\nhello"], [1, 8, 0, "Newsgroups: b\n\nbye"]]
BROWN = [
    ["ca01", "news", ["The/at half/nn 1/2/cd ./.", "Yes/rb"]],
    ["cb01", "editorial", ["No/rb ,/, no/rb"]],
]


def write_lines(path: Path, header: object, records: list[object]) -> Path:
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(json.dumps(line) for line in [header, *records]) + "\n")
    return path


def test_posts_keep_their_headers_and_groups(tmp_path: Path) -> None:
    header = {"groups": ["a", "b"], "n": 2}
    write_lines(tmp_path / "newsgroups20.jsonl.xz", header, list(POSTS))
    dataset = load_dataset("newsgroups20", folder=tmp_path)
    assert dataset.texts == (POSTS[0][3], POSTS[1][3])
    assert dataset.targets is not None
    assert dataset.targets.tolist() == [0, 1]
    assert dataset.extras["bydate"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("header", "records", "reason"),
    [
        ({"groups": ["a", "b"], "n": 3}, POSTS, "2 of 3 records"),
        ({"groups": ["a"], "n": 2}, POSTS, "none of the 1 groups"),
        ({"n": 2}, POSTS, "groups"),
        ([], POSTS, "TypeError"),
        ({"groups": ["a"], "n": 1}, [[0, 1, 1, 5]], "not a text"),
        ({"groups": ["a"], "n": 1}, [[0, 1, 1]], "ValueError"),
    ],
)
def test_posts_with_wrong_content_are_reported(
    header: object, records: list[object], reason: str, tmp_path: Path
) -> None:
    write_lines(tmp_path / "newsgroups20.jsonl.xz", header, records)
    with pytest.raises(CorruptDataError, match=reason):
        load_dataset("newsgroups20", folder=tmp_path)


@pytest.mark.parametrize("keep", [0, 20, -10])
def test_truncated_lines_are_reported(keep: int, tmp_path: Path) -> None:
    path = write_lines(tmp_path / "brown.jsonl.xz", {"n": 2}, list(BROWN))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CorruptDataError, match=r"brown\.jsonl\.xz"):
        load_dataset("brown", folder=tmp_path)


def test_tagged_words_are_split_at_the_last_slash(tmp_path: Path) -> None:
    write_lines(tmp_path / "brown.jsonl.xz", {"n": 2}, list(BROWN))
    dataset = load_dataset("brown", folder=tmp_path)
    assert dataset.texts == ("The half 1/2 .\nYes", "No , no")
    assert dataset.extras["sentences"] == ("The half 1/2 .", "Yes", "No , no")
    assert dataset.extras["tags"] == ("at nn cd .", "rb", "rb , rb")
    assert dataset.extras["text"].tolist() == [0, 0, 1]
    assert dataset.target_names == ("editorial", "news")
    assert dataset.targets is not None
    assert dataset.targets.tolist() == [1, 0]


def test_word_without_tag_is_reported(tmp_path: Path) -> None:
    write_lines(tmp_path / "brown.jsonl.xz", {"n": 1}, [["ca01", "news", ["The"]]])
    with pytest.raises(CorruptDataError, match="token without word or tag"):
        load_dataset("brown", folder=tmp_path)


def test_integers_are_scaled_back(tmp_path: Path) -> None:
    stored = np.array([[-1000, 1000] * 128], dtype=np.int16)
    y = np.array([9], dtype=np.uint8)
    np.savez(tmp_path / "usps_esl.npz", X=stored, x_scale=1e-3, y=y, n_train=1)
    dataset = load_dataset("usps", folder=tmp_path)
    assert dataset.points is not None
    assert dataset.points.dtype == np.float64
    np.testing.assert_array_equal(dataset.points, stored * 1e-3)


def test_sparse_archive_with_a_column_too_many_is_reported(tmp_path: Path) -> None:
    parts = {
        "data": np.ones(2),
        "indices": np.array([0, 7511]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 7511]),
        "y": np.array([-1, 1]),
    }
    np.savez(tmp_path / "lds_text.npz", **parts)
    with pytest.raises(CorruptDataError, match="indices"):
        load_dataset("lds_text", folder=tmp_path)


def test_residue_codes_become_indicators(tmp_path: Path) -> None:
    codes = np.tile(np.arange(15, dtype=np.uint8), (2, 1))
    np.savez(tmp_path / "sslbook_secstr.npz", T=codes, y=np.array([0, 1]))
    dataset = load_dataset("sslbook_secstr", folder=tmp_path)
    assert dataset.points is not None
    indicators = np.asarray(dataset.points.toarray()).reshape(2, 15, 21)  # type: ignore[union-attr]
    np.testing.assert_array_equal(indicators.argmax(axis=2), codes)
    assert (indicators.sum(axis=2) == 1).all()


def test_residue_code_out_of_range_is_reported(tmp_path: Path) -> None:
    codes = np.full((2, 15), 21, dtype=np.uint8)
    np.savez(tmp_path / "sslbook_secstr.npz", T=codes, y=np.array([0, 1]))
    with pytest.raises(CorruptDataError, match="codes 0 to 20"):
        load_dataset("sslbook_secstr", folder=tmp_path)


def test_recording_shorter_than_its_offsets_is_reported(tmp_path: Path) -> None:
    parts = {
        "wave": np.zeros(9, dtype=np.int16),
        "offset": np.array([0, 10]),
        "utt": np.array([b"a"]),
        "rate": 16000,
        "phone_seg": np.array([[0, 0, 9]]),
        "phone": np.array([b"sil"]),
        "word_seg": np.array([[0, 0, 9]]),
        "word": np.array([b"she"]),
    }
    np.savez(tmp_path / "timit_demo.npz", **parts)
    with pytest.raises(CorruptDataError, match="last offset is 10 and the wave has 9"):
        load_dataset("timit_demo", folder=tmp_path)
