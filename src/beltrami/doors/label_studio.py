"""Label Studio: tasks with labels of people as annotations and ours as predictions.

Tasks follow https://labelstud.io/guide/task_format. Who gave a label stands in the `meta` of its
result, which Label Studio keeps: `completed_by` must be one of its own users.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import write_text
from beltrami.doors.answers import Answer, Clues, Reading, as_text, read_time
from beltrami.doors.files import explained, read_items_of, write_json_items
from beltrami.doors.naming import find_id_column, find_question
from beltrami.doors.outcome import Item, Outcome

_CONTROL = "label"
_OBJECT = "row"
_NO_TASK = (
    "no task of Label Studio: it has no `data`. Export the project there as JSON (not JSON-MIN)"
)


def write_tasks(outcome: Outcome, target: Path) -> None:
    """Write tasks, and beside them the labelling interface that they are made for."""
    with explained(target):
        write_text(config_place(target), _config(outcome))
    model = outcome.model
    tasks = (
        {"id": number} | _task(item, model) for number, item in enumerate(outcome.items(target), 1)
    )
    write_json_items(target, tasks)


def config_place(target: Path) -> Path:
    """Return where the labelling interface goes."""
    return target.with_name(f"{target.stem}.config.xml")


def _task(item: Item, model: str) -> dict[str, Any]:
    data: dict[str, Any] = {"id": item.id}
    shown = (("text", item.text), ("picture", item.picture), ("cells", item.cells))
    data |= {name: value for name, value in shown if value}
    task: dict[str, Any] = {"data": data, "annotations": [], "predictions": []}
    if item.label is not None:
        meta = {"annotator": item.user, "how": item.how, "label": item.label}
        annotation = {"result": [_result(item.label) | {"meta": meta}], "was_cancelled": False}
        task["annotations"] = [annotation | ({} if item.at is None else {"created_at": item.at})]
    elif item.guess is not None:
        prediction = {"result": [_result(item.guess)], "score": item.confidence}
        task["predictions"] = [prediction | {"model_version": model}]
    return task


def _result(label: str) -> dict[str, Any]:
    return {
        "from_name": _CONTROL,
        "to_name": _OBJECT,
        "type": "choices",
        "value": {"choices": [label]},
    }


def _config(outcome: Outcome) -> str:
    """Return the labelling interface: what is shown of a row, and the classes to choose from."""
    has_pictures = outcome.intake.table.pictures is not None
    kind, value = ("Text", "id")
    if has_pictures:
        kind, value = "Image", "picture"
    elif outcome.intake.roles.text:
        kind, value = "Text", "text"
    elif outcome.intake.roles.numeric or outcome.intake.roles.categorical:
        kind, value = "Table", "cells"
    choices = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in outcome.classes)
    return (
        f'<View>\n  <{kind} name="{_OBJECT}" value="${value}"/>\n'
        f'  <Choices name="{_CONTROL}" toName="{_OBJECT}" choice="single">\n{choices}\n'
        "  </Choices>\n</View>\n"
    )


def is_task(item: Any) -> bool:
    """Say whether an item of a file looks like a task."""
    return isinstance(item, dict) and isinstance(item.get("data"), dict)


def read_tasks(path: Path, clues: Clues) -> Reading:
    """Read the completed annotations that choose one class."""
    tasks = read_items_of(path, is_task, _NO_TASK)
    results = list(_results(tasks, path.name))
    control = _control({one["from_name"] for *_, one in results}, clues, path.name)
    columns = _data_columns(tasks)
    id_column = find_id_column(columns, clues, path.name)
    answers, n_several = [], 0
    for place, annotation, result in results:
        if result["from_name"] != control:
            continue
        choices = result["value"]["choices"]
        if len(choices) == 1 and isinstance(choices[0], str | int | float):
            answers.append(_answer(columns[id_column][place], choices[0], annotation, result))
        else:
            n_several += len(choices) > 0
    n_skipped = sum(bool(one.get("was_cancelled")) for _, one in _annotations(tasks))
    lines = [f"{path.name}: ids from {id_column!r} in the data of tasks, labels from {control!r}"]
    if n_skipped:
        lines.append(f"{n_skipped:,} annotation(s) were skipped there, and stay out")
    if n_several:
        lines.append(f"{n_several:,} annotation(s) do not choose one class, and stay out")
    return Reading(path.name, tuple(answers), tuple(lines))


def _answer(name: str, choice: Any, annotation: dict[str, Any], result: dict[str, Any]) -> Answer:
    label, meta = as_text(choice), result.get("meta")
    at = read_time(annotation.get("updated_at") or annotation.get("created_at"))
    if isinstance(meta, dict) and meta.get("label") == label:  # as it left us
        user = as_text(meta.get("annotator")) or _user(annotation.get("completed_by"))
        return Answer(name, label, user, at, meta.get("how") == "area")
    return Answer(name, label, _user(annotation.get("completed_by")), at)


def _user(who: Any) -> str | None:
    """Return what an annotator is called: the address, else the name, else the number."""
    if isinstance(who, dict):
        full = " ".join(as_text(who.get(part)) for part in ("first_name", "last_name")).strip()
        known = (as_text(who.get("email")), as_text(who.get("username")), full)
        return next((one for one in known if one), None) or _user(who.get("id"))
    if isinstance(who, str):
        return who.strip() or None
    return None if who is None else f"user {who}"


def _annotations(tasks: list[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return annotations with the places of their tasks, skipped ones among them."""
    for place, task in enumerate(tasks):
        found = task.get("annotations") or task.get("completions") or []
        for one in found if isinstance(found, list) else [found]:
            yield place, one if isinstance(one, dict) else {}


def _results(tasks: list[Any], name: str) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Return the choices of completed annotations, with the places of their tasks."""
    for place, annotation in _annotations(tasks):
        results = annotation.get("result")
        if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
            raise InvalidInputError(
                f"task {place + 1} of {name} has an annotation without results. Nothing was "
                "imported; export the project again."
            )
        if annotation.get("was_cancelled"):
            continue
        for result in results:
            value = result.get("value")
            is_choice = isinstance(value, dict) and isinstance(value.get("choices"), list)
            if result.get("type") == "choices" and is_choice:
                yield place, annotation, result | {"from_name": as_text(result.get("from_name"))}


def _control(names: set[str], clues: Clues, name: str) -> str:
    """Return which of the questions of an interface is meant."""
    if not names:
        raise InvalidInputError(
            f"{name} has no completed annotation that chooses a class. Only choices are imported, "
            "not regions or texts."
        )
    return find_question(names, _CONTROL, clues, name)


def _data_columns(tasks: list[Any]) -> dict[str, list[str]]:
    """Return the data of tasks that may be ids, as columns of texts."""
    names = dict.fromkeys(name for task in tasks for name in task["data"])
    columns = {}
    for name in names:
        values = [task["data"].get(name) for task in tasks]
        if not any(isinstance(value, dict | list) for value in values):
            columns[name] = [as_text(value) for value in values]
    return columns
