"""Pictures of rows, small ones kept: a path of a folder enters, PNG bytes leave."""

from collections import OrderedDict
from contextlib import suppress
from pathlib import Path
from threading import Lock

from beltrami.core.errors import InvalidInputError
from beltrami.tables.reading.images import picture_place, read_picture

_KEPT_SIDE = 128
"""Longer side up to which a picture is kept once it was made."""

_KEPT_BYTES = 2**26
"""What all pictures that are kept may take; those not asked for longest go first."""

_LARGEST_SIDE = 4096


class PictureShelf:
    """Images of one folder, as PNG of a size asked for; several threads may ask.

    Parameters
    ----------
    folder : Path
        Where they lie; nothing outside it is read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int], bytes] = OrderedDict()
        self._n_bytes = 0

    def holds(self, path: str) -> bool:
        """Say whether there is an image of that path that may be shown."""
        with suppress(InvalidInputError, OSError):
            return picture_place(self._folder, path).is_file()
        return False

    def picture(self, path: str, side: int) -> bytes:
        """Return an image as PNG, its longer side at most `side` pixels."""
        if not 1 <= side <= _LARGEST_SIDE:
            raise InvalidInputError(f"side={side} must lie between 1 and {_LARGEST_SIDE} pixels.")
        key = (path, side)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = read_picture(self._folder, path, side)
        if side <= _KEPT_SIDE:
            self._keep(key, made)
        return made

    def _keep(self, key: tuple[str, int], made: bytes) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._n_bytes += len(made)
            while self._n_bytes > _KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._n_bytes -= len(oldest)
