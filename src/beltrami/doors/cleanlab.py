"""cleanlab: a folder of arrays, probabilities and given labels of every row."""

from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import read_json, write_text
from beltrami.core.types import FloatMatrix
from beltrami.doors.answers import Answer, Clues, Reading
from beltrami.doors.files import write_folder, write_json
from beltrami.doors.outcome import GIVEN, Outcome

PROBABILITIES, LABELS, HELD_OUT = "pred_probs.npy", "labels.npy", "held_out.npy"
CLASSES, IDS = "classes.json", "ids.json"
FILES = (PROBABILITIES, LABELS, HELD_OUT, CLASSES, IDS)

_BLOCK_ROWS = 65_536


def write_arrays(outcome: Outcome, target: Path) -> None:
    """Write what `cleanlab.filter.find_label_issues` takes; rows without a label have -1."""
    is_given = outcome.columns["source"] == GIVEN
    labels = np.where(is_given, outcome.codes_of("label"), -1)
    write_folder(
        target,
        {
            PROBABILITIES: lambda place: _save_in_blocks(place, outcome.probabilities),
            LABELS: lambda place: np.save(place, labels),
            HELD_OUT: lambda place: np.save(place, outcome.is_held_out),
            CLASSES: lambda place: write_text(place, write_json(list(outcome.classes)) + "\n"),
            IDS: lambda place: write_text(place, write_json(outcome.ids) + "\n"),
        },
    )


def _save_in_blocks(place: Path, values: FloatMatrix) -> None:
    if not values.size:
        np.save(place, values)
        return
    file = np.lib.format.open_memmap(place, mode="w+", dtype=values.dtype, shape=values.shape)
    for start in range(0, len(values), _BLOCK_ROWS):
        file[start : start + _BLOCK_ROWS] = values[start : start + _BLOCK_ROWS]
    file.flush()


def read_arrays(path: Path, clues: Clues) -> Reading:
    """Read labels and ids of such a folder; the names of its files are known."""
    del clues
    labels, classes, ids = _read(path / LABELS), read_json(path / CLASSES), read_json(path / IDS)
    is_list = isinstance(classes, list) and isinstance(ids, list)
    is_whole = is_list and labels.shape == (len(ids),) and labels.dtype.kind in "iu"
    if not is_whole or labels.max(initial=-1) >= len(classes) or labels.min(initial=0) < -1:
        raise InvalidInputError(
            f"{LABELS}, {CLASSES} and {IDS} in {str(path)!r} do not belong together. Nothing was "
            "imported; write the folder again."
        )
    pairs = zip(ids, labels.tolist(), strict=True)
    answers = (Answer(str(name), str(classes[code])) for name, code in pairs if code >= 0)
    return Reading(path.name, tuple(answers), (f"{path.name}: labels from {LABELS}",))


def _read(place: Path) -> Any:
    try:
        return np.load(place, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InvalidInputError(
            f"{str(place)!r} cannot be read ({error}); nothing was imported."
        ) from error
