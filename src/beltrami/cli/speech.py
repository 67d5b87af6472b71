"""The one way in which a command prints: text enters, and none of it commands the terminal."""

import typer

from beltrami.core.spelling import spelled_out


def say(text: str, *, err: bool = False) -> None:
    """Print a line, with control characters in names and messages written as their codes."""
    typer.echo(spelled_out(text), err=err)
