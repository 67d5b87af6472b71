"""Recalling: made once, taken afterwards with its warnings; trouble costs a word, no answer."""

import errno
import warnings
from pathlib import Path

import numpy as np
import pytest

from beltrami.core.errors import BeltramiWarning, ConvergenceWarning, StoreWarning
from beltrami.core.store import (
    NO_CONTENT,
    Form,
    Parcel,
    Store,
    forget,
    recall,
    recalling,
    remember,
    remember_usually,
)
from beltrami.core.store.folder import Store as _Store

SQUARES: Form[np.ndarray] = Form(
    "squares",
    lambda x: Parcel({"x": x}, {}),
    lambda parcel: parcel.arrays["x"],
)


class Work:
    """Squares numbers, and counts how often."""

    def __init__(self, *, said: Warning | None = None) -> None:
        self.n_made, self._said, self.told = 0, said, []

    def __call__(self, numbers, seed=0):
        return recall(SQUARES, lambda: (numbers, seed), lambda: self.make(numbers))

    def make(self, numbers):
        self.n_made += 1
        if self._said is not None:
            warnings.warn(self._said, stacklevel=2)
        return numbers**2

    def inside(self, store):
        return remember(store, tell=self.told.append, least_seconds=0)


NUMBERS = np.arange(5.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_outside_nothing_is_kept_and_no_key_is_made(store: Store):
    work = Work()
    with work.inside(store):
        pass
    for _ in range(2):
        recall(SQUARES, lambda: pytest.fail("not asked for"), lambda: work.make(NUMBERS))
    assert work.n_made == 2
    assert not store.folder.exists()


def test_the_second_is_taken_and_it_is_said(store: Store):
    work = Work()
    with work.inside(store):
        first = work(NUMBERS)
        assert work.told == []
        second = work(NUMBERS.copy())
    assert first.tobytes() == second.tobytes()
    assert work.n_made == 1
    (line,) = work.told
    assert line.startswith("squares: as stored on 2")


@pytest.mark.parametrize(("numbers", "seed"), [(NUMBERS + 1, 0), (NUMBERS, 1)])
def test_other_parts_are_made(store: Store, numbers, seed):
    work = Work()
    with work.inside(store):
        work(NUMBERS)
        assert work(numbers, seed).tolist() == (numbers**2).tolist()
    assert work.n_made == 2


def test_what_has_no_content_is_made_every_time_and_never_kept(store: Store):
    work = Work()
    with work.inside(store):
        work(NUMBERS, NO_CONTENT)
        work(NUMBERS, NO_CONTENT)
    assert work.n_made == 2
    assert store.entries() == []


def test_what_takes_no_time_is_not_kept(store: Store):
    work = Work()
    with remember(store):
        work(NUMBERS)
    assert store.entries() == []


def test_the_usual_store_is_that_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(recalling, "LEAST_SECONDS", 0.0)
    for folder, n_made in ((str(tmp_path / "mine"), 1), ("", 2)):
        monkeypatch.setenv("BELTRAMI_CACHE", folder)
        work = Work()
        for _ in range(2):
            with remember_usually(tell=work.told.append):
                work(NUMBERS)
        assert (work.n_made, len(work.told)) == (n_made, 2 - n_made)


def test_inside_a_whole_its_parts_are_not_kept(store: Store):
    work = Work()
    with work.inside(store):
        with forget():
            work(NUMBERS)
        assert store.entries() == []
        work(NUMBERS)
    assert len(store.entries()) == 1


def test_warnings_are_passed_on_now_and_repeated_when_it_is_taken(store: Store):
    work = Work(said=ConvergenceWarning("barely"))
    for _ in range(2):
        with work.inside(store), pytest.warns(ConvergenceWarning, match="barely") as said:
            work(NUMBERS)
        assert len(said) == 1
    assert work.n_made == 1


def test_filters_of_the_caller_hold_for_what_is_passed_on(store: Store):
    work = Work(said=ConvergenceWarning("barely"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore", ConvergenceWarning)
        with work.inside(store):
            work(NUMBERS)
            work(NUMBERS)
    assert said == []


def test_warnings_of_others_are_passed_on_and_not_kept(store: Store):
    work = Work(said=FutureWarning("soon"))
    with work.inside(store):
        with pytest.warns(FutureWarning, match="soon"):
            work(NUMBERS)
        work(NUMBERS)


def test_a_warning_of_another_version_is_one_of_ours(store: Store):
    class NewWarning(BeltramiWarning):
        pass

    work = Work(said=NewWarning("news"))
    for _ in range(2):
        with work.inside(store), pytest.warns(BeltramiWarning, match="news"):
            work(NUMBERS)
    assert work.n_made == 1


def test_an_error_goes_through_with_the_warnings_before_it_and_keeps_nothing(store: Store):
    def fail():
        warnings.warn("soon", FutureWarning, stacklevel=1)
        raise KeyboardInterrupt

    with (
        remember(store, least_seconds=0),
        pytest.warns(FutureWarning, match="soon"),
        pytest.raises(KeyboardInterrupt),
    ):
        recall(SQUARES, lambda: (1,), fail)
    assert not store.folder.exists()


def spoil(path: Path, how: str) -> None:
    content = bytearray(path.read_bytes())
    if how == "cut":
        content = content[:-5]
    elif how == "flip":
        content[len(content) // 2] ^= 1
    elif how == "empty":
        content = bytearray()
    path.write_bytes(content)


@pytest.mark.parametrize("how", ["cut", "flip", "empty"])
def test_a_broken_file_is_said_made_anew_and_mended(store: Store, how: str):
    work = Work()
    with work.inside(store):
        work(NUMBERS)
        spoil(store.entries()[0].path, how)
        with pytest.warns(StoreWarning, match="is of no use .*made anew"):
            assert work(NUMBERS).tolist() == (NUMBERS**2).tolist()
        assert work.n_made == 2
        work(NUMBERS)
    assert work.n_made == 2


def test_a_broken_file_is_taken_away_even_where_nothing_takes_its_place(store: Store):
    work = Work()
    with work.inside(store):
        work(NUMBERS)
    spoil(store.entries()[0].path, "cut")
    with remember(store), pytest.warns(StoreWarning, match="cut short"):
        work(NUMBERS)
    assert store.entries() == []


def test_what_cannot_be_unpacked_is_made_anew(store: Store):
    work = Work()

    def refuse(_: Parcel):
        raise ValueError("other shapes")

    with work.inside(store):
        work(NUMBERS)
        with pytest.warns(StoreWarning, match="does not hold what it should"):
            recall(
                Form("squares", SQUARES.pack, refuse),
                lambda: (NUMBERS, 0),
                lambda: work.make(NUMBERS),
            )
    assert work.n_made == 2


def test_a_file_that_cannot_be_read_is_said_and_made_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    work = Work()
    with work.inside(store):
        work(NUMBERS)

        def refuse(*_):
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr(_Store, "get", refuse)
        with pytest.warns(StoreWarning, match="cannot be read: Permission denied"):
            assert work(NUMBERS).tolist() == (NUMBERS**2).tolist()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_disk_that_takes_nothing_is_said_once(
    store: Store, monkeypatch: pytest.MonkeyPatch, code: int
):
    def refuse(*_):
        raise OSError(code, "no")

    monkeypatch.setattr(_Store, "put", refuse)
    work = Work()
    with work.inside(store):
        with pytest.warns(StoreWarning, match="nothing is kept"):
            assert work(NUMBERS).tolist() == (NUMBERS**2).tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert work(NUMBERS + 1).tolist() == ((NUMBERS + 1) ** 2).tolist()


def test_a_file_in_the_place_of_the_folder_is_said_once(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    work = Work()
    with work.inside(Store(tmp_path / "file" / "store")):
        with pytest.warns(StoreWarning, match="nothing is kept"):
            work(NUMBERS)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            work(NUMBERS)
    assert work.n_made == 2


def test_what_is_beyond_the_limit_is_said(tmp_path: Path):
    work = Work()
    with work.inside(Store(tmp_path, 10)), pytest.warns(StoreWarning, match="more than the limit"):
        work(NUMBERS)
