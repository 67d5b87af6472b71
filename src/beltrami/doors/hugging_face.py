"""Hugging Face `datasets`: a folder with one parquet file that knows its classes, and a card."""

import json
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import write_text
from beltrami.doors.answers import Clues, Reading
from beltrami.doors.files import write_folder
from beltrami.doors.outcome import Outcome
from beltrami.doors.plain import answers_in, read_columns
from beltrami.labelling.result import columns_beside
from beltrami.tables import write_table

ROWS, CARD = "data/train-00000-of-00001.parquet", "README.md"
FILES = (ROWS, CARD)

_CLASSES = ("label", "guess", "second_label")


def write_dataset(outcome: Outcome, target: Path) -> None:
    """Write the table of labels with the user's columns; columns of classes are class labels."""
    own = columns_beside(outcome.intake, outcome.columns, target / ROWS)
    columns = outcome.columns | {name: _codes(outcome, name) for name in _CLASSES} | own
    feature = {"names": list(outcome.classes), "_type": "ClassLabel"}
    info = {"info": {"features": dict.fromkeys(_CLASSES, feature)}}
    facts = outcome.facts | {"huggingface": json.dumps(info)}
    write_folder(
        target,
        {
            ROWS: lambda place: write_table(place, columns, facts),
            CARD: lambda place: write_text(place, _card(outcome)),
        },
    )


def _codes(outcome: Outcome, name: str) -> Any:
    import pyarrow as pa

    codes = outcome.codes_of(name)
    return pa.array(codes, mask=codes < 0)


def _card(outcome: Outcome) -> str:
    n_given = int(outcome.intake.is_given.sum())
    return (
        "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n"
        "    path: data/train-*.parquet\n---\n\n"
        f"{len(outcome.intake.ids):,} rows of {outcome.intake.table.name}, {n_given:,} of them "
        f"labelled by people, by {outcome.model}. `label` is empty where nobody has answered for "
        "the row; `source` says who did (human, propagated, or why nobody), `confidence` how sure "
        "that is, `guess` what is likeliest all the same.\n"
    )


def read_dataset(path: Path, clues: Clues) -> Reading:
    """Read a folder of parquet files, or one of them."""
    places = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not places:
        raise InvalidInputError(
            f"{str(path)!r} holds no parquet file. Write the set with `to_parquet`, and name that."
        )
    first, *others = [read_columns(place) for place in places]
    for one in others:
        if set(one) != set(first):
            raise InvalidInputError(
                f"the parquet files in {str(path)!r} have different columns. Name the one that is "
                "meant; nothing was imported."
            )
        first = {name: first[name] + one[name] for name in first}
    return answers_in(first, clues, path.name)
