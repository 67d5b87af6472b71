"""Argilla: records with labels of people as responses and ours as suggestions.

Records are as its client (2.x) writes them with `to_json` and reads them with `from_json`; lists of
responses of older versions are read, too. A user there is a UUID: ours are made from names, which
stand in the metadata.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from beltrami.core.errors import InvalidInputError
from beltrami.doors.answers import Answer, Clues, Reading, as_text, read_time
from beltrami.doors.files import read_items_of, write_json_items
from beltrami.doors.naming import find_id_column, find_question
from beltrami.doors.outcome import Item, Outcome

_QUESTION = "label"
_NO_RECORD = (
    "no record of Argilla: it lacks `fields` or `responses`. Export it there with "
    "`dataset.records.to_json`"
)


def write_records(outcome: Outcome, target: Path) -> None:
    """Write records, as a list or one a line."""
    model = outcome.model
    write_json_items(target, (_record(item, model) for item in outcome.items(target)))


def user_id(name: str) -> str:
    """Return the UUID that stands for a person."""
    return str(uuid5(NAMESPACE_URL, f"beltrami:{name}"))


def _record(item: Item, model: str) -> dict[str, Any]:
    cells = "\n".join(f"{name}: {as_text(value)}" for name, value in item.cells.items())
    shown = (("text", item.text), ("picture", item.picture), ("cells", cells))
    fields = {name: value for name, value in shown if value} or {"row": item.id}
    metadata = {"source": item.source}
    responses: dict[str, Any] = {}
    suggestions: dict[str, Any] = {}
    if item.label is not None:
        origins = (("annotator", item.user), ("how", item.how), ("updated_at", item.at))
        metadata |= {name: value for name, value in origins if value is not None}
        person = user_id(item.user or "")
        response = {"value": item.label, "user_id": person, "status": "submitted"}
        responses[_QUESTION] = [response]
    elif item.guess is not None:
        suggestion = {"value": item.guess, "score": item.confidence, "agent": model}
        suggestions[_QUESTION] = suggestion
    return {
        "id": item.id,
        "fields": fields,
        "metadata": metadata,
        "suggestions": suggestions,
        "responses": responses,
        "vectors": {},
    }


def is_record(item: Any) -> bool:
    """Say whether an item of a file looks like a record."""
    return isinstance(item, dict) and isinstance(item.get("fields"), dict) and "responses" in item


def read_records(path: Path, clues: Clues) -> Reading:
    """Read the submitted responses that name one class."""
    records = read_items_of(path, is_record, _NO_RECORD)
    responses = list(_responses(records, path.name))
    question = _question({name for _, name, _ in responses}, clues, path.name)
    columns = _record_columns(records)
    id_column = find_id_column(columns, clues, path.name)
    answers, n_open, n_several = [], 0, 0
    for place, name, response in responses:
        if name != question:
            continue
        value = response.get("value")
        if response.get("status", "submitted") not in ("submitted", None) or value is None:
            n_open += 1
        elif isinstance(value, list | dict):
            n_several += 1
        else:
            known = _known(records[place])
            answers.append(_answer(columns[id_column][place], as_text(value), response, known))
    lines = [f"{path.name}: ids from {id_column!r} of records, labels from question {question!r}"]
    if n_open:
        lines.append(f"{n_open:,} response(s) are drafts or were discarded there, and stay out")
    if n_several:
        lines.append(f"{n_several:,} response(s) are not one class, and stay out")
    return Reading(path.name, tuple(answers), tuple(lines))


def _known(record: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a record."""
    metadata = record.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _answer(name: str, label: str, response: dict[str, Any], metadata: dict[str, Any]) -> Answer:
    person, ours = as_text(response.get("user_id")), as_text(metadata.get("annotator"))
    if person != user_id(ours):
        at = response.get("updated_at") or response.get("inserted_at")
        return Answer(name, label, person or None, read_time(at))
    at = read_time(metadata.get("updated_at"))
    return Answer(name, label, ours or None, at, metadata.get("how") == "area")


def _responses(records: list[Any], name: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Return responses with the places of their records and their questions."""
    for place, record in enumerate(records):
        found = record["responses"] or {}
        if isinstance(found, dict):
            pairs = [(question, one) for question in found for one in _listed(found[question])]
        else:
            pairs = [pair for one in _listed(found) for pair in _older(one)]
        for question, one in pairs:
            if not isinstance(one, dict):
                raise InvalidInputError(
                    f"record {place + 1} of {name} has a response that is none. Nothing was "
                    "imported; export it again."
                )
            yield place, str(question), one


def _listed(value: Any) -> list[Any]:
    """Return a list as it is, nothing as none, and whatever else as one that is no response."""
    return value if isinstance(value, list) else [None] * (value is not None)


def _older(response: Any) -> list[tuple[str, Any]]:
    """Return the answers of one person in the form of versions before 2."""
    values = response.get("values") if isinstance(response, dict) else None
    if not isinstance(values, dict):
        return [("", response if isinstance(response, dict) and values is None else None)]
    return [
        (question, response | {"value": one.get("value") if isinstance(one, dict) else one})
        for question, one in values.items()
    ]


def _question(names: set[str], clues: Clues, name: str) -> str:
    """Return which question is meant."""
    asked = names - {""}
    if not asked:
        raise InvalidInputError(f"{name} has no response, so there is nothing to import.")
    return find_question(asked, _QUESTION, clues, name)


def _record_columns(records: list[Any]) -> dict[str, list[str]]:
    """Return what of records may be ids, as columns of texts."""
    flat = [
        {**record["fields"], **_known(record)}
        | {name: record[name] for name in ("id", "external_id") if record.get(name) is not None}
        for record in records
    ]
    names = dict.fromkeys(name for one in flat for name in one)
    return {name: [as_text(one.get(name)) for one in flat] for name in names}
