import datetime as dt
import gzip
from pathlib import Path

import pytest

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.machine import memory
from beltrami.tables import TableOptions, guess_roles, read_table


def columns(path: Path, content: str | bytes, **options: str) -> dict[str, list[object]]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, TableOptions(**options)).columns.to_pydict()


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiter_is_found_in_the_first_line(mark: str, tmp_path: Path) -> None:
    text = f"a{mark}b{mark}c\n1{mark}x, y; z{mark}2.5\n"
    if mark in ",;":
        text = f'a{mark}b{mark}c\n1{mark}"x, y; z"{mark}2.5\n'
    assert columns(tmp_path / "t.csv", text) == {"a": [1], "b": ["x, y; z"], "c": [2.5]}


def test_given_delimiter_wins_and_tab_can_be_spelt(tmp_path: Path) -> None:
    text = "a,b\tc\n1,2\t3\n"
    assert list(columns(tmp_path / "t.csv", text, delimiter="tab")) == ["a,b", "c"]
    with pytest.raises(InvalidInputError, match="single character"):
        columns(tmp_path / "t.csv", text, delimiter=",,")


def test_delimiter_inside_quotes_of_the_first_line_does_not_count(tmp_path: Path) -> None:
    assert list(columns(tmp_path / "t.csv", '"a;b;c",d\n1,2\n')) == ["a;b;c", "d"]


def test_single_column_is_a_table(tmp_path: Path) -> None:
    assert columns(tmp_path / "t.csv", "a\n1\n2\n") == {"a": [1, 2]}


