"""A project at work: what people do enters, is saved, and changes the state."""

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.intake import Intake
from beltrami.project.errors import ClassExistsError, ProjectError
from beltrami.project.file import ProjectFile
from beltrami.project.importing import news_of
from beltrami.project.inputs import Input, Recognised, recognise
from beltrami.project.options import changes_beside, options_record, place_beside
from beltrami.project.reading import Data, OpenMarker, read_data
from beltrami.project.record.audit_events import RiskSet
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import (
    FILE,
    Body,
    ClassAdded,
    ClassRemoved,
    Event,
    InputSeen,
    Kept,
    Labelled,
    Marked,
    Renamed,
    Returned,
    RolesChanged,
    TakenBack,
    check_person,
    pressed,
)
from beltrami.project.record.measures import Measures
from beltrami.project.record.standing import fallen_after, fallen_numbers
from beltrami.project.record.state import State
from beltrami.tables import GivenLabels, TableOptions
from beltrami.tables.model import few_of


class Project:
    """The labels of a table, as people gave them, with all that happened.

    Every method that changes something returns when that is on the disk. Methods may be called
    from several threads; who reads `state` while others write holds `lock`.

    Attributes
    ----------
    path : Path
        The file of events.
    options : TableOptions
        How the table is read.
    words : list of str
        What a person should know of the opening.
    lock : RLock
        Held while something is saved and the state changes.
    open_marker : OpenMarker or None
        What may be a class or mark rows without a label, while nobody has said which.
    measures : Measures
        What the learner said at each moment, as far as that was kept.
    """

    open_marker: OpenMarker | None
    options: TableOptions
    _data: Intake
    _input: Input

    def __init__(
        self,
        path: Path,
        file: ProjectFile | None,
        chronicle: Chronicle,
        source: Any,
        inputs: list[Input],
    ) -> None:
        self.path, self.words = path, list[str]()
        self.lock = threading.RLock()
        self.measures = Measures(path, is_read_only=file is None)
        self._file, self._chronicle, self._source, self._inputs = file, chronicle, source, inputs
        self._intake: tuple[int, Intake] | None = None
        self._visible = chronicle.state

    @property
    def state(self) -> State:
        """Labels, classes and marks as they are now."""
        return self._visible

    @property
    def events(self) -> list[Event]:
        """All that happened, with rows as positions in the present data."""
        return self._chronicle.events

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self._data.table.n_rows

    @property
    def read_only(self) -> bool:
        """Whether nothing can be saved."""
        return self._file is None

    @property
    def data(self) -> Intake:
        """The table as it was read, with the labels that stand in it."""
        return self._data

    @property
    def intake(self) -> Intake:
        """The table with the labels of the project; made once for each state."""
        with self.lock:
            number = self.state.number
            if self._intake is None or self._intake[0] != number:
                self._intake = number, labelled_intake(self._data, self.state, self.path)
            return self._intake[1]

    def snapshot(self) -> State:
        """Return labels, classes and marks as they are now, which later events leave alone."""
        with self.lock:
            return self.state.copy()

    def can_undo(self, user: str) -> bool:
        """Say whether a person has something to take back."""
        return self._chronicle.last_of(user) is not None

    def label(
        self, user: str, rows: Iterable[int], label: str | Sequence[str | None] | None, how: str
    ) -> Event:
        """Give rows a label, or one each; None takes labels away."""
        listed = _row_numbers(rows)
        labels = (label,) if label is None or isinstance(label, str) else tuple(label)
        if how == FILE:
            raise InvalidInputError(f"how={FILE!r} is said of labels of the data alone.")
        with self.lock:
            self._require_rows(listed)
            old = self._labels_of(listed)
            return self._save(user, Labelled(listed, labels, how, old, self._input.number))

    def import_labels(self, parcels: Iterable[tuple[str, str, Mapping[int, str]]]) -> list[Event]:
        """Give rows labels that people gave elsewhere: who, how and what, all of them or none."""
        with self.lock:
            entries: list[tuple[str, Body]] = []
            for user, how, labels in parcels:
                self._require_person(user)
                rows = _row_numbers(labels)
                self._require_rows(rows)
                texts = pressed(tuple(labels.values()))
                old = self._labels_of(rows)
                entries.append((user, Labelled(rows, texts, how, old, self._input.number)))
            return self._add(entries)

    def mark(self, user: str, rows: Iterable[int], mark: str) -> Event:
        """Say that rows are skipped by a person, or that nobody can tell what they are."""
        listed = _row_numbers(rows)
        with self.lock:
            self._require_rows(listed)
            return self._save(user, Marked(listed, mark, self._input.number))

    def keep(self, user: str, about: str, rows: Iterable[int], value: str) -> Event:
        """Say that somebody looked at a doubt and leaves what stands there, such as a label.

        - `rows`: those it is about; none where it is about names of classes.
        """
        listed = _row_numbers(rows)
        with self.lock:
            if listed or about != "spelling":
                self._require_rows(listed)
            return self._save(user, Kept(listed, about, value, self._input.number))

    def add_class(self, user: str, name: str) -> Event:
        """Name a class that no row has yet."""
        with self.lock:
            body = ClassAdded(name)
            if name in self.state.class_names:
                raise ClassExistsError(f"there is a class {name!r} already.")
            return self._save(user, body)

    def remove_class(self, user: str, name: str) -> Event:
        """Let a class go that no row has and no answer of an audit names."""
        with self.lock:
            body, state = ClassRemoved(name), self.state
            if name not in state.class_names:
                raise InvalidInputError(f"there is no class {name!r}.")
            n_rows = sum(given.label == name for given in state.labels.values())
            if n_rows:
                raise InvalidInputError(
                    f"{n_rows:,} row(s) are labelled {name!r}, so it cannot be removed. Label them "
                    "otherwise first, or merge the class into another."
                )
            if state.audits.names(name):
                raise InvalidInputError(
                    f"rows were answered {name!r} in an audit, and answers of audits do not "
                    "change. Merge the class into another."
                )
            return self._save(user, body)

    def rename_class(self, user: str, old: str, new: str, merge: bool = False) -> Event:
        """Give a class another name; with `merge` it may become one with the class of that name."""
        with self.lock:
            body, names = Renamed(old, new), self.state.class_names
            if old not in names:
                raise InvalidInputError(
                    f"there is no class {old!r} to be renamed; there are {few_of(names) or 'none'}."
                )
            if new in names and not merge:
                raise ClassExistsError(
                    f"there is a class {new!r} already. Say that both are to be one (merge), or "
                    "choose another name."
                )
            return self._save(user, body)

    def undo(self, user: str) -> Event | None:
        """Take back the last thing that a person did; None where there is nothing to take back."""
        with self.lock:
            last = self._chronicle.last_of(user)
            return None if last is None else self._save(user, TakenBack(last.number))

    def return_to(self, user: str, number: int) -> Event:
        """Let what people said be again as it was after an event; audits and roles stay."""
        with self.lock:
            self._require_moment(number)
            events = self.events
            if fallen_numbers(events) == fallen_after(events, number):
                raise InvalidInputError(
                    f"what people said is now what it was after event {number:,}: there is "
                    "nothing to return from."
                )
            return self._save(user, Returned(number))

    def state_at(self, number: int) -> State:
        """Return what held after an event, with rows as positions in the present data."""
        with self.lock:
            self._require_moment(number)
            events = self.events[:number]
        return Chronicle(events).state

    def draw_audit(
        self, user: str, accepted: Mapping[int, str], risk: float | None, seed: int
    ) -> Event:
        """Draw rows to be looked at blindly from the accepted ones, given with their labels."""
        audits = self.state.audits
        body = audits.draw(accepted, risk, seed, self._input.number)  # long, and nobody waits
        with self.lock:
            if self.state.audits is not audits:
                raise InvalidInputError("somebody went on with the audit meanwhile. Look again.")
            return self._save(user, body)

    def answer_audit(self, user: str, row: int, answer: str | None) -> Event:
        """Say what a row of the open round is; None where that cannot be told."""
        with self.lock:
            state = self.state
            body = state.audits.answer(row, answer, state.class_names, self._input.number)
            return self._save(user, body)

    def set_risk(self, user: str, risk: float | None) -> Event:
        """Say how many of the accepted labels may be expected to be wrong; None accepts all."""
        with self.lock:
            return self._save(user, RiskSet(risk))

    def change_roles(self, user: str, options: TableOptions) -> Event:
        """Read the table by other options, all of which are said; labels stay with their rows."""
        self._require_person(user)
        data = read_data(self._source, options)
        with self.lock:
            found = recognise(data.seen, self._inputs, self._input)
            if not np.array_equal(found.input.keys, self._input.keys):
                raise InvalidInputError(
                    f"{data.intake.table.name} has changed since it was opened. Open it again."
                )
            place = len(self.events)
            self.words += self.take_over(data, found, user)
            self._inputs += [found.input] * found.is_new
            changes = (one for one in self.events[place:] if isinstance(one.body, RolesChanged))
            event = next(changes, None)
            if event is None:
                raise InvalidInputError("these are the options that the table is read by already.")
            return event

    def take_over(self, data: Data, found: Recognised, user: str) -> list[str]:
        """Rest on data as they were read; save and say what they and their options bring."""
        folder = self.path.parent
        is_path = isinstance(self._source, str | os.PathLike)
        seen = InputSeen(
            found.input.number, place_beside(self._source, folder) if is_path else None
        )
        record = options_record(data.options, folder, data.digests)
        changed = changes_beside(self.state.options, record)
        before = [one.body for one in self.events if isinstance(one.body, InputSeen)]
        entries: list[tuple[str, Body]] = []
        if before[-1:] != [seen]:
            entries.append((user, seen))
        if self.state.options != record:
            entries.append((user, RolesChanged(record)))
        news = news_of(data.intake.labels, self._chronicle)
        if news.rows:
            old = self._labels_of(news.rows)
            entries.append((FILE, Labelled(news.rows, news.labels, FILE, old, seen.input)))
        if entries:
            self._add(entries, [found.input] * found.is_new)
        self.options, self._data, self._input = data.options, data.intake, found.input
        self._intake, self.open_marker = None, data.open_marker
        asked = [data.open_marker.line] if data.open_marker is not None else []
        said = [*[found.line] * bool(found.line), *changed, *news.lines(data.intake.table.name)]
        return [*said, *asked]

    def close(self) -> None:
        """Give the file back."""
        self.measures.close()
        with self.lock:
            if self._file is not None:
                self._file.close()

    def _save(self, user: str, body: Body) -> Event:
        self._require_person(user)
        (event,) = self._add([(user, body)])
        if isinstance(body, TakenBack):
            event = replace(event, taken_back=self.events[body.event - 1])
        return event

    def _add(self, entries: list[tuple[str, Body]], inputs: Sequence[Input] = ()) -> list[Event]:
        """Save what happened and let it change the state; what is read only is not saved."""
        if self._file is not None:
            events = self._file.append(entries, [one.stored for one in inputs])
        else:
            at = self.events[-1].at  # the same every time
            events = [
                Event(number, at, user, body)
                for number, (user, body) in enumerate(entries, len(self.events) + 1)
            ]
        for event in events:
            # Who reads meanwhile sees all that was there.
            if isinstance(event.body, TakenBack | Returned):
                self._chronicle.state = self.state.copy()
            self._chronicle.apply(event)
            self._visible = self._chronicle.state
        return events

    def _labels_of(self, rows: tuple[int, ...]) -> tuple[str | None, ...]:
        """Return what rows are called, one each or one for all."""
        given = (self.state.labels.get(row) for row in rows)
        return pressed(tuple(None if one is None else one.label for one in given))

    def _require_person(self, user: str) -> None:
        check_person(user, f"nobody is called {FILE!r}: the labels of the data are")
        if self._file is None:
            raise ProjectError(
                f"{self.path.name} was opened to be read only, so nothing is saved. Open it "
                "without --read-only."
            )

    def _require_moment(self, number: int) -> None:
        if not 1 <= number <= len(self.events):
            raise InvalidInputError(
                f"moments go from event 1 to event {len(self.events):,}, and {number:,} is none."
            )

    def _require_rows(self, rows: tuple[int, ...]) -> None:
        if not rows:
            raise InvalidInputError("no row is named.")
        if max(rows) >= self.n_rows:
            raise InvalidInputError(
                f"rows go from 0 to {self.n_rows - 1:,}, and one that was named is {max(rows):,}."
            )


def labelled_intake(data: Intake, state: State, path: Path) -> Intake:
    """Return a table with the labels of a project in place of its own."""
    n_rows = data.table.n_rows
    rows = list(state.labels)
    columns = {name: np.full(n_rows, None, dtype=object) for name in _ORIGINS}
    for name, values in columns.items():
        values[rows] = [getattr(given, _ORIGINS[name]) for given in state.labels.values()]
    labels = columns.pop("label")
    n_open = n_rows - len(rows)
    return replace(
        data,
        given=GivenLabels(labels, n_empty=n_open, has_column=False),
        side_note=f"labels: {len(rows):,} given, {n_open:,} rows without one; from {path.name}",
        files=(*data.files, path),
        weights=state.weights(n_rows),
        origins=columns,
    )


_ORIGINS = {"label": "label", "how": "how", "annotator": "user", "updated_at": "at"}
"""Columns of a result and what of a given label they hold."""


def _row_numbers(rows: Iterable[Any]) -> tuple[int, ...]:
    """Return rows as Python's whole numbers, from any library's."""
    listed = rows.tolist() if isinstance(rows, np.ndarray) else list(rows)
    return tuple(int(row) if isinstance(row, np.integer) else row for row in listed)
