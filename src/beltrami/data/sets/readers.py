"""From a file of the data folder to a `Dataset`, one reader per kind of file.

A path enters, a checked `Dataset` with the published values leaves. Every reader raises
`CorruptDataError` for a file that is not what its name says.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.errors import CorruptDataError
from beltrami.core.types import CsrMatrix
from beltrami.data.model import Dataset
from beltrami.data.sets.archive import (
    matrix_of,
    read_archive,
    read_lines,
    report_corruption,
    splits_of,
    strings_of,
)

_KNOWN = ("X", "x_scale", "y", "n_train", "class_names", "data", "indices", "indptr", "shape")
_N_RESIDUES = 21  # twenty amino acids and a mark for "beyond the end of the chain"


def read_table(path: Path, *, name: str, n_features: int, description: str) -> Dataset:
    """Return a set of numeric points with targets, and further members of the file as extras.

    A file with another number of columns than the published set is another set, and is refused.
    """
    members = read_archive(path)
    with report_corruption(path):
        points = matrix_of(members)
        if points.shape[1] != n_features:
            raise CorruptDataError(
                path=str(path),
                reason=f"{name!r} has {n_features} columns and the file {points.shape[1]}",
            )
        splits = splits_of(members)
        names = members.get("class_names")
        n_train = members.get("n_train")
        extras = {
            key: _widen(value)
            for key, value in members.items()
            if key not in _KNOWN and key not in splits
        }
        return Dataset(
            name=name,
            points=points,
            targets=members["y"].astype(np.int64),
            target_names=None if names is None else tuple(strings_of(names).tolist()),
            n_train=None if n_train is None else int(n_train),
            splits=splits,
            extras=extras,
            description=description,
        )


def _widen(stored: NDArray[Any]) -> NDArray[Any]:
    """Return what a file stores narrowly, bytes as text and small integers as int64."""
    if stored.dtype.kind == "S":
        return strings_of(stored)
    widened: NDArray[Any] = stored.astype(np.int64) if stored.dtype.kind in "iu" else stored
    return widened


def read_secondary_structure(
    path: Path, *, name: str, n_features: int, description: str
) -> Dataset:
    """Return the protein windows, each position one-hot.

    The file holds a code 0..20 for each of the 15 positions. Codes have no order, so the points
    are the book's 315 indicators, as a sparse matrix; the codes are under ``extras["codes"]``.
    """
    members = read_archive(path)
    with report_corruption(path):
        codes = members["T"]
        if codes.ndim != 2 or codes.shape[1] * _N_RESIDUES != n_features:
            raise ValueError(f"T has shape {codes.shape}")
        if codes.dtype.kind not in "iu" or int(codes.max(initial=0)) >= _N_RESIDUES:
            raise ValueError("T must hold the codes 0 to 20")
        return Dataset(
            name=name,
            points=_one_hot(codes),
            targets=members["y"].astype(np.int64),
            splits=splits_of(members),
            extras={"codes": codes},
            description=description,
        )


def _one_hot(codes: NDArray[Any]) -> CsrMatrix:
    n, n_positions = codes.shape
    columns = codes.astype(np.int32) + np.arange(n_positions, dtype=np.int32) * _N_RESIDUES
    ones = np.ones(columns.size, dtype=np.float64)
    starts = np.arange(n + 1, dtype=np.int32) * n_positions
    return csr_array((ones, columns.ravel(), starts), shape=(n, n_positions * _N_RESIDUES))


def read_newsgroups(path: Path, *, name: str, description: str) -> Dataset:
    """Return the posts with their full headers, in the order of the file.

    ``extras["bydate"]`` is 1 for the training part and 2 for the test part of the by-date version,
    0 for posts outside it; ``extras["article"]`` the number of the article.
    """
    header, records = read_lines(path)
    with report_corruption(path):
        groups, articles, flags, texts = zip(*records, strict=True)
        return newsgroups(
            texts=texts,
            groups=np.array(groups, dtype=np.int64),
            names=tuple(header["groups"]),
            flags=np.array(flags, dtype=np.int64),
            articles=np.array(articles, dtype=np.int64),
            name=name,
            description=description,
        )


def newsgroups(
    *,
    texts: tuple[str, ...],
    groups: NDArray[np.int64],
    names: tuple[str, ...],
    flags: NDArray[np.int64],
    articles: NDArray[np.int64],
    name: str,
    description: str,
) -> Dataset:
    """Return the newsgroups set from its columns, wherever they come from.

    `groups` numbers the `names`; `flags` are 1 for the training part of the by-date version, 2 for
    its test part, 0 outside it.
    """
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("a post is not a text")
    if groups.size and not (int(groups.min()) >= 0 and int(groups.max()) < len(names)):
        raise ValueError(f"a post belongs to none of the {len(names)} groups")
    return Dataset(
        name=name,
        texts=texts,
        targets=groups,
        target_names=names,
        extras={"bydate": flags, "article": articles},
        description=description,
    )


def read_words(path: Path, *, name: str, description: str) -> Dataset:
    """Return a list of words, one a line, as texts without targets."""
    with report_corruption(path):
        words = tuple(path.read_text(encoding="utf-8").split())
        return Dataset(name=name, texts=words, description=description)


def read_brown(path: Path, *, name: str, description: str) -> Dataset:
    """Return the tagged corpus: a text per file, its sentences and their tags.

    Everything stays a string with words separated by one blank, which takes a tenth of the memory
    of a tuple per word. Case and punctuation are as published; targets are the categories.

    A text is one sentence a line. ``extras["sentences"]`` and ``extras["tags"]`` are parallel
    tuples with a string per sentence; ``extras["text"]`` is the number of the text of each sentence
    and ``extras["file"]`` the name of each text.
    """
    _, records = read_lines(path)
    with report_corruption(path):
        files, categories, tagged = zip(*records, strict=True)
        names = tuple(sorted(set(categories)))
        words, tags = _words_and_tags([line for text in tagged for line in text])
        lengths = np.array([len(text) for text in tagged])
        ends = np.cumsum(lengths)
        texts = tuple(
            "\n".join(words[end - length : end]) for length, end in zip(lengths, ends, strict=True)
        )
        return Dataset(
            name=name,
            texts=texts,
            targets=np.array([names.index(category) for category in categories], dtype=np.int64),
            target_names=names,
            extras={
                "sentences": tuple(words),
                "tags": tuple(tags),
                "text": np.repeat(np.arange(lengths.size), lengths),
                "file": np.array(files),
            },
            description=description,
        )


def _words_and_tags(lines: list[str]) -> tuple[list[str], list[str]]:
    """Split ``word/tag`` at the last slash: a word such as "1/2" may hold slashes of its own."""
    words, tags = [], []
    for line in lines:
        tokens = [token.rpartition("/") for token in line.split(" ")]
        if not all(word and tag for word, _, tag in tokens):
            raise ValueError(f"a token without word or tag in {line[:60]!r}")
        words.append(" ".join(word for word, _, _ in tokens))
        tags.append(" ".join(tag for _, _, tag in tokens))
    return words, tags


def read_recordings(path: Path, *, name: str, description: str) -> Dataset:
    """Return the recorded sentences with their phone and word segments; there are no points.

    ``extras["wave"]`` is one int16 vector and utterance i its samples ``offset[i]`` to
    ``offset[i + 1]``; ``utterance`` names them; ``phone_seg`` and ``word_seg`` have a row
    (utterance, first sample, last sample) per segment, counted from the start of the utterance,
    with labels in ``phone`` and ``word``; ``sample_rate`` is in hertz.
    """
    members = read_archive(path)
    with report_corruption(path):
        extras: Mapping[str, Any] = {
            "wave": members["wave"],
            "offset": members["offset"].astype(np.int64),
            "utterance": strings_of(members["utt"]),
            "phone_seg": members["phone_seg"].astype(np.int64),
            "phone": strings_of(members["phone"]),
            "word_seg": members["word_seg"].astype(np.int64),
            "word": strings_of(members["word"]),
            "sample_rate": int(members["rate"]),
        }
        if extras["offset"][-1] != extras["wave"].size:
            raise ValueError(
                f"the last offset is {extras['offset'][-1]} and the wave has "
                f"{extras['wave'].size} samples"
            )
        for kind in ("phone", "word"):
            if extras[f"{kind}_seg"].shape != (extras[kind].size, 3):
                raise ValueError(f"{kind} segments and labels disagree in number")
        return Dataset(name=name, extras=extras, description=description)
