import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.tables import read_table
from beltrami.tables.reading import json_lines
from beltrami.tables.writing import table_facts


def nested(depth: int) -> str:
    return '{"a": ' + "[" * (depth - 1) + "1" + "]" * (depth - 1) + "}"


@pytest.mark.parametrize("depth", [65, 1_000, 5_000, 200_000])
@pytest.mark.parametrize("packed", [False, True])
def test_lines_nested_deeply_are_refused_by_number(
    depth: int, packed: bool, tmp_path: Path
) -> None:
    text = ('{"a": 1}\n' * 3 + nested(depth) + "\n").encode()
    path = tmp_path / ("t.jsonl.gz" if packed else "t.jsonl")
    path.write_bytes(gzip.compress(text) if packed else text)
    # In a process of its own: a parser that runs out of stack takes the process along.
    code = "import sys; from beltrami.tables import read_table; read_table(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    said = f"InvalidInputError: line 4 of {path.name} has objects and lists {depth} deep"
    assert said in done.stderr, done.returncode


@pytest.mark.parametrize("depth", [2, 10, 64])
def test_lines_nested_less_deeply_are_read(depth: int, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text((nested(depth) + "\n") * 2)
    assert read_table(path).n_rows == 2


def test_brackets_in_texts_and_side_by_side_are_no_depth(tmp_path: Path) -> None:
    rows = [
        {"a": "[{" * 500, "b": 1},
        {"a": 'quote " and backslash \\' + "[" * 99 + '\\"', "b": 2},
        {"a": "plain", "b": 3, "c": [[1.0, 2.0]] * 400},
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_table(path).columns.column("a").to_pylist() == [row["a"] for row in rows]


@pytest.mark.parametrize("end", ["", "\n"])
def test_the_deep_line_is_found_across_blocks(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.jsonl"
    text = '{"a": 1}\n' * 20 + nested(70) + end
    path.write_text(text)
    blocks = [text.encode()[i : i + 7] for i in range(0, len(text), 7)]
    monkeypatch.setattr(json_lines, "byte_blocks", lambda _: iter(blocks))
    with pytest.raises(InvalidInputError, match="line 21 of"):
        json_lines._require_shallow(path)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"a": 1, "a": 2}', "a"),
        ('{"b": 1, "a": null, "a": null}', "a"),
        ('{"b": {"c": 1, "c": 1}}', "c"),
        ('{"b": [{"c": 1}, {"d": 1, "d": 2}]}', "d"),
        ('{"a": 1, "\\u0061": 2}', "a"),
    ],
)
@pytest.mark.parametrize("before", ['{"a": 1}\n', '{"a": "x"}\n{"a": 1}\n'])  # fast and slow
def test_a_key_that_stands_twice_is_refused_by_line(
    before: str, line: str, key: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f"{before}{line}\n")
    number = before.count("\n") + 1
    with pytest.raises(InvalidInputError, match=rf"line {number} of t.jsonl has the key '{key}'"):
        read_table(path)


def test_side_facts_nested_deeply_are_no_facts(tmp_path: Path) -> None:
    (tmp_path / "t.csv.meta.json").write_text("[" * 100_000 + "]" * 100_000)
    assert table_facts(tmp_path / "t.csv") == {}
