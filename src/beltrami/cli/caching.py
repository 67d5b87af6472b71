"""What commands keep from one to the next: graph, eigenbasis and map of a file."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from beltrami.cli.speech import Voice


@contextmanager
def kept_between_commands(voice: Voice, *, is_off: bool) -> Iterator[None]:
    """Let the block use the user's store, and say what it takes from there."""
    from beltrami.core.store import remember
    from beltrami.core.store.folder import usual_store

    store = None if is_off else usual_store()
    with nullcontext() if store is None else remember(store, tell=lambda line: voice.tell([line])):
        yield
