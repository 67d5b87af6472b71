"""Random tables as people might have them: odd types, gaps, huge numbers, labels of all kinds."""

import csv
import json
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

WORDS = (
    "cat",
    "Dog",
    "bird ",
    "o'neil",
    'say "hi"',
    "a,b",
    "été",
    "名前",
    "🦊",
    "-",
    "x\ty",
    "=1+1",
    "none",
    "NA",
    "?",
    "nan",
    "1.50",
    "1.5",
    "True",
)
TEXT = ("the", "quick", "brown", "fox", "jumps", "over", "été", "名前", "at", "12", "o'clock")
HUGE = (1e300, -1e308, 1e18, 3e38, 1e-320, 5e-324, 1e-40, 0.0, -0.0)


@dataclass
class Case:
    """A file with a command line, and what is known of it.

    ``given`` holds the label of each row as text, None for none; it is None itself where the labels
    are odd and nothing is known but the number of rows.
    """

    arguments: list[str]
    n_rows: int
    given: list[str | None] | None
    notes: dict[str, Any] = field(default_factory=dict)


def random_case(seed: int, folder: Path) -> Case:
    """Write a random table into an empty folder and return how to label it."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 2, 3, 4, int(rng.integers(5, 12)), int(rng.integers(12, 41))],
                       p=[0.02, 0.02, 0.03, 0.04, 0.04, 0.25, 0.6]))  # fmt: skip
    kind = str(rng.choice(["csv", "jsonl", "parquet", "npy"], p=[0.4, 0.2, 0.25, 0.15]))
    labels, given = _labels(rng, n)
    if kind == "npy":
        arguments, given = _matrix_files(rng, n, labels, given, folder)
    else:
        arguments, given = _table_file(rng, n, kind, labels, given, folder)
    arguments += _options(rng)
    return Case(arguments, n, given, {"seed": seed, "kind": kind})


def _options(rng: np.random.Generator) -> list[str]:
    methods = ["logistic", "poisson", "neighbors", "auto"]
    # One thread: on a busy machine more of them wait for each other longer than a small fit takes.
    chosen = ["--jobs", "1", "--method", str(rng.choice(methods, p=[0.42, 0.3, 0.15, 0.13]))]
    if rng.random() < 0.5:
        chosen.append("--impute")
    if rng.random() < 0.2:
        chosen += ["--risk", str(rng.choice([0, 0.02, 0.1, 1]))]
    if rng.random() < 0.3:
        chosen += ["--ask", str(rng.choice([0, 1, 3, 100]))]
    if rng.random() < 0.1:
        chosen.append("--json")
    return [*chosen, "--out", "out" + str(rng.choice([".csv", ".jsonl", ".parquet", ".tsv.gz"]))]


def _labels(rng: np.random.Generator, n: int) -> tuple[list[Any], list[str | None] | None]:
    kind = str(rng.choice(["words", "ints", "bools", "floats", "single", "none", "odd"],
                          p=[0.45, 0.2, 0.08, 0.07, 0.03, 0.02, 0.15]))  # fmt: skip
    k = int(rng.integers(2, 6)) if rng.random() < 0.9 else max(n, 2)
    share = float(rng.choice([0.2, 0.5, 1.0], p=[0.3, 0.5, 0.2]))
    has_label = rng.random(n) < share
    if kind == "odd":
        return _odd(rng, n), None
    if kind == "none":
        has_label[:] = False
    codes = rng.integers(0, 1 if kind == "single" else k, n)
    names = [*rng.permutation(WORDS).tolist(), *(f"class {i}" for i in range(n))]
    pools: dict[str, tuple[list[Any], list[str]]] = {
        "ints": ([*range(n + 5)], [str(i) for i in range(n + 5)]),
        "bools": ([True, False] * (n + 5), ["true", "false"] * (n + 5)),
        "floats": ([float(i) for i in range(n + 5)], [str(i) for i in range(n + 5)]),
    }
    start = int(rng.integers(0, 3))
    values, texts = pools.get(kind, (names[start:], names[start:]))
    # A cell of spaces makes texts of a column of numbers.
    gaps = [None, "", "  "] if kind in ("words", "single", "none") else [None]
    gap = gaps[int(rng.integers(len(gaps)))]
    labels = [values[c] if h else gap for c, h in zip(codes, has_label, strict=True)]
    given = [texts[c] if h else None for c, h in zip(codes, has_label, strict=True)]
    return labels, given


def _odd(rng: np.random.Generator, n: int) -> list[Any]:
    pools: list[list[Any]] = [
        [0.5, 1.5, 2.0, None],
        [1, "1", True, None, 2.5],
        ["NA", "nan", "None", "null", "a", "b"],
        [date(2020, 1, 1), date(2021, 5, 5), None],
        [[1, 2], [3], None],
        [{"a": 1}, {"a": 2}],
        [-1, 0, 1, -1],
        ["-1", "1", "2", ""],
        ["Cat", "cat", "CAT ", "dog"],
        [2**70, 3, None],
        [float("inf"), 1.0, 2.0, None],
        ["\ud800", "b", "c"],
        ["a\nb", "a\r\nb", "c", None],
        ["01", "1", "001", None],
        ["", " ", None],
        ["\x00", "b", "\x1b[31m", None],
    ]
    pool = pools[int(rng.integers(len(pools)))]
    return [pool[i] for i in rng.integers(len(pool), size=n)]


def _column(rng: np.random.Generator, n: int) -> list[Any]:
    kind = str(rng.choice(
        ["floats", "ints", "huge", "infinite", "gaps", "constant", "bools", "words", "texts",
         "dates", "vectors", "ragged", "dicts", "big", "mixed", "null", "empty", "twins"],
        p=[0.36, 0.14, 0.02, 0.01, 0.08, 0.03, 0.05, 0.1, 0.06,
           0.03, 0.03, 0.01, 0.01, 0.01, 0.01, 0.02, 0.01, 0.02]))  # fmt: skip
    floats = rng.normal(size=n).round(3)
    pick = {
        "floats": floats.tolist,
        "ints": lambda: rng.integers(-5, 300, n).tolist(),
        "huge": lambda: rng.choice(HUGE, n).tolist(),
        "infinite": lambda: rng.choice([np.inf, -np.inf, np.nan, 1.0], n).tolist(),
        "gaps": lambda: [None if rng.random() < 0.2 else v for v in floats.tolist()],
        "constant": lambda: [7] * n,
        "bools": (floats < 0).tolist,
        "words": lambda: [WORDS[i] for i in rng.integers(0, 4, n)],
        "texts": lambda: [" ".join(rng.choice(TEXT, rng.integers(0, 9))) for _ in range(n)],
        "dates": lambda: [date(2020, 1, 1) + timedelta(int(i)) for i in rng.integers(0, 99, n)],
        "vectors": lambda: rng.normal(size=(n, 3)).round(3).tolist(),
        "ragged": lambda: [[1.0] * int(i) for i in rng.integers(0, 4, n)],
        "dicts": lambda: [{"a": int(i)} for i in rng.integers(0, 4, n)],
        "big": lambda: [2**70 + int(i) for i in rng.integers(0, 4, n)],
        "mixed": lambda: [(1, "one", 2.5, None, True)[i] for i in rng.integers(0, 5, n)],
        "null": lambda: [None] * n,
        "empty": lambda: [""] * n,
        "twins": lambda: rng.choice([0.0, 1.0], n).tolist(),
    }
    values: list[Any] = pick[kind]()
    return values


def _table_file(
    rng: np.random.Generator,
    n: int,
    kind: str,
    labels: list[Any],
    given: list[str | None] | None,
    folder: Path,
) -> tuple[list[str], list[str | None] | None]:
    width = int(rng.choice([0, 1, 2, 3, 5, 8], p=[0.03, 0.17, 0.2, 0.2, 0.2, 0.2]))
    columns = {f"f{i}": _column(rng, n) for i in range(width)}
    if rng.random() < 0.05:
        columns = {name: [values[0]] * n for name, values in columns.items() if values}
    if rng.random() < 0.3:
        ids: list[Any] = [f"row {i}" for i in range(n)]
        if rng.random() < 0.15:
            ids = [i // 2 for i in range(n)]
        columns = {"id": ids} | columns
    name = str(rng.choice(["label", "Class", "étiquette x"], p=[0.7, 0.2, 0.1]))
    columns[name] = labels
    arguments = ["--label", name] if rng.random() < 0.7 or "x" in name else []
    if rng.random() < 0.03:
        arguments = ["--label", "labelx"]
    if kind == "csv":
        path = folder / str(rng.choice(["data.csv", "data.tsv"]))
        _write_csv(path, columns, rng)
        given = _as_written(labels, given)
        if n == 1 or (len(columns) == 1 and not all(given or [None])):
            given = None  # a blank line of a file with one column is no row
    elif kind == "jsonl":
        path = folder / "data.jsonl"
        rows = zip(*columns.values(), strict=True)
        lines = [json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        path = folder / "data.parquet"
        _write_parquet(path, columns, rng)
    return ["data" + path.suffix, *arguments], given


def _as_written(labels: list[Any], given: list[str | None] | None) -> list[str | None] | None:
    """Return what a file without types holds: True and 1.0 as they are written."""
    if given is None:
        return None
    return [None if one is None else str(label) for one, label in zip(given, labels, strict=True)]


def _write_csv(path: Path, columns: dict[str, list[Any]], rng: np.random.Generator) -> None:
    delimiter = "\t" if path.suffix == ".tsv" else str(rng.choice([",", ";"], p=[0.9, 0.1]))
    with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        if rows and rng.random() < 0.04:
            rows[int(rng.integers(len(rows)))].append("one too many")
        writer.writerows(rows)


def _write_parquet(path: Path, columns: dict[str, list[Any]], rng: np.random.Generator) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            texts = [
                None if v is None else str(v).encode("utf-8", "replace").decode() for v in values
            ]
            arrays[name] = pa.array(texts)
        if pa.types.is_string(arrays[name].type) and rng.random() < 0.2:
            arrays[name] = arrays[name].dictionary_encode()
    pq.write_table(pa.table(arrays), path)


def _matrix_files(
    rng: np.random.Generator,
    n: int,
    labels: list[Any],
    given: list[str | None] | None,
    folder: Path,
) -> tuple[list[str], list[str | None] | None]:
    usual, odd = ["<f8", "<f4", "i1", "u1", "?"], ["<f2", ">f8", "c16", "U3", "O", "M8[D]"]
    dtype = str(rng.choice(usual if rng.random() < 0.75 else odd))
    width = int(rng.choice([0, 1, 2, 5, 20], p=[0.04, 0.16, 0.3, 0.3, 0.2]))
    shape = [(n, width), (n,), (n, 2, 2)][int(rng.choice(3, p=[0.92, 0.04, 0.04]))]
    values = rng.normal(size=shape) * 50
    if rng.random() < 0.1 and values.size and "f" in dtype:
        values.flat[0] = rng.choice([np.nan, np.inf])
    with np.errstate(all="ignore"):
        np.save(
            folder / "data.npy", values.astype(np.int64 if "M8" in dtype else float).astype(dtype)
        )
    with (folder / "side.csv").open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "label"])
        writer.writerows(enumerate(labels))
    if rng.random() < 0.2:
        _break_bytes(folder / "side.csv", rng)
        given = None
    return ["data.npy", "--labels", "side.csv"], _as_written(labels, given)


def _break_bytes(path: Path, rng: np.random.Generator) -> None:
    """Cut a file, change a byte of it, put noise into it, or write it twice."""
    raw = path.read_bytes()
    place = int(rng.integers(0, len(raw)))
    broken = [
        raw[:place],
        raw[:place] + bytes([raw[place] ^ int(rng.integers(1, 256))]) + raw[place + 1 :],
        raw[:place] + rng.bytes(3) + raw[place:],
        raw + raw,
        rng.bytes(50),
    ]
    path.write_bytes(broken[int(rng.integers(len(broken)))])
