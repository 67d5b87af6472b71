"""The command line's reference: what every command says of itself under ``--help``.

The page is committed text, which a test holds to the commands: ``python -m book.commands`` in the
folder above writes it anew.
"""

from pathlib import Path

import typer
from typer.main import get_command
from typer.testing import CliRunner

PAGE = Path(__file__).parents[2] / "reference" / "command-line.md"
_MARK = "<!-- commands: written by book/commands.py -->\n\n"
WIDTH = 88
"""Columns of the help texts."""


def commands_markdown() -> str:
    """Return one section a command with its help text, as plain text of fixed width."""
    from beltrami.cli.application import app

    commands = get_command(app).commands  # type: ignore[attr-defined]
    table = ["| command | what it does |", "|---|---|"]
    for name, command in commands.items():
        summary = (command.help or "").split("\n\n")[0].replace("\n", " ")
        table.append(f"| [`beltrami {name}`](#beltrami-{name}) | {summary} |")
    parts = [_section(f"beltrami {name}", _help(app, [name])) for name in commands]
    return "\n".join([*table, "", *parts])


def page_text(page: str) -> str:
    """Return the page with the help texts of now behind its mark."""
    return page.partition(_MARK)[0] + _MARK + commands_markdown()


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text}\n```\n"


def _help(app: typer.Typer, arguments: list[str]) -> str:
    """Return a help text without frames and colours, which typer draws with rich otherwise."""
    shown_with = app.rich_markup_mode
    app.rich_markup_mode = None
    try:
        result = CliRunner().invoke(
            app,
            [*arguments, "--help"],
            prog_name="beltrami",
            max_content_width=WIDTH,
            terminal_width=WIDTH,
        )
    finally:
        app.rich_markup_mode = shown_with
    if result.exit_code != 0:
        raise RuntimeError(f"beltrami {' '.join(arguments)} --help failed: {result.output}")
    return "\n".join(line.rstrip() for line in result.output.strip().splitlines())


if __name__ == "__main__":
    PAGE.write_text(page_text(PAGE.read_text("utf-8")), "utf-8")
