"""What commands keep from one to the next: graph, eigenbasis and map of a file."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from beltrami.cli.speech import Voice


@contextmanager
def kept_between_commands(voice: Voice, *, is_off: bool) -> Iterator[None]:
    """Let the block use the user's store, and say what it takes from there."""
    from beltrami.core.store import remember_usually

    with nullcontext() if is_off else remember_usually(tell=lambda line: voice.tell([line])):
        yield
