"""`recall` what was computed before, inside `remember`: the store travels in the context.

As with the listener of `core/telling/progress.py` there is no module state, and threads keep
their own. Outside of `remember` nothing is read or written.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from beltrami.core import errors
from beltrami.core.errors import BeltramiError, BeltramiWarning, StoreWarning
from beltrami.core.machine.device import device_key
from beltrami.core.store.folder import NoRoomError, Store, usual_store
from beltrami.core.store.keys import content_key, numerics
from beltrami.core.store.parcels import Parcel, UnusableParcelError

LEAST_SECONDS = 0.5
"""What took less is not worth a file."""

Noun = TypeVar("Noun")


@dataclass(frozen=True, slots=True)
class Form(Generic[Noun]):
    """How a noun becomes arrays and comes back.

    Attributes
    ----------
    noun : str
        What people call it; small letters.
    pack, unpack : callable
        From the noun to a `Parcel`, and back; `unpack` may raise on one that it does not know.
    """

    noun: str
    pack: Callable[[Noun], Parcel]
    unpack: Callable[[Parcel], Noun]


@dataclass(slots=True, eq=False)
class _Memory:
    """A store in use."""

    store: Store
    least_seconds: float
    tell: Callable[[str], None]
    is_off: bool = False  # once a file could not be written

    def take(self, form: Form[Noun], key: str) -> Noun | None:
        """Return what is stored under a key, with its warnings; None where it must be made."""
        try:
            parcel = self.store.get(form.noun, key)
            thing = form.unpack(Parcel(parcel.arrays, parcel.facts["noun"]))
            making = parcel.facts["making"]
            made, seconds = float(making["made"]), float(making["seconds"])
            earlier = [(str(name), str(text)) for name, text in making["warnings"]]
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnusableParcelError as error:
            reason = str(error)
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
        except (BeltramiError, ValueError, TypeError, LookupError, AttributeError):
            reason = "it does not hold what it should"
        else:
            day = time.strftime("%Y-%m-%d %H:%M", time.localtime(made))
            self.tell(
                f"{form.noun.replace('_', ' ')}: as stored on {day}, which saves {seconds:.3g} s"
            )
            for category, text in earlier:
                warnings.warn(text, _category(category), stacklevel=4)
            return thing
        self.store.drop(form.noun, key)
        _warn(
            f"the {form.noun} stored in {self.store.folder} is of no use ({reason}); it is made "
            "anew."
        )
        return None

    def keep(self, form: Form[Noun], key: str, thing: Noun, facts: dict[str, Any]) -> None:
        """Store what was made; what goes wrong is said once, and nothing else is tried."""
        if self.is_off or facts["seconds"] < self.least_seconds:
            return
        packed = form.pack(thing)
        parcel = Parcel(packed.arrays, {"noun": packed.facts, "making": facts})
        try:
            self.store.put(form.noun, key, parcel)
        except (NoRoomError, UnusableParcelError) as error:
            _warn(f"the {form.noun} is not kept for the next command: its {error}.")
        except (OSError, MemoryError) as error:
            self.is_off = True
            _warn(
                f"nothing is kept for the next command: {self.store.folder} cannot be written "
                f"({getattr(error, 'strerror', None) or error}). Set BELTRAMI_CACHE to another "
                "folder, or to nothing to do without."
            )


_memory: ContextVar[_Memory | None] = ContextVar("beltrami_store", default=None)


@contextmanager
def remember(
    store: Store,
    *,
    tell: Callable[[str], None] = lambda _: None,
    least_seconds: float | None = None,
) -> Iterator[None]:
    """Keep graphs, eigenbases and the like that are made inside the block, and take them again.

    A key is the content of all that a result depends on, the code included: what is taken is what
    would have been computed. `tell` is called with a line for everything taken. What takes less
    than `least_seconds` is not kept, half a second where nothing is said.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from beltrami import KnnGraph, PoissonClassifier, two_moons
    >>> from beltrami.core.store import Store, remember
    >>> moons, lines = two_moons(200, random_state=0), []
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with remember(Store(Path(folder)), tell=lines.append, least_seconds=0):
    ...         for _ in range(2):
    ...             model = PoissonClassifier(graph=KnnGraph(random_state=0))
    ...             _ = model.fit(moons.points, moons.targets)
    >>> [line.split(":")[0] for line in lines]
    ['graph', 'eigenbasis', 'split basis']
    """
    with suppress(OSError):
        numerics()
    least = LEAST_SECONDS if least_seconds is None else least_seconds
    token = _memory.set(_Memory(store, least, tell))
    try:
        yield
    finally:
        _memory.reset(token)


@contextmanager
def remember_usually(*, tell: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Remember inside the block in the user's own store; nothing where the user wants none."""
    store = usual_store()
    with nullcontext() if store is None else remember(store, tell=tell):
        yield


@contextmanager
def forget() -> Iterator[None]:
    """Neither store nor take anything inside the block, whose outcome is stored as a whole."""
    token = _memory.set(None)
    try:
        yield
    finally:
        _memory.reset(token)


def recall(
    form: Form[Noun], parts: Callable[[], tuple[Any, ...]], make: Callable[[], Noun]
) -> Noun:
    """Return what was made of the same parts before, else make and keep it.

    - `parts`: all that the result depends on; asked for only where there is a store.
    """
    memory = _memory.get()
    key = None if memory is None else content_key(form.noun, *parts(), *device_key())
    if memory is None or key is None:
        return make()
    stored = memory.take(form, key)
    if stored is not None:
        return stored
    started = time.perf_counter()
    with _overheard() as said:
        thing = make()
        facts = {
            "made": time.time(),
            "seconds": time.perf_counter() - started,
            "warnings": [
                [one.category.__name__, str(one.message)]
                for one in said
                if issubclass(one.category, BeltramiWarning)
            ],
        }
        memory.keep(form, key, thing, facts)
    return thing


@contextmanager
def _overheard() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings of the block, and pass them on when it ends."""
    said: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            yield said
    finally:
        for one in said:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _category(name: str) -> type[BeltramiWarning]:
    """Return the class of a stored warning."""
    found = getattr(errors, name, None)
    if isinstance(found, type) and issubclass(found, BeltramiWarning):
        return found
    return BeltramiWarning


def _warn(text: str) -> None:
    warnings.warn(text, StoreWarning, stacklevel=4)
