"""Texts become numbers: by their words, or by a static embedding model that lies on this machine.

This is the one place where they do. Nothing is ever downloaded.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector, IndexVector

_MANY_ROWS = 1000
_NO_WORDS = "(no words)"
_BLOCK_TEXTS = 4096
_BLOCK_BYTES = 2**20
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


@dataclass(frozen=True, slots=True, eq=False)
class WordPart:
    """Texts by their words: logarithmic counts, weighed by how rare a word is, of unit length.

    Attributes
    ----------
    columns : tuple of str
        The columns of texts, which are joined.
    words : tuple of str
        The words, sorted.
    order : ndarray of shape (w,)
        The places of the words in the order in which they were first seen, in which they are summed
        up: other orders give other bits.
    rarity : ndarray of shape (w,)
        Weight of each word.
    has_wordless : bool
        Whether texts without a known word have a column of their own.
    """

    columns: tuple[str, ...]
    words: tuple[str, ...]
    order: IndexVector
    rarity: FloatVector
    has_wordless: bool

    @classmethod
    def learn(
        cls, texts: list[str], columns: tuple[str, ...], name: str
    ) -> tuple["WordPart", CsrMatrix, int]:
        """Return the part, the rows that it makes, and how many texts hold no known word."""
        words, counts = _count_words(texts, name)
        firsts, places = np.unique(counts.indices, return_index=True)
        order = firsts[np.argsort(places)].astype(np.int64)
        found = np.bincount(counts.indices, minlength=len(words)).astype(np.float32)
        rarity = np.log(np.float32(len(texts) + 1) / (found + 1)) + 1
        is_wordless = np.diff(counts.indptr) == 0
        part = cls(columns, words, order, rarity, bool(is_wordless.any()))
        return part, part._finish(counts), int(is_wordless.sum())

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return (*self.words, *[_NO_WORDS] * self.has_wordless)

    def make(self, texts: list[str], name: str) -> CsrMatrix:
        """Return the texts of a table of some name as rows, one of zeros for no known word."""
        from sklearn.feature_extraction.text import CountVectorizer

        _require_room(texts, name)
        seen = [self.words[place] for place in self.order]
        counts = CountVectorizer(vocabulary=seen, dtype=np.float32).transform(texts)
        counts.indices = self.order[counts.indices].astype(counts.indices.dtype)
        return self._finish(counts)

    def _finish(self, counts: Any) -> CsrMatrix:
        """Return counts as weights, with the column of texts that have no known word."""
        from sklearn.preprocessing import normalize

        weights = counts.astype(np.float32, copy=False)
        weights.data = np.log(weights.data) + 1
        weights.data *= self.rarity[weights.indices]
        weights = normalize(weights, norm="l2", copy=False)
        if not self.has_wordless:
            return csr_array(weights)
        # A row of zeros has no angle to anything; a column of its own gives it one.
        empty = np.flatnonzero(np.diff(weights.indptr) == 0)
        ones = np.ones(empty.size, dtype=np.float32)
        shape = (weights.shape[0], 1)
        marks = csr_array((ones, (empty, np.zeros_like(empty))), shape=shape)
        return csr_array(hstack([weights, marks], format="csr"))


@dataclass(frozen=True, eq=False)
class ModelPart:
    """Texts by a static embedding model: dense vectors of unit length, zeros for no known word.

    Attributes
    ----------
    columns : tuple of str
        The columns of texts, which are joined.
    folder : str
        Where the model lies, as the user says.
    digest : str
        Hash of its files.
    width : int
        Length of its vectors.
    """

    columns: tuple[str, ...]
    folder: str
    digest: str
    width: int

    @classmethod
    def learn(cls, columns: tuple[str, ...], folder: Path) -> "ModelPart":
        """Return the part of a model in a folder."""
        _require_folder(folder)
        return cls(columns, str(folder), model_digest(folder), int(_load(folder).dim))

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(f"text[{i}]" for i in range(self.width))

    @property
    def note(self) -> str:
        """What is done to the texts."""
        return (
            f"texts are vectors of {self.width} numbers and length one, by the model "
            f"{Path(self.folder).name} (sha256 {self.digest[:16]})"
        )

    @cached_property
    def _model(self) -> Any:
        self._require_own()
        return _load(Path(self.folder))

    @cached_property
    def _digest_there(self) -> str:
        """Hash of the files that lie in the folder now."""
        return model_digest(Path(self.folder))

    def found_in(self, folder: str | os.PathLike[str] | None) -> "ModelPart":
        """Return the part with its model in another folder, or in its own; raise for another."""
        part = replace(self, folder=str(self.folder if folder is None else Path(folder)))
        part._require_own()
        return part

    def _require_own(self) -> None:
        """Raise where the model of the fit does not lie in the folder."""
        if not Path(self.folder).is_dir():
            raise InvalidInputError(
                f"the labeller compares texts by a model, and there is no folder {self.folder!r}. "
                "Say where the model lies: --text-model FOLDER (found_in(FOLDER))."
            )
        if self._digest_there != self.digest:
            raise InvalidInputError(
                f"the model in {self.folder!r} is another than the labeller learned with (sha256 "
                f"{self.digest[:16]}). Put that one there, or label anew."
            )

    def make(self, texts: list[str], name: str) -> FloatMatrix:
        """Return the texts of a table of some name as vectors."""
        require_memory(
            4.0 * len(texts) * self.width,
            what=f"the vectors of {len(texts)} texts of {name}",
            instead="Use fewer rows.",
        )
        vectors: FloatMatrix = np.zeros((len(texts), self.width), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK_TEXTS):
            block = texts[start : start + _BLOCK_TEXTS]
            # The whole of each text, as its words would be; other processes would be started above
            # some thousand texts otherwise.
            found = self._model.encode(block, max_length=None, use_multiprocessing=False)
            vectors[start : start + len(block)] = found
        if not np.isfinite(vectors).all():
            raise InvalidInputError(
                f"the model in {self.folder!r} gives vectors that are not finite. Put back a copy."
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors


def model_digest(folder: Path) -> str:
    """Return the SHA-256 of the files of a model, by name and content, in hexadecimal."""
    digest = hashlib.sha256()
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        digest.update(f"{path.name!r} {path.stat().st_size}\n".encode())
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    return digest.hexdigest()


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


def _count_words(texts: list[str], name: str) -> tuple[tuple[str, ...], Any]:
    """Return the words that are kept, and how often each stands in each text."""
    from sklearn.feature_extraction.text import CountVectorizer

    min_count = 2 if len(texts) >= _MANY_ROWS else 1
    vectorizer = CountVectorizer(min_df=min_count, dtype=np.float32)
    _require_room(texts, name)
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError as error:  # an empty vocabulary
        raise InvalidInputError(
            f"the texts of {name} hold no word of two letters or more that could be compared "
            f"({error})."
        ) from error
    return tuple(str(word) for word in vectorizer.get_feature_names_out()), counts


def _require_room(texts: list[str], name: str) -> None:
    require_memory(
        8.0 * sum(map(len, texts)), what=f"the words of {name}", instead="Use fewer rows."
    )
