"""Keys: the content of everything that a result depends on enters, a short name leaves."""

import hashlib
import platform
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from beltrami import __version__

FORMAT = 1
"""Of the files and of the keys; another one makes all earlier entries strangers."""

_DIGEST_BYTES = 20
_BLOCK_BYTES = 2**24  # of an array that does not lie in one piece, copied at once
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu")


NO_CONTENT = object()
"""A part that no key can be made of."""


class _WithoutContentError(TypeError):
    """A part that is none of those that a key can be made of."""


def content_key(*parts: Any) -> str | None:
    """Return a key that changes with any of the parts; None where one has no content.

    Parts are None, numbers, texts, arrays, sparse arrays in compressed rows, and tuples, lists and
    mappings of them; others, such as functions, have none. The library's code and the versions
    below it belong to every key.
    """
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    try:
        _add(digest, (FORMAT, numerics(), parts))
    except (_WithoutContentError, OSError):  # or code that cannot be read
        return None
    return digest.hexdigest()


def seed_content(random_state: Any) -> Any:
    """Return a seed as a part of a key; without one, other numbers are drawn every time."""
    return NO_CONTENT if random_state is None else random_state


def _add(digest: Any, part: Any) -> None:
    """Add a part, its type and its size, so that no two lists of parts read alike."""
    if part is None or isinstance(part, bool | int | float | str):
        text = repr(part).encode("utf-8", "surrogatepass")
        digest.update(f"{type(part).__name__} {len(text)} ".encode())
        digest.update(text)
    elif isinstance(part, np.generic):
        _add(digest, (part.dtype.str, part.item()))
    elif isinstance(part, tuple | list):
        digest.update(f"list {len(part)} ".encode())
        for one in part:
            _add(digest, one)
    elif isinstance(part, Mapping):
        _add(digest, ["mapping", *sorted(part.items())])
    elif isinstance(part, np.ndarray):
        _add_array(digest, part)
    elif getattr(part, "format", None) == "csr":
        _add(digest, ("csr", tuple(part.shape), part.indptr, part.indices, part.data))
    else:
        raise _WithoutContentError(type(part).__name__)


def _add_array(digest: Any, array: np.ndarray[Any, Any]) -> None:
    """Add the bytes of an array, with how they lie in memory: sums may depend on that."""
    if array.dtype.kind not in "biuf":
        raise _WithoutContentError(array.dtype)
    is_turned = array.flags.f_contiguous and not array.flags.c_contiguous
    _add(digest, (array.dtype.str, array.shape, "F" if is_turned else "C"))
    whole = array.T if is_turned else array
    if whole.flags.c_contiguous:
        digest.update(bytes_of(whole))
        return
    rows = max(1, _BLOCK_BYTES // max(array.nbytes // max(len(array), 1), 1))
    for start in range(0, len(array), rows):
        digest.update(bytes_of(np.ascontiguousarray(array[start : start + rows])))


def bytes_of(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the bytes of an array that lies in one piece, without a copy."""
    return array.reshape(-1).view(np.uint8).data


@lru_cache(maxsize=1)
def numerics() -> tuple[str, ...]:
    """Return what the numbers depend on beside the parts: code, libraries, machine.

    Asked for when work begins: what is edited while it runs must not count as what ran.
    """
    package = Path(__file__).parents[2]
    code = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for path in sorted([*package.rglob("*.py"), *package.rglob("*.json")]):  # and learned numbers
        code.update(str(path.relative_to(package)).encode())
        code.update(path.read_bytes())
    libraries = (f"{name} {_version(name)}" for name in _LIBRARIES)
    return (__version__, code.hexdigest(), *libraries, platform.machine(), platform.system())


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
