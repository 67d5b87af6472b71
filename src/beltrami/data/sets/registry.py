"""The names of the data sets, and the one function that loads any of them.

A name enters; a `Dataset` leaves, from the data folder, from scikit-learn, or from a public
source. What cannot be found or read is refused with where it was sought and what to do.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType

from beltrami.core.errors import DatasetUnavailableError, InvalidInputError
from beltrami.data.model import Dataset
from beltrami.data.sets import public, readers
from beltrami.data.sets.fingerprints import require_published

_FOLDER_VARIABLE = "BELTRAMI_DATA"


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file of the data folder and how to read it."""

    file: str
    reader: Callable[..., Dataset]
    description: str


def _table(file: str, n_features: int, description: str) -> _Entry:
    return _Entry(file, partial(readers.read_table, n_features=n_features), description)


def _book(file: str, n_features: int, what: str) -> _Entry:
    source = "Benchmark of the book Semi-Supervised Learning (Chapelle, Schoelkopf, Zien, 2006)"
    text = f"{what} {source}, with 12 splits each of 10 and 100 labels; stored in float32."
    return _table(f"sslbook_{file}.npz", n_features, text)


def _lds(file: str, n_features: int, what: str) -> _Entry:
    text = f"{what} From Chapelle and Zien (2005), with their 10 splits of 50 labels."
    return _table(f"lds_{file}.npz", n_features, text)


_FILES: Mapping[str, _Entry] = MappingProxyType(
    {
        "brown": _Entry(
            "brown.jsonl.xz",
            readers.read_brown,
            "Brown corpus, tagged: 500 texts in 15 categories. For non-commercial purposes.",
        ),
        "coil20": _table(
            "coil20.npz",
            1024,
            "COIL-20: 20 objects, 72 poses each in steps of 5 degrees, 32 x 32 pixels, classes "
            "1 to 20. The ten label splits of Chapelle and Zien (2005) are not included.",
        ),
        "g10n": _lds("g10n", 10, "g10n: a class boundary that cuts clusters, classes -1 and 1."),
        "g50c": _lds("g50c", 50, "g50c: two Gaussians in 50 dimensions, classes -1 and 1."),
        "isolet": _table(
            "isolet.npz",
            617,
            "ISOLET spoken letters, classes 1 to 26 for a to z. `group` 1 to 5 is the published "
            "part; `speaker` and `take` are derived from the order of the rows, not published. "
            "Parts 3 and 4 share their speakers.",
        ),
        "lds_text": _lds("text", 7511, "Text: mac against windows newsgroups, classes -1 and 1."),
        "mnist": _table(
            "mnist.npz",
            784,
            "MNIST handwritten digits, 28 x 28 pixels with values 0 to 255; the first 60000 are "
            "the training set (LeCun, Cortes, Burges).",
        ),
        "newsgroups20": _Entry(
            "newsgroups20.jsonl.xz",
            readers.read_newsgroups,
            "20 Newsgroups: all 19997 posts with full headers.",
        ),
        "phoneme": _table(
            "phoneme_esl.npz",
            256,
            "Log-periodograms of five TIMIT phonemes (ESL book); `utterance` says where each frame "
            "comes from, beginning with train or test.",
        ),
        "smart_stop_words": _Entry(
            "smart-stop-words.txt",
            readers.read_words,
            "Stop list of the SMART system: 571 English words, a text each.",
        ),
        "sslbook_bci": _book("bci", 117, "BCI: imagined movements, classes -1 and 1."),
        "sslbook_coil": _book("coil", 241, "COIL: six classes of objects."),
        "sslbook_coil2": _book("coil2", 241, "COIL2: two classes of objects."),
        "sslbook_digit1": _book("digit1", 241, "Digit1: artificial digits, classes -1 and 1."),
        "sslbook_g241c": _book("g241c", 241, "g241c: two Gaussians, classes -1 and 1."),
        "sslbook_g241d": _book("g241d", 241, "g241d: misleading clusters, classes -1 and 1."),
        "sslbook_secstr": _Entry(
            "sslbook_secstr.npz",
            partial(readers.read_secondary_structure, n_features=315),
            "SecStr: protein secondary structure, windows of 15 residues as 315 indicators, with "
            "10 splits each of 100, 1000 and 10000 labels.",
        ),
        "sslbook_text": _book("text", 11960, "Text: newsgroups, classes -1 and 1."),
        "sslbook_usps": _book("usps", 241, "USPS: digits 2 and 5 against the rest."),
        "timit_demo": _Entry(
            "timit_demo.npz",
            readers.read_recordings,
            "Six TIMIT utterances at 16 kHz with phone and word segments. The recordings belong "
            "to the Linguistic Data Consortium: keep them out of anything public.",
        ),
        "usps": _table(
            "usps_esl.npz",
            256,
            "USPS handwritten digits, 16 x 16 pixels with values -1 to 1 (ESL book); the first "
            "7291 are the training set.",
        ),
        "uspst": _lds("uspst", 256, "Uspst: 2007 USPS digits, another draw than the ESL test set."),
    }
)


