"""The files of the store: what is read is what was written, or nothing is."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beltrami.core.store import Parcel, parcels
from beltrami.core.store.parcels import UnusableParcelError, read_parcel, write_parcel

KEY = "0" * 40
ARRAYS = {
    "rows": np.arange(12, dtype=np.int32).reshape(4, 3),
    "columns": np.asfortranarray(np.random.default_rng(0).random((5, 3))),
    "view": np.arange(20.0)[::2],
    "truth": np.array([True, False]),
    "single": np.float32(2.5).reshape(()),
    "empty": np.zeros((0, 3)),
    "odd": np.array([np.nan, -0.0, np.inf], dtype=">f8"),
}
FACTS = {"n": 3, "share": 0.1, "name": "ž", "none": None, "bad": float("inf")}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "file"
    write_parcel(file, KEY, Parcel(ARRAYS, FACTS))
    return file


def test_arrays_come_back_bit_by_bit_in_dtype_shape_and_order(path: Path):
    parcel = read_parcel(path, KEY)
    assert parcel.facts == FACTS
    assert list(parcel.arrays) == list(ARRAYS)
    for name, array in parcel.arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert array.shape == ARRAYS[name].shape
        assert array.tobytes() == ARRAYS[name].tobytes()
        assert array.flags.writeable
    assert parcel.arrays["columns"].flags.f_contiguous
    assert not parcel.arrays["columns"].flags.c_contiguous
    assert parcel.arrays["rows"].flags.c_contiguous


def test_a_flat_record_becomes_a_parcel():
    @dataclass
    class Record:
        values: Any
        count: Any

    parcel = Parcel.of(Record(np.ones(2), np.int64(3)))
    assert parcel.facts == {"count": 3}
    assert json.dumps(parcel.facts)
    assert parcel.parts.keys() == {"values", "count"}
    assert parcel.n_bytes == 16


@pytest.mark.parametrize("array", [np.array([None]), np.array(["a"]), np.zeros(1, dtype="M8[s]")])
def test_only_numbers_are_written(tmp_path: Path, array):
    with pytest.raises(TypeError, match="cannot be stored"):
        write_parcel(tmp_path / "file", KEY, Parcel({"one": array}, {}))


def test_a_flip_of_any_byte_is_found(path: Path):
    content = path.read_bytes()
    for place in range(len(content)):
        for mask in (0x01, 0x80, 0xFF):
            broken = bytearray(content)
            broken[place] ^= mask
            path.write_bytes(broken)
            with pytest.raises(UnusableParcelError):
                read_parcel(path, KEY)


def test_a_cut_anywhere_and_anything_more_is_found(path: Path):
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        with pytest.raises(UnusableParcelError):
            read_parcel(path, KEY)
    for more in (b"\0", content):
        path.write_bytes(content + more)
        with pytest.raises(UnusableParcelError, match="more than it should"):
            read_parcel(path, KEY)


@pytest.mark.parametrize("start", [0, 7, 8, 40, 200, 600, -40, -32])
def test_a_part_of_zeros_as_a_crash_leaves_it_is_found(path: Path, start: int):
    content = bytearray(path.read_bytes())
    content[start : start + 16 or None] = bytes(16)
    path.write_bytes(content)
    with pytest.raises(UnusableParcelError):
        read_parcel(path, KEY)


def test_a_file_under_another_key_is_not_taken(path: Path):
    with pytest.raises(UnusableParcelError, match="other data"):
        read_parcel(path, "1" * 40)


def sealed(header: Any, body: bytes = b"") -> bytes:
    """Return a file with a right seal, whatever its header says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    content = b"beltrami" + len(text).to_bytes(8, "little") + text
    content += bytes(-len(content) % 64) + body
    return content + hashlib.blake2b(content, digest_size=32).digest()


def header_of(**changes: Any) -> dict[str, Any]:
    one = {"name": "a", "dtype": "<f8", "shape": [2], "order": "C"} | changes
    return {"key": KEY, "facts": {}, "arrays": [one]}


def test_the_forged_files_are_those_that_would_be_read(tmp_path: Path):
    (tmp_path / "file").write_bytes(sealed(header_of(), bytes(16)))
    assert read_parcel(tmp_path / "file", KEY).arrays["a"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[" * 100_000,
        b"\xff",
        b"null",
        b"[]",
        {"key": KEY},
        {"key": KEY, "facts": [], "arrays": []},
        {"key": KEY, "facts": {}, "arrays": {"a": 1}},
        header_of(dtype="O"),
        header_of(dtype="|O"),
        header_of(dtype="|O8"),
        header_of(dtype="|S8"),
        header_of(dtype="<M8[s]"),
        header_of(dtype="|V8"),
        header_of(dtype="V16"),
        header_of(dtype="(2,)f8"),
        header_of(dtype="no such"),
        header_of(dtype=None),
        header_of(order="Z"),
        header_of(shape=[-2]),
        header_of(shape=[2.0]),
        header_of(shape=[True, 2]),
        header_of(shape="2"),
        header_of(shape=None),
        header_of(shape=[2**62]),
        header_of(shape=[2**62, 2**62]),
    ],
    ids=repr,
)
def test_a_header_with_a_right_seal_that_makes_no_sense_is_refused(tmp_path: Path, header):
    (tmp_path / "file").write_bytes(sealed(header, bytes(16)))
    with pytest.raises(UnusableParcelError):
        read_parcel(tmp_path / "file", KEY)


def test_no_memory_is_taken_for_what_does_not_fit(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parcels, "available_bytes", lambda: 100)
    with pytest.raises(UnusableParcelError, match="do not fit in the memory"):
        read_parcel(path, KEY)


def test_facts_too_long_to_be_read_again_are_not_written(tmp_path: Path):
    with pytest.raises(UnusableParcelError, match=r"1,048,[0-9]+ bytes of header"):
        write_parcel(tmp_path / "file", KEY, Parcel({}, {"more": "x" * (2**20 - 60)}))
    assert not (tmp_path / "file").exists()
