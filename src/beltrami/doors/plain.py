"""Plain tables (csv, parquet, jsonl): ours leave, and any with ids and labels enter."""

import json
from dataclasses import replace
from pathlib import Path

from beltrami.doors.answers import Answer, Clues, Reading, as_text, read_time
from beltrami.doors.naming import find_id_column, find_label_column
from beltrami.doors.outcome import GIVEN, Outcome
from beltrami.labelling.result import columns_beside
from beltrami.labelling.showing.own_columns import facts_of_own, relative_path
from beltrami.tables import table_facts, write_table
from beltrami.tables.model import decode_categories
from beltrami.tables.own_results import SOURCES
from beltrami.tables.reading.formats import read_as_it_stands

_OURS = {"id", "label", "source", "confidence", "guess"}
"""Columns by which a table that we wrote is known."""


def write_plain(outcome: Outcome, target: Path) -> None:
    """Write the table of labels with the user's columns beside."""
    own = columns_beside(outcome.intake, outcome.columns, target)
    facts = outcome.facts | facts_of_own(own, outcome.intake.table)
    if outcome.intake.source is not None:
        facts |= {"data_path": relative_path(outcome.intake.source, target)}
    write_table(target, outcome.columns | own, facts)


def read_plain(path: Path, clues: Clues) -> Reading:
    """Read ids and labels from the columns that hold them."""
    return answers_in(read_columns(path), clues, path.name)


def read_columns(path: Path) -> dict[str, list[str]]:
    """Read a table as texts exactly as written; codes of classes that it names, as the names."""
    columns = read_as_it_stands(path).columns
    texts = {
        name: [as_text(value) for value in decode_categories(columns.column(name)).to_pylist()]
        for name in columns.column_names
    }
    for name, classes in _class_names(path).items():
        codes = texts.get(name, [])
        names = {str(code): one for code, one in enumerate(classes)}
        texts[name] = [names.get(code, "") for code in codes]
    return {name: values for name, values in texts.items() if values}


def answers_in(columns: dict[str, list[str]], clues: Clues, name: str) -> Reading:
    """Return what columns of texts say; of a table that we wrote, what people said alone."""
    is_ours = clues.said_label in (None, "label") and _is_ours(columns)
    if is_ours:
        clues = replace(clues, said_id=clues.said_id or "id", said_label="label")
    id_column = find_id_column(columns, clues, name)
    label_column = find_label_column(list(columns), id_column, clues, name)
    lines = [f"{name}: ids from column {id_column!r}, labels from column {label_column!r}"]
    n_rows = len(columns[id_column])
    is_taken = [bool(label.strip()) for label in columns[label_column]]
    if is_ours:
        is_people = [one == GIVEN for one in columns["source"]]
        n_left = sum(has and not by for has, by in zip(is_taken, is_people, strict=True))
        is_taken = [has and by for has, by in zip(is_taken, is_people, strict=True)]
        lines.append(f"{n_left:,} label(s) in it are ours and not of people, and stay out")
    nothing = [""] * n_rows
    users = columns.get("annotator", nothing)
    times, hows = (columns.get(one, nothing) if is_ours else nothing for one in _ORIGINS)
    answers = (
        Answer(id, label, user or None, read_time(at), how == "area")
        for id, label, user, at, how, is_one in zip(  # noqa: A001 - what it is
            columns[id_column], columns[label_column], users, times, hows, is_taken, strict=True
        )
        if is_one
    )
    return Reading(name, tuple(answers), tuple(lines))


_ORIGINS = ("updated_at", "how")


def _is_ours(columns: dict[str, list[str]]) -> bool:
    return set(columns) >= _OURS and set(columns["source"]) <= set(SOURCES)


def _class_names(path: Path) -> dict[str, list[str]]:
    """Return the names of classes by column, where the file says them as `datasets` does."""
    try:
        features = json.loads(table_facts(path)["huggingface"])["info"]["features"]
        return {
            column: list(map(str, one["names"]))
            for column, one in features.items()
            if isinstance(one, dict) and one.get("_type") == "ClassLabel"
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}
