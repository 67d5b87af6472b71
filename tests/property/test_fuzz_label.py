"""`beltrami label` on thousands of random tables: a valid result, or one message and no file."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.support.random_tables import Case, random_case

from beltrami.cli import application

pytestmark = pytest.mark.usefixtures("few_trees")

COLUMNS = [
    "id",
    "label",
    "source",
    "confidence",
    "guess",
    "second_label",
    "margin",
    "reached",
    "ask_rank",
]


def test_every_table_ends_in_a_valid_result_or_one_message(tmp_path, monkeypatch, shell, seeds):
    # Typer builds the commands anew at each call, which takes as long as a small fit.
    monkeypatch.setattr(application, "app", typer.main.get_command(application.app))
    n_valid = 0
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        shell.enter(folder)
        case = random_case(seed, folder)
        before = {path.name for path in folder.iterdir()}
        code, out, err = shell.run("label", *case.arguments)
        new = {path.name for path in folder.iterdir()} - before
        told = f"seed {seed}: {case.arguments}\n{out}\n{err}"
        if code == 0:
            _require_valid(case, folder, new, out, told)
            n_valid += 1
        else:
            assert code == 1, told
            assert not new, told
            messages = [line for line in err.splitlines() if line.startswith("beltrami: ")]
            assert len(messages) == 1, told
            assert len(messages[0]) > 20, told
        assert "Traceback" not in err, told
    assert 0.25 < n_valid / len(seeds) < 0.9  # neither all refused nor all easy


def _require_valid(case: Case, folder: Path, new: set[str], out: str, told: str) -> None:
    name = case.arguments[case.arguments.index("--out") + 1]
    assert new == ({name} if name.endswith("parquet") else {name, f"{name}.meta.json"}), told
    assert out.strip(), told
    assert "nan%" not in out, told
    if "--json" in case.arguments:
        json.loads(out, parse_constant=_refuse)
    columns = _read(folder / name)
    assert list(columns) == COLUMNS, told
    if case.given is not None:
        assert len(columns["id"]) == case.n_rows, told
    assert len(set(columns["id"])) == len(columns["id"]), told
    sources = columns["source"]
    given = [v if s == "human" else None for v, s in zip(columns["label"], sources, strict=True)]
    if case.given is not None:
        assert given == case.given, told
    classes = {value for value in given if value is not None}
    assert len(classes) > 1, told
    for row, source in enumerate(sources):
        _require_valid_row({key: columns[key][row] for key in columns}, source, classes, told)
    asked = [(int(v), s) for v, s in zip(columns["ask_rank"], sources, strict=True) if v]
    assert sorted(rank for rank, _ in asked) == list(range(1, len(asked) + 1)), told
    assert all(source != "human" for _, source in asked), told


def _require_valid_row(row: dict[str, Any], source: str, classes: set[str], told: str) -> None:
    assert source in ("human", "propagated", "abstained", "unreached"), told
    assert 0 <= float(row["confidence"]) <= 1, told
    lowest = -1 if source == "human" else 0
    assert lowest <= float(row["margin"]) <= 1, told
    assert row["reached"].lower() == str(source != "unreached").lower() or source == "human", told
    assert (row["label"] in classes) == (source in ("human", "propagated")), told
    if source != "unreached":
        assert row["guess"] in classes, told
        assert row["second_label"] in classes - {row["guess"]}, told
    else:
        assert row["label"] is None, told
        assert row["guess"] is None, told


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


def _read(path: Path) -> dict[str, list[Any]]:
    """Return the columns as texts, None for gaps, read by other means than our own."""
    if path.name.endswith(".parquet"):
        import pyarrow.parquet as pq

        rows = pq.read_table(path).to_pydict()
        return {name: [_text(value) for value in values] for name, values in rows.items()}
    if path.name.endswith(".jsonl"):
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {name: [_text(one[name]) for one in records] for name in records[0]}
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        delimiter = "\t" if ".tsv" in path.name else ","
        head, *lines = list(csv.reader(file, delimiter=delimiter))
    return {name: [line[i] or None for line in lines] for i, name in enumerate(head)}


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
