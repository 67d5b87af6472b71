"""An audit of labels in partitions: a folder of results enters, accepted rows to draw from leave.

Memory need not hold all accepted rows: a sample of them, drawn with equal chance from all
partitions, stands for them, and rows drawn from it are drawn from all.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.files import read_json
from beltrami.core.machine.threads import resolve_jobs
from beltrami.labelling.proving.audit_contents import AuditContents
from beltrami.labelling.proving.audit_record import AuditRecord
from beltrami.labelling.proving.audits import SHEET, AuditedLabels, require_same_data
from beltrami.labelling.showing.own_columns import columns_of_rows
from beltrami.partitions.answers.answering import written_name
from beltrami.partitions.crews.crew import ThreadCrew
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import FOLDER
from beltrami.partitions.model import Partition, is_written_as_text
from beltrami.partitions.people.answered import Answered
from beltrami.partitions.reading.sources import find_partitions
from beltrami.partitions.rows import Keys, key_limit, row_keys
from beltrami.tables.model import few_of
from beltrami.tables.own_results import SOURCES, Source
from beltrami.tables.reading.verbatim import write_verbatim

_MOST = 100_000
_SEED = 0
"""Of the sample; which of its rows are drawn is left to the seed of the audit."""
_ROWS = 2**16
_COLUMNS = ("id", "source", "label", "guess", "second_label")


def read_audited(folder: Path) -> AuditedLabels:
    """Return a sample of the accepted rows of a folder of results, with the record of its audits.

    Raises where partitions are not answered yet, or have other files than were written: the
    certificate is to speak of all rows.
    """
    record = read_json(folder / FOLDER / "manifest.json")
    partitions = find_partitions(folder)
    _require_whole(folder, record, partitions)
    counts: Counter[str] = Counter()
    for one in record["done"].values():
        counts.update(one["sources"])
    n_accepted = counts[SOURCES[Source.LABELLED]]
    if not n_accepted:
        raise InvalidInputError(f"{str(folder)!r} holds no accepted label of ours to be checked.")
    task = _AcceptedTask(int(key_limit(_MOST, n_accepted)))
    passes = Passes(ThreadCrew(resolve_jobs(None)))
    found = passes.over("drawing", task, partitions)
    if passes.failures:
        raise InvalidInputError(
            f"{len(passes.failures)} file(s) of answers cannot be read: {passes.failures[0]}. "
            "Remove them, and label again: only what is missing is answered."
        )
    keys = np.concatenate([one.keys for one in found])
    rows = [row for one in found for row in one.rows]
    accepted = dict(rows[place] for place in np.sort(np.argsort(keys, kind="stable")[:_MOST]))
    classes = frozenset(text for one in found for text in one.classes)
    audits = AuditRecord.read(folder)
    require_same_data(folder, record["key"], audits)
    lines = sorted(f"{name} {facts['bytes']}" for name, facts in record["done"].items())
    digest = hashlib.sha256("\n".join([record["key"], *lines, *map(repr, rows)]).encode())
    elsewhere = n_accepted - len(accepted)
    risk = record.get("again", {}).get("learning", {}).get("risk")
    return AuditedLabels(
        folder, accepted, classes, digest.hexdigest(), record["key"], audits, elsewhere, risk
    )


def find_audited(folder: Path, drawn: Sequence[str], target: Path) -> AuditContents:
    """Return what the rows of a round are, from the partitions that were labelled."""
    try:
        opened = Answered.open(folder)
        parts, rows = opened.find(drawn)
        if (parts < 0).any():
            raise InvalidInputError(f"no row is called {drawn[int(np.argmin(parts))]!r}.")
        table = opened.fetch(parts, rows)
    except BeltramiError as error:
        return AuditContents(f"only ids: {error}")
    roles = opened.roles
    hidden = {roles.id, roles.label}
    columns = columns_of_rows(table, range(len(drawn)), SHEET, target, hidden=hidden)
    return AuditContents("what the rows are: from the partitions that were labelled", columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Accepted:
    """Accepted rows of one file: keys, pairs of id and label, and the classes it speaks of."""

    keys: Keys
    rows: list[tuple[str, str]]
    classes: set[str]


@dataclass(frozen=True, slots=True)
class _AcceptedTask:
    """Accepted rows of a file of answers whose key is below a limit."""

    limit: int

    def __call__(self, partition: Partition, _: None = None) -> _Accepted:
        import pyarrow as pa
        import pyarrow.compute as pc

        is_text = is_written_as_text(partition)
        schema = partition.schema()
        types = {n: pa.string() if is_text else schema.field(n).type for n in _COLUMNS}
        found, start = _Accepted(np.zeros(0, np.uint64), [], set()), 0
        keys = [found.keys]
        for batch in partition.batches(types, _ROWS):
            own = row_keys(_SEED, partition.name, start, batch.num_rows)
            start += batch.num_rows
            is_ours = pc.equal(batch.column("source"), SOURCES[Source.LABELLED])
            wanted = np.flatnonzero(is_ours.to_numpy() & (own < np.uint64(self.limit)))
            chosen = batch.take(wanted)
            pairs = (map(write_verbatim, chosen.column(n).to_pylist()) for n in ("id", "label"))
            found.rows.extend(zip(*pairs, strict=True))
            keys.append(own[wanted])
            for name in _COLUMNS[2:]:
                found.classes.update(map(write_verbatim, batch.column(name).unique().to_pylist()))
        return _Accepted(np.concatenate(keys), found.rows, found.classes - {""})


def _require_whole(folder: Path, record: Any, partitions: tuple[Partition, ...]) -> None:
    """Refuse a folder in which answers are missing, or others are."""
    form = record["options"]["form"]
    answers = {written_name(name, form): name for name in record["inputs"]}
    found = {one.name for one in partitions}
    missing = sorted(
        name for file, name in answers.items() if file not in found or name not in record["done"]
    )
    if missing:
        raise InvalidInputError(
            f"{str(folder)!r} lacks the answers of {few_of(missing)}, and an audit is about all "
            "rows. Label again with the same command: only what is missing is answered; or leave "
            "those partitions out of a job of its own."
        )
    more = sorted(found - set(answers))
    if more:
        raise InvalidInputError(
            f"{str(folder)!r} holds {len(more)} file(s) that are no answers of its job: "
            f"{few_of(more)}. An audit would draw from them, too. Move them elsewhere."
        )
