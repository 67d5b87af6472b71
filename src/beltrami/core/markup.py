"""Small pieces of HTML for notebooks: plain values enter, text that cannot be markup leaves.

No colours and no scripts, so that it reads on any ground.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def paragraph(lead: str, *sentences: str) -> str:
    """Return a paragraph that begins with something in bold."""
    return f"<p><strong>{escape(lead)}</strong> {escape(' '.join(sentences))}</p>"


def grid(names: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table with a head."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def fact_table(facts: Mapping[str, str]) -> str:
    """Return a table of facts, each with its name in front."""
    lines = (f"<tr><th>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts.items())
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list; nothing for nothing."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