def test_byte_order_mark_quoted_newlines_and_blank_lines(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfa,b\r\n1,"two\nlines"\r\n\r\n2,x\r\n'
    assert columns(tmp_path / "t.csv", text) == {"a": [1, 2], "b": ["two\nlines", "x"]}


def test_packed_files_are_read_by_their_ending(tmp_path: Path) -> None:
    assert columns(tmp_path / "t.csv.gz", gzip.compress(b"a,b\n1,2\n")) == {"a": [1], "b": [2]}
    assert columns(tmp_path / "t.tsv.gz", gzip.compress(b"a\tb\n1\t2\n")) == {"a": [1], "b": [2]}
    whole = gzip.compress(b"a,b\n1,2\n" * 100)
    with pytest.raises(CorruptDataError, match=r"t\.csv\.gz"):
        columns(tmp_path / "t.csv.gz", whole[:-12])
    with pytest.raises(CorruptDataError):
        columns(tmp_path / "t.csv.gz", b"a,b\n1,2\n")


@pytest.mark.parametrize("word", ["n/a", "NA", "null", "None", "?", ""])
def test_words_for_nothing_leave_a_column_numeric(word: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"a,b\n1.5,x\n{word},y\n2.5,x\n3.5,y\n")
    assert guess_roles(read_table(tmp_path / "t.csv"), TableOptions(min_classes=0)).numeric == (
        "a",
    )


@pytest.mark.parametrize("name", ["label", "id", "kind"])
def test_labels_and_ids_are_kept_as_they_are_written(name: str, tmp_path: Path) -> None:
    options = {"label": "kind"} if name == "kind" else {}
    for cells in (
        ["None", "NA", "?", "nan"],
        ["True", "False", "TRUE", "true"],
        ["1.0", "1", "1.50", "1.5"],
        ["01", "1", "+1", "-0"],
        [" a", "a ", "a", "b"],
        ["2020-01-01", "2020-01-02T00:00:00", "12:30", "x"],
        ["9007199254740993", "1", "2", "3"],
    ):
        text = f"x,{name}\n" + "".join(f"1,{cell}\n" for cell in cells)
        assert columns(tmp_path / "t.csv", text, **options)[name] == cells
    text = f"x,{name}\n1,-1\n2,0\n3,\n4,  \n5,12\n"
    assert columns(tmp_path / "t.csv", text, **options)[name] == [-1, 0, None, None, 12]


def test_leading_zeros_survive_and_zero_itself_is_a_number(tmp_path: Path) -> None:
    text = "zip,n,f\n123,0,0.5\n00124,10,00.7\n,5,1\n"
    found = columns(tmp_path / "t.csv", text)
    assert found["zip"] == ["123", "00124", None]
    assert found["n"] == [0, 10, 5]
    assert found["f"] == [0.5, 0.7, 1.0]


def test_leading_zeros_behind_a_block_border_are_seen(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("beltrami.tables.reading.streams._BLOCK_BYTES", 4)
    for pad in range(6):
        text = f"id,x\n{'1' * pad}7,1\n08,2\n"
        assert columns(tmp_path / "t.csv", text)["id"] == ["1" * pad + "7", "08"]


def test_numbers_with_more_digits_than_a_float_stay_texts(tmp_path: Path) -> None:
    found = columns(tmp_path / "t.csv", "k,v\n123456789012345678901,1e300\n2,2\n")
    assert found["k"] == ["123456789012345678901", "2"]
    assert found["v"] == [1e300, 2.0]


@pytest.mark.parametrize("decimal", [None, ",", "."])
def test_points_that_may_part_thousands_are_kept_as_written(decimal, tmp_path: Path) -> None:
    text = "a;b\n980;1.5\n990;2.5\n1.000;3.5\n"
    found = columns(tmp_path / "t.csv", text, decimal=decimal)
    assert found == {"a": ["980", "990", "1.000"], "b": [1.5, 2.5, 3.5]}
    plain = columns(tmp_path / "t.csv", text.replace(";", ","), decimal=decimal)["a"]
    assert plain == (["980", "990", "1.000"] if decimal == "," else [980.0, 990.0, 1.0])


def test_unnamed_first_column_is_the_index(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",x,label\nr1,1.5,a\nr2,2.5,b\n")
    table = read_table(tmp_path / "t.csv")
    assert table.names == ("unnamed_1", "x", "label")
    assert guess_roles(table).id == "unnamed_1"


def test_dates_are_read_as_such(tmp_path: Path) -> None:
    assert columns(tmp_path / "t.csv", "d\n2020-01-02\n")["d"] == [dt.date(2020, 1, 2)]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b,c\n", "no row"),
        (b"a,b\n1,2\n\n3\n4,5\n", r"line 4: it has 1 field\(s\) where the first line has 2"),
        (b'a,b\n1,"x\ny"\n3,4,5\n', "line 4: it has 3 field"),
        (b'a,b\n1,2\n3,"x\n4,5\n', "row that begins at line 3"),
        (b"a,b\n1,n\xe9e\n", "line 2 holds the byte 0xe9 at place 4"),
        (b"n\xe9e,b\n1,2\n", "line 1 holds the byte 0xe9"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"a,b,a\n1,2,3\n", "more than once: 'a'"),
        (b"1.5,2.5\n3.5,4.5\n", "names of the columns"),
        (b"0,0,5\n1,2,3\n", "more than once"),
    ],
)
def test_broken_files_are_named_with_the_place(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        columns(tmp_path / "t.csv", content)


def test_single_quote_inside_a_field_is_no_fault(tmp_path: Path) -> None:
    assert columns(tmp_path / "t.csv", 'a,b\n5" pipe,1\n')["a"] == ['5" pipe']


def test_row_larger_than_a_block_is_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("beltrami.tables.reading.delimited._BLOCK_BYTES", 64)
    text = "a,b\n1," + "word " * 100 + "\n2,x\n"
    assert columns(tmp_path / "t.csv", text)["a"] == [1, 2]


def test_file_larger_than_memory_is_refused_with_numbers(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(BeltramiError, match="GiB and the budget is") as caught:
        columns(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 1000)
    assert isinstance(caught.value, MemoryError)
