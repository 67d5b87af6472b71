"""The folder of the store: where it is, what it holds, how much it may hold."""

import os
import re
import shutil
import stat
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path, remove_debris
from beltrami.core.store.parcels import Parcel, read_parcel, write_parcel

FOLDER_VARIABLE, LIMIT_VARIABLE = "BELTRAMI_CACHE", "BELTRAMI_CACHE_GIB"
_USUAL_GIB = 4.0
_NAME = re.compile(r"([a-z_]+)-([0-9a-f]{40})\.arrays")


class NoRoomError(Exception):
    """A store has no room for a parcel, with the numbers."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the store.

    Attributes
    ----------
    path : Path
        The file.
    noun : str
        What it holds.
    n_bytes : int
        Its size.
    used : float
        When it was written or last read, in seconds since 1970.
    """

    path: Path
    noun: str
    n_bytes: int
    used: float


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of parcels; of those beyond the limit the ones not used for longest go first.

    Any number of processes may use it at once: files appear whole, and one that is being read
    stays readable when another process removes it.

    Attributes
    ----------
    folder : Path
        Made when something is first put into it; other files in it are left alone.
    limit_bytes : int
        What all entries together may take.
    """

    folder: Path
    limit_bytes: int = int(_USUAL_GIB * 2**30)

    def get(self, noun: str, key: str) -> Parcel:
        """Return what was put, or raise `FileNotFoundError`, `OSError`, `UnusableParcelError`."""
        path = self._path(noun, key)
        parcel = read_parcel(path, key)
        with suppress(OSError):  # a folder that may only be read
            os.utime(path)
        return parcel

    def put(self, noun: str, key: str, parcel: Parcel) -> None:
        """Keep a parcel and make room for it; raises `NoRoomError` or `OSError`."""
        n_bytes = parcel.n_bytes + 2**16  # with its header
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        remove_debris(self.folder)
        self._require_room(n_bytes)
        self._make_room(n_bytes)
        with atomic_path(self._path(noun, key)) as temporary:
            write_parcel(temporary, key, parcel)
        self._make_room(0)  # another process may have put something meanwhile

    def drop(self, noun: str, key: str) -> None:
        """Take an entry away, if it is there and may be."""
        with suppress(OSError):
            self._path(noun, key).unlink(missing_ok=True)

    def entries(self) -> list[Entry]:
        """Return what the store holds, the least recently used first."""
        found = []
        with suppress(OSError):
            for path in self.folder.iterdir():
                name = _NAME.fullmatch(path.name)
                if name is None:
                    continue
                with suppress(OSError):  # gone meanwhile
                    facts = path.lstat()
                    if not stat.S_ISREG(facts.st_mode):
                        continue
                    found.append(Entry(path, name[1], facts.st_size, facts.st_mtime))
        return sorted(found, key=lambda entry: (entry.used, entry.path.name))

    def clear(self) -> list[Entry]:
        """Remove every entry and what killed writers left; return what is gone."""
        if self.folder.is_dir():
            remove_debris(self.folder)
        gone = []
        for entry in self.entries():
            entry.path.unlink(missing_ok=True)
            gone.append(entry)
        return gone

    def free_bytes(self) -> int:
        """Return what the disk has room for."""
        return shutil.disk_usage(self.folder).free

    def _path(self, noun: str, key: str) -> Path:
        return self.folder / f"{noun}-{key}.arrays"

    def _require_room(self, n_bytes: int) -> None:
        if n_bytes > self.limit_bytes:
            raise NoRoomError(
                f"{in_mib(n_bytes)} are more than the limit of {in_mib(self.limit_bytes)} "
                f"({LIMIT_VARIABLE})"
            )
        free = self.free_bytes()
        if 2 * n_bytes > free:  # what the command itself has to write comes first
            raise NoRoomError(f"{in_mib(n_bytes)} are more than half of the free {in_mib(free)}")

    def _make_room(self, n_bytes: int) -> None:
        entries = self.entries()
        taken = sum(entry.n_bytes for entry in entries)
        for entry in entries:
            if taken + n_bytes <= self.limit_bytes:
                return
            with suppress(OSError):  # gone meanwhile, or in use where that holds a file
                entry.path.unlink()
            taken -= entry.n_bytes


def in_mib(n_bytes: int) -> str:
    """Return a size for people."""
    return f"{n_bytes / 2**20:,.1f} MiB"


def usual_store(environment: Mapping[str, str] = os.environ) -> Store | None:
    """Return the user's own store; None where the environment says that there is none.

    ``BELTRAMI_CACHE`` names the folder, nothing for none at all, and ``BELTRAMI_CACHE_GIB`` the
    limit; else the folder is where the platform keeps caches, and the limit 4 GiB.
    """
    limit = environment.get(LIMIT_VARIABLE, "")
    try:
        n_bytes = int(float(limit or _USUAL_GIB) * 2**30)
    except (ValueError, OverflowError):
        n_bytes = -1
    if n_bytes < 0:
        raise InvalidInputError(
            f"{LIMIT_VARIABLE}={limit!r} must be a number of GiB, such as 2 or 0.5; 0 for no cache."
        )
    folder = _usual_folder(environment)
    return Store(folder, n_bytes) if folder is not None and n_bytes else None


def _usual_folder(environment: Mapping[str, str]) -> Path | None:
    """Return the folder for caches; None where the user wants none, or has no home."""
    named = environment.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named).expanduser().absolute() if named.strip() else None
    try:
        if sys.platform == "win32":
            local = environment.get("LOCALAPPDATA")
            base = Path(local) if local else Path.home() / "AppData" / "Local"
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            # The standard has relative paths ignored.
            named = environment.get("XDG_CACHE_HOME", "")
            base = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # no home
        return None
    return base / "beltrami"
