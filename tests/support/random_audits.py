"""Random audits as people might have them: sheets, records and labels filled in, edited, broken."""

import csv
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CLASSES = (
    "cat", "none", "NA", "?", "1.5", "1.50", "-1", "a,b", "été", "🦊", "=1+1", " x", "True",
    'q"q', "0",
)  # fmt: skip
RECORD = "labels.csv.audit.json"


@dataclass
class AuditCase:
    """A folder with a labels file whose first round was drawn, filled in, and perhaps broken.

    ``wrong`` and ``blank`` are what an honest count finds; None where something was broken, and a
    refusal is as good.
    """

    truth: dict[str, str]
    said: dict[str, str]
    wrong: int | None = None
    blank: int | None = None
    broken: list[str] = field(default_factory=list)


def write_labels(folder: Path, rng: np.random.Generator) -> AuditCase:
    """Write a labels file of odd classes, some of them wrong."""
    own = rng.choice(len(CLASSES), size=int(rng.integers(2, 6)), replace=False)
    classes = [CLASSES[i] for i in own]
    n = int(rng.integers(3, 80))
    ids = [f"{'r' if rng.random() < 0.5 else ''}{i}" for i in range(n)]
    truth = {one: str(rng.choice(classes)) for one in ids}
    share = rng.random()
    said = {
        one: t if rng.random() < share else str(rng.choice(classes)) for one, t in truth.items()
    }
    rows = [
        [one, said[one], "propagated", said[one], c]
        for one, c in zip(ids, truth.values(), strict=True)
    ]
    rows.append(["given", classes[0], "human", classes[0], classes[0]])
    _write(folder / "labels.csv", [["id", "label", "source", "guess", "second_label"], *rows])
    return AuditCase(truth, said)


def fill_in(folder: Path, case: AuditCase, rng: np.random.Generator) -> None:
    """Answer the sheet, with blanks now and then, in another order or dialect."""
    with (folder / "a.csv").open(encoding="utf-8", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    p_blank = float(rng.choice([0.0, 0.0, 0.3]))
    answers = {one: "" if rng.random() < p_blank else case.truth[one] for one in ids}
    case.blank = sum(not text for text in answers.values())
    case.wrong = sum(bool(text) and text != case.said[one] for one, text in answers.items())
    if rng.random() < 0.3:
        rng.shuffle(ids)
    rows = [["id", "answer"], *([one, answers[one]] for one in ids)]
    if rng.random() < 0.2:
        rows = [[*row, "note"] for row in rows]
    _write(folder / "a.csv", rows, delimiter=str(rng.choice([",", ",", ";", "\t"])))
    if rng.random() < 0.1:
        path = folder / "a.csv"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def break_something(folder: Path, case: AuditCase, rng: np.random.Generator) -> None:
    """Do to one of the three files what slips, editors and broken disks do."""
    name = str(rng.choice(["a.csv", RECORD, "labels.csv"], p=[0.45, 0.35, 0.2]))
    path = folder / name
    kinds = ["cut", "flip", "noise", "insert", "empty", "gone", "folder", "nested", "twice"]
    if name.endswith("csv"):
        kinds += ["drop", "repeat", "strange", "typo", "column", "latin"]
    else:
        kinds += ["key", "type", "json"]
    kind = str(rng.choice(kinds))
    case.broken.append(f"{name}: {kind}")
    case.wrong = case.blank = None
    raw = path.read_bytes()
    place = int(rng.integers(0, len(raw)))
    changed: bytes | None = {
        "cut": raw[:place],
        "flip": raw[:place] + bytes([raw[place] ^ int(rng.integers(1, 256))]) + raw[place + 1 :],
        "noise": rng.bytes(int(rng.integers(1, 400))),
        "insert": raw[:place] + rng.bytes(3) + raw[place:],
        "empty": b"",
        "nested": b"[" * 50_000,
        "twice": raw + raw,
        "latin": raw + b"\xe9,\xe9\n",
    }.get(kind)
    if kind in {"gone", "folder"}:
        path.unlink()
        if kind == "folder":
            path.mkdir()
    elif changed is not None:
        path.write_bytes(changed)
    elif name.endswith("csv"):
        _break_rows(path, kind, rng)
    else:
        path.write_text(json.dumps(_broken_record(json.loads(raw), kind, rng)), encoding="utf-8")


def _break_rows(path: Path, kind: str, rng: np.random.Generator) -> None:
    text = path.read_text(encoding="utf-8-sig")
    rows = list(csv.reader(io.StringIO(text)))
    row = int(rng.integers(1, len(rows)))
    if kind == "drop":
        del rows[row]
    elif kind == "repeat":
        rows.append(rows[row])
    elif kind == "strange":
        rows[row] = ["stranger", *rows[row][1:]]
    elif kind == "typo":
        rows[row] = [rows[row][0], *("cta" for _ in rows[row][1:])]
    else:
        rows[0] = [str(rng.choice(["id", "reply", "", "answer"])) for _ in rows[0]]
    _write(path, rows)


def _broken_record(record: Any, kind: str, rng: np.random.Generator) -> Any:
    if kind == "json":
        return [[], {}, None, 3, "x", {"format": 3}, {"rounds": []}][int(rng.integers(7))]
    target = record if rng.random() < 0.5 else record["rounds"][0]
    key = str(rng.choice(sorted(target)))
    if kind == "key":
        del target[key]
    else:
        target[key] = [None, "x", -5, 1e300, [], {}, [[1]], True][int(rng.integers(8))]
    return record


def _write(path: Path, rows: list[list[str]], delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
