"""The one way in which a command prints: text enters, and none of it commands the terminal."""

import typer

from beltrami.core.spelling import spell_out


def say(text: str, *, err: bool = False) -> None:
    """Print a line, with control characters in names and messages written as their codes."""
    typer.echo(spell_out(text), err=err)
