"""The widget's own page: modules of the map, the studio and the notebook as one, and their colours.

Nothing enters; the text of one ES module and one style sheet leave.
"""

import re
from importlib.resources import files

from beltrami.report.page.scripts import join_texts, read_asset

_STUDIO = ("frames.js", "elements.js", "words.js", "palette.js", "store.js", "item.js")
_OURS = ("kernel.js", "host.js", "view.js", "widget.js")
_COLOURS = re.compile(r"^:root (\{.*?^\})", re.MULTILINE | re.DOTALL)


def script() -> str:
    """Return the module that a host runs: it exports `render` and needs no other file."""
    studio = (_read("beltrami.studio_server", name) for name in _STUDIO)
    ours = (_read("beltrami.notebook", name) for name in _OURS)
    return join_texts(read_asset("map.js"), *studio, *ours)


def styles() -> str:
    """Return the style sheet: the colours of report and studio, named for the widget alone."""
    named = _COLOURS.search(read_asset("base.css"))
    assert named is not None
    return f".beltrami {named[1]}\n{_read('beltrami.notebook', 'widget.css')}"


def _read(package: str, name: str) -> str:
    return files(package).joinpath("page", name).read_text(encoding="utf-8")
