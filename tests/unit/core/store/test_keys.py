"""Keys: the same content has the same key, anything else another."""

import time
from copy import deepcopy

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami.core.store import NO_CONTENT, keys, seed_content
from beltrami.core.store.keys import content_key

POINTS = np.arange(12.0).reshape(4, 3)
SPARSE = csr_array(np.eye(4))


def changed(array, place):
    copy = array.copy()
    copy[place] += 1
    return copy


DIFFERENT = [
    (POINTS,),
    (changed(POINTS, (3, 2)),),
    (POINTS.astype(np.float32),),
    (POINTS.view(np.int64),),
    (POINTS.reshape(3, 4),),
    (np.asfortranarray(POINTS),),
    (POINTS[:0],),
    (POINTS[:, :0],),
    (POINTS, None),
    (POINTS, 0),
    (POINTS, 0.0),
    (POINTS, False),
    (POINTS, "0"),
    (POINTS, (0,)),
    (POINTS, np.int64(0)),
    (POINTS, {"a": 1, "b": 2}),
    (POINTS, {"a": 2, "b": 1}),
    ("ab", "c"),
    ("a", "bc"),
    (("ab", "c"),),
    (1, 23),
    (12, 3),
    (SPARSE,),
    (SPARSE.astype(np.float32),),
    (csr_array(2 * np.eye(4)),),
    (csr_array(np.eye(4)[::-1]),),
    (csr_array(np.eye(4, 5)),),
    (np.eye(4),),
    (float("nan"),),
    (0.1 + 0.2,),
    (0.3,),
    (0.0,),
    (-0.0,),
]


def test_different_parts_have_different_keys():
    found = [content_key(*parts) for parts in DIFFERENT]
    assert None not in found
    assert len(set(found)) == len(DIFFERENT)


def test_the_same_parts_have_the_same_key():
    again = deepcopy(DIFFERENT)
    assert [content_key(*parts) for parts in DIFFERENT] == [content_key(*parts) for parts in again]
    assert content_key({"b": 2, "a": 1}) == content_key({"a": 1, "b": 2})


def test_an_array_in_pieces_has_the_key_of_a_whole_one(monkeypatch: pytest.MonkeyPatch):
    wide = np.random.default_rng(0).random((100, 7))
    view, whole = wide[:, 1:5], wide[:, 1:5].copy()
    assert content_key(view) == content_key(whole)
    monkeypatch.setattr(keys, "_BLOCK_BYTES", 100)  # three rows at once
    assert content_key(view) == content_key(whole)
    assert content_key(wide[::2]) == content_key(wide[::2].copy())


@pytest.mark.parametrize(
    "part",
    [print, object(), NO_CONTENT, np.random.default_rng(0), np.array([None]), {1, 2}, ["a", print]],
    ids=["function", "object", "none", "generator", "objects", "set", "inside"],
)
def test_what_cannot_be_compared_has_no_key(part):
    assert content_key(POINTS, part) is None


def test_a_missing_seed_has_no_content():
    assert content_key(seed_content(None)) is None
    assert content_key(seed_content(3)) == content_key(3)


@pytest.mark.parametrize("what", ["FORMAT", "numerics"])
def test_code_and_format_belong_to_the_key(monkeypatch: pytest.MonkeyPatch, what: str):
    before = content_key(POINTS)
    monkeypatch.setattr(keys, what, 2 if what == "FORMAT" else lambda: ("other code",))
    assert content_key(POINTS) != before


def test_large_data_are_hashed_without_a_copy_in_about_a_second_a_gigabyte():
    import tracemalloc

    points = np.zeros((250_000, 64), dtype=np.float32)  # 64 MB
    content_key()
    tracemalloc.start()
    try:
        started = time.perf_counter()
        content_key(points)
        seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 5  # 0.1 on a quiet machine
    assert peak < points.nbytes / 10


def test_code_that_cannot_be_read_has_no_key(monkeypatch: pytest.MonkeyPatch):
    def refuse():
        raise PermissionError("no")

    monkeypatch.setattr(keys, "numerics", refuse)
    assert content_key(POINTS) is None


def test_every_line_of_the_library_belongs_to_the_key(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "core" / "store").mkdir(parents=True)
    monkeypatch.setattr(keys, "__file__", str(tmp_path / "core" / "store" / "keys.py"))
    found = set()
    for line in ("a.py 1", "a.py 2", "b.py 2", "core/c.py 0", "d.txt 0"):
        name, text = line.split()
        (tmp_path / name).write_text(text)
        found.add(keys.numerics.__wrapped__())
    assert len(found) == 4  # what is no code does not count


def test_learned_numbers_count_as_code(tmp_path, monkeypatch):
    monkeypatch.setattr(keys, "__file__", str(tmp_path / "core" / "store" / "keys.py"))
    place = tmp_path / "experience.json"
    place.write_text("1")
    before = keys.numerics.__wrapped__()
    place.write_text("2")
    assert keys.numerics.__wrapped__() != before
