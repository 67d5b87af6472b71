"""Texts become numbers by a model in a folder, and nothing is fetched."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.fake_text_model import FakeModel, install_fake_model

from beltrami.core.errors import InvalidInputError
from beltrami.tables import Features, TableOptions, feature_matrix, guess_roles, read_table
from beltrami.tables.features.texts import ModelPart, model_digest

TEXTS = ["red green blue", "red red red", "blue green green", "", "unheard of words"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install_fake_model(tmp_path / "colours", monkeypatch)


def features(source: Any, model: Path | str | None, **options: Any) -> Features:
    chosen = TableOptions(min_classes=0, text_model=model, **options)
    table = read_table(source, chosen)
    return feature_matrix(table, guess_roles(table, chosen), text_model=chosen.text_model)


def _vectors(folder: Path | str) -> Any:
    return ModelPart.learn((), Path(folder)).make(TEXTS, "t")


def test_texts_are_vectors_of_length_one_by_euclidean_distance(folder: Path) -> None:
    found = features({"body": TEXTS}, folder, text="body")
    assert (found.metric, found.points.dtype, found.points.shape) == (
        "euclidean",
        np.float32,
        (5, 3),
    )
    assert np.allclose(np.linalg.norm(found.points[:3], axis=1), 1)
    assert found.points[1].tolist() == [1, 0, 0]
    assert found.names == ("text[0]", "text[1]", "text[2]")
    assert f"by the model colours (sha256 {model_digest(folder)[:16]})" in found.notes[0]


def test_of_texts_without_a_known_word_nothing_is_known(folder: Path) -> None:
    found = features({"body": TEXTS}, folder, text="body")
    assert found.is_empty is not None
    assert found.is_empty.tolist() == [False, False, False, True, True]
    with pytest.raises(InvalidInputError, match="all 2 vectors"):
        features({"body": ["nothing of note", "nothing at all"]}, folder, text="body")


def test_the_network_is_shut_while_a_model_is_read_and_open_again_afterwards(folder: Path) -> None:
    _vectors(folder)
    assert FakeModel.seen == {"path": str(folder.resolve()), "offline": "1"}
    assert "HF_HUB_OFFLINE" not in os.environ


def test_texts_beside_numbers_count_half(folder: Path) -> None:
    source = {"body": TEXTS[:3], "size": [1.0, 2.0, 4.0]}
    found = features(source, folder, text="body", features="size")
    assert found.points.shape == (3, 4)
    assert np.allclose(np.linalg.norm(found.points, axis=1) ** 2, 2)
    assert found.metric == "euclidean"


@pytest.mark.usefixtures("folder")
def test_a_name_on_a_hub_is_refused_and_told_how_to_be_saved() -> None:
    with pytest.raises(InvalidInputError, match="no folder on this machine") as caught:
        _vectors("minishlab/potion-base-8M")
    assert "nothing is ever downloaded" in str(caught.value)
    assert "save_pretrained" in str(caught.value)


def test_a_folder_without_a_model_is_refused_with_what_it_holds(folder: Path) -> None:
    (folder / "config.json").rename(folder / "notes.txt")
    with pytest.raises(InvalidInputError, match=r"It holds notes\.txt"):
        _vectors(folder)
    with pytest.raises(InvalidInputError, match="is a file"):
        _vectors(folder / "notes.txt")


def test_without_the_library_the_line_that_installs_it_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(InvalidInputError, match=r"pip install 'beltrami\[text\]'"):
        _vectors(folder)


def test_a_model_whose_vectors_are_not_finite_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        FakeModel, "encode", lambda self, texts, **_: np.full((len(texts), 3), np.nan)
    )
    with pytest.raises(InvalidInputError, match="not finite"):
        _vectors(folder)


def test_a_model_wants_texts_and_no_embeddings_beside_it(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="no column of texts is used"):
        features({"size": [1.0, 2.0, 4.0]}, folder)
    with pytest.raises(InvalidInputError, match="both are asked for"):
        features({"body": TEXTS[:3]}, folder, embeddings=np.eye(3))


def test_the_digest_of_a_model_is_that_of_names_and_contents(folder: Path) -> None:
    before = model_digest(folder)
    assert model_digest(folder) == before
    (folder / "config.json").write_text("[]")
    assert model_digest(folder) != before
    (folder / "config.json").write_text("{}")
    (folder / "config.json").rename(folder / "config")
    assert model_digest(folder) != before


def test_a_model_of_the_library_is_read_and_texts_that_it_knows_lie_near(tmp_path: Path) -> None:
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    known = {word: i for i, word in enumerate(("[UNK]", "car", "automobile", "tree"))}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0], [1, 0.1], [1, 0.2], [0, 1]], dtype=np.float32)
    model2vec.StaticModel(vectors, words, {}).save_pretrained(tmp_path / "small")
    part = ModelPart.learn((), tmp_path / "small")
    rows = part.make(["car", "an automobile", "tree"], "t")
    assert len(part.names) == 2
    near = np.asarray(rows) @ np.asarray(rows).T
    assert near[0, 1] > 0.99 > near[0, 2]
