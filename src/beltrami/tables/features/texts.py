"""Texts become numbers: by their words, or by a static embedding model that lies on this machine.

This is the one place where they do. Nothing is ever downloaded.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.types import CsrMatrix, FloatMatrix, Points

_MANY_ROWS = 1000
_NO_WORDS = "(no words)"
_BLOCK_TEXTS = 4096
_BLOCK_BYTES = 2**20
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def text_block(
    texts: list[str], name: str, model: str | os.PathLike[str] | None = None
) -> tuple[Points, tuple[str, ...], tuple[str, ...]]:
    """Return texts as rows, what the columns are, and lines on what was done.

    Without a model these are TF-IDF weights, a sparse matrix with rows of unit length. With one
    they are dense float32 vectors of unit length, zeros for a text of which it knows no word.

    - `name`: what to call the table in messages.
    - `model`: the folder of a static embedding model.
    """
    if model is not None:
        return _static_vectors(texts, Path(model), name)
    words, names, n_empty = _tf_idf(texts, name)
    notes = [f"texts are {words.shape[1]} TF-IDF weights of words"]
    if n_empty:
        notes.append(f"{n_empty} row(s) hold no known word and are alike to each other only")
    return words, names, tuple(notes)


def model_digest(folder: Path) -> str:
    """Return the SHA-256 of the files of a model, by name and content, in hexadecimal."""
    digest = hashlib.sha256()
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        digest.update(f"{path.name!r} {path.stat().st_size}\n".encode())
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()


def _static_vectors(
    texts: list[str], folder: Path, name: str
) -> tuple[FloatMatrix, tuple[str, ...], tuple[str, ...]]:
    _require_folder(folder)
    model = _load(folder)
    width = int(model.dim)
    require_memory(
        4.0 * len(texts) * width,
        what=f"the vectors of {len(texts)} texts of {name}",
        instead="Use fewer rows.",
    )
    vectors: FloatMatrix = np.zeros((len(texts), width), dtype=np.float32)
    for start in range(0, len(texts), _BLOCK_TEXTS):
        block = texts[start : start + _BLOCK_TEXTS]
        # The whole of each text, as its words would be; other processes would be started above
        # some thousand texts otherwise.
        found = model.encode(block, max_length=None, use_multiprocessing=False)
        vectors[start : start + len(block)] = found
    if not np.isfinite(vectors).all():
        raise InvalidInputError(
            f"the model in {str(folder)!r} gives vectors that are not finite. Put back a copy."
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    note = (
        f"texts are vectors of {width} numbers and length one, by the model {folder.name} "
        f"(sha256 {model_digest(folder)[:16]})"
    )
    return vectors, tuple(f"text[{i}]" for i in range(width)), (note,)


def _require_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    what = "a file" if folder.exists() else "no folder on this machine"
    raise InvalidInputError(
        f"text_model={str(folder)!r} is {what}, and the folder of a static embedding model is due: "
        "nothing is ever downloaded. Where you may download one, save it by model2vec: "
        "StaticModel.from_pretrained(NAME).save_pretrained('folder'), and name that folder."
    )


def _load(folder: Path) -> Any:
    """Return the model in a folder."""
    with _offline():
        try:
            from model2vec import StaticModel
        except ImportError as error:
            raise InvalidInputError(
                "text_model takes the package model2vec, which is not installed: "
                "pip install 'beltrami[text]'. Without it texts are compared by their words."
            ) from error
        try:
            return StaticModel.from_pretrained(str(folder.resolve()))
        except Exception as error:  # whatever its readers make of a broken file
            held = ", ".join(sorted(one.name for one in folder.iterdir())[:8]) or "nothing"
            raise InvalidInputError(
                f"the folder {str(folder)!r} holds no static embedding model that model2vec can "
                f"read ({error}). It holds {held}; a model is config.json, model.safetensors and "
                "tokenizer.json."
            ) from error


@contextmanager
def _offline() -> Iterator[None]:
    """Keep the libraries of models off the network."""
    before = {name: os.environ.get(name) for name in _OFFLINE}
    os.environ.update(dict.fromkeys(_OFFLINE, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _tf_idf(texts: list[str], name: str) -> tuple[CsrMatrix, tuple[str, ...], int]:
    """Return rows of unit length, the words, and how many texts hold none of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    min_count = 2 if len(texts) >= _MANY_ROWS else 1
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=min_count, dtype=np.float32)
    require_memory(
        8.0 * sum(map(len, texts)), what=f"the words of {name}", instead="Use fewer rows."
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError as error:  # an empty vocabulary
        raise InvalidInputError(
            f"the texts of {name} hold no word of two letters or more that could be compared "
            f"({error})."
        ) from error
    words = tuple(str(word) for word in vectorizer.get_feature_names_out())
    empty = np.flatnonzero(np.diff(weights.indptr) == 0)
    if not empty.size:
        return csr_array(weights), words, 0
    # A row of zeros has no angle to anything; a column of its own gives it one.
    ones = np.ones(empty.size, dtype=np.float32)
    marks = csr_array((ones, (empty, np.zeros_like(empty))), shape=(len(texts), 1))
    return csr_array(hstack([weights, marks], format="csr")), (*words, _NO_WORDS), int(empty.size)
