"""Templates of pages, filled in: the one place that knows how numbers and texts are written there.

A template's name and what it speaks of enter; a text that any file can hold leaves.
"""

import math
from typing import TYPE_CHECKING, Any

from beltrami.report.page.packing import shorten
from beltrami.report.page.scripts import read_asset

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def fill(template: str, **content: Any) -> str:
    """Return a template with its content; what people named never becomes markup."""
    text = _environment().get_template(template).render(style=_style(), **content)
    # Ids read from files may hold halves of surrogate pairs, which no file can.
    return text.encode("utf-8", "replace").decode("utf-8")


def _style() -> "Markup":
    from markupsafe import Markup

    return Markup(read_asset("base.css") + read_asset("page.css"))


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        autoescape=True,
        loader=FunctionLoader(read_asset),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["thousands"] = lambda number: f"{number:,}"
    environment.filters["percent"] = _percent
    environment.filters["seconds"] = _seconds
    environment.filters["short"] = lambda text, length=80: shorten(text, length)
    environment.tests["finite"] = math.isfinite
    return environment


def _percent(share: float, digits: int = 0) -> str:
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else "\u2013"


def _seconds(time: Any) -> str:
    if not math.isfinite(time):
        return "\u2013"
    return f"{time:.2f} s" if time < 10 else f"{time:,.0f} s"