def available_datasets() -> tuple[str, ...]:
    """Return every name that `load_dataset` knows, in alphabetical order.

    Returns
    -------
    tuple of str
        The names, whether or not their files are on this machine.

    Examples
    --------
    >>> from beltrami import available_datasets
    >>> "digits" in available_datasets()
    True
    """
    return tuple(sorted({*_FILES, *public.BUNDLED}))


def load_dataset(name: str, *, folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Return a named data set with the values and splits that are published for it.

    The sets of scikit-learn ("breast_cancer", "diabetes", "digits", "iris", "wine") are always
    there. The others are read from the data folder, whose files must have the recorded SHA-256;
    without their file, "mnist" and "newsgroups20" are fetched from their public source when the
    network allows. Nothing is ever unpickled from the folder. Data of your own are made a
    `Dataset` by its constructor.

    Parameters
    ----------
    name : str
        One of `available_datasets`.
    folder : str or path, optional
        Where the files are; by default what the environment variable ``BELTRAMI_DATA`` says.

    Returns
    -------
    Dataset
        The set.

    Raises
    ------
    InvalidInputError
        When the name is not known; the message lists the names.
    DatasetUnavailableError
        When the file is not there and no public source answered.
    CorruptDataError
        When the file is there and is truncated, changed or something else.

    Examples
    --------
    >>> from beltrami import load_dataset
    >>> load_dataset("iris")
    Dataset
      name     iris
      points   150 x 4 float64
      targets  3 classes
      extras   feature_names
    """
    if name in public.BUNDLED:
        return public.load_bundled(name)
    if name not in _FILES:
        raise InvalidInputError(_unknown(name))
    entry, place = _FILES[name], _folder(name, folder)
    if place is not None and (place / entry.file).exists():
        require_published(place / entry.file)
        return entry.reader(place / entry.file, name=name, description=entry.description)
    return _from_public_source(name, entry, place)


def dataset_file(name: str) -> Path | None:
    """Return the file that a named set is read from; None where it is bundled or not here."""
    entry = _FILES.get(name)
    place = None if entry is None else _folder(name, None)
    if entry is None or place is None or not (place / entry.file).exists():
        return None
    return place / entry.file


def _unknown(name: object) -> str:
    names = available_datasets()
    close = difflib.get_close_matches(str(name).lower(), names, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"there is no data set {name!r}.{hint} The names are {', '.join(names)}."


def _folder(name: str, folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder to look in, None where none was said, or refuse one that is not there."""
    path, source = folder, "folder"
    if not path:
        path, source = os.environ.get(_FOLDER_VARIABLE), _FOLDER_VARIABLE
    if not path:
        return None
    place = Path(path).expanduser()
    if not place.is_dir():
        raise DatasetUnavailableError(
            f"the data set {name!r} was sought in {str(place)!r} (from {source}), and there is no "
            f"such folder. Give the folder that holds {_FILES[name].file!r}."
        )
    return place


def _from_public_source(name: str, entry: _Entry, place: Path | None) -> Dataset:
    sought = f"the folder {str(place)!r} does not hold it" if place else "no data folder is set"
    advice = (
        f"Put {entry.file!r} into a folder and pass it as folder=, or name the folder in the "
        f"environment variable {_FOLDER_VARIABLE}."
    )
    if name not in public.FETCHED:
        raise DatasetUnavailableError(
            f"the data set {name!r} is not available: {sought}, and it has no public source that "
            f"can be fetched from here. {advice}"
        )
    try:
        return public.FETCHED[name]()
    except (OSError, ValueError, HTTPException) as error:
        reason = f"{type(error).__name__}: {error}"
        raise DatasetUnavailableError(
            f"the data set {name!r} is not available: {sought}, and its public source did not "
            f"deliver it ({reason}). {advice} Or try again with a network connection."
        ) from error
