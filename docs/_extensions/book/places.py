"""Where a file of the repository stands in the book, and links rewritten accordingly.

Pages are written so that their links work where they lie. The book holds some of them elsewhere:
``benchmarks/results/few_labels.md`` becomes ``contests/few_labels.md``.
"""

import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

PROJECT_PAGES = ("README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "NOTATION")
"""Pages at the root of the repository, which the book has under ``project``."""

FILES = "files"
"""Where the book keeps files that a page links to and that are no pages."""

_CODE_OR_LINK = re.compile(r"(`+).+?\1|(\]\()([^)\s]+)((?:\s+\"[^\"]*\")?\))")
"""Code between backticks, which is passed over, or the end of a link."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|#|<|/")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a Markdown page.

    Attributes
    ----------
    line : int
        Where it stands, from one.
    target : str
        What is between the parentheses.
    """

    line: int
    target: str

    @property
    def is_relative(self) -> bool:
        """Whether it leads to a file beside the page."""
        return _ADDRESS.match(self.target) is None


def place_of(path: str) -> str | None:
    """Return where a file of the repository stands in the book.

    Parameters
    ----------
    path : str
        From the root of the repository, with slashes.

    Returns
    -------
    str or None
        From the root of the book; None for what the book does not hold by itself.
    """
    pure = PurePosixPath(path)
    if len(pure.parts) == 1 and pure.suffix == ".md" and pure.stem in PROJECT_PAGES:
        return f"project/{pure.stem.lower()}.md"
    if path == "benchmarks/README.md":
        return "contests/benchmarks.md"
    if pure.parts[:2] == ("benchmarks", "results") and pure.suffix == ".md":
        return f"contests/{pure.name}"
    if pure.parts[:2] == ("docs", "gallery"):
        known = {".py": f"gallery/{pure.stem}.rst", "": "gallery/index.rst"}
        return known.get(pure.suffix, "gallery/index.rst")
    if pure.parts[0] == "docs" and len(pure.parts) > 1:
        inside = PurePosixPath(*pure.parts[1:])
        if inside.parts[0].startswith("_") or inside.name == "conf.py":
            return None
        return str(inside.with_name("index.md") if inside.name == "README.md" else inside)
    return None


def links_of(text: str) -> list[Link]:
    """Return the links and pictures of a Markdown text, fences left out."""
    found: list[Link] = []

    def note(line: int, target: str) -> str:
        found.append(Link(line, target))
        return target

    _over_links(text, note)
    return found


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A page with its links changed to where things stand in the book.

    Attributes
    ----------
    text : str
        Line by line as before, but for the links.
    files : list of str
        Files of the repository that are no pages of the book and have to be put under ``files``.
    faults : list of str
        Links that lead to no file, with page and line.
    """

    text: str
    files: list[str]
    faults: list[str]


def rewritten(text: str, origin: str, root: Path) -> Rewritten:
    """Change the links of a page to where things stand in the book.

    Parameters
    ----------
    text : str
        A Markdown page.
    origin : str
        Its path in the repository.
    root : Path
        The repository.

    Returns
    -------
    Rewritten
        The page, what it needs, and what is wrong with it.
    """
    here = place_of(origin)
    assert here is not None
    wanted: list[str] = []
    faults: list[str] = []

    def change(line: int, target: str) -> str:
        if not Link(line, target).is_relative:
            return target
        name, mark, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), name))
        path = _index_of(path, root)
        if path.startswith("..") or not (root / path).exists():
            faults.append(f"{origin}:{line}: the link {target!r} leads to no file")
            return target
        there = place_of(path)
        if there is None:
            wanted.append(path)
            there = f"{FILES}/{path}"
        return posixpath.relpath(there, posixpath.dirname(here) or ".") + mark + anchor

    return Rewritten(_over_links(text, change), wanted, faults)


def _index_of(path: str, root: Path) -> str:
    """Return the page that stands for a folder, or the path itself."""
    for name in ("index.md", "README.md", "GALLERY_HEADER.rst"):
        if (root / path / name).is_file():
            return f"{path}/{name}"
    return path


def _over_links(text: str, change: Callable[[int, str], str]) -> str:
    lines = text.split("\n")
    fence = ""
    for number, line in enumerate(lines):
        opened = _FENCE.match(line)
        if opened and not fence:
            fence = opened[1]
        elif opened and opened[1].startswith(fence) and line.strip() == opened[1]:
            fence = ""
        elif not fence:
            lines[number] = _CODE_OR_LINK.sub(partial(_changed, change, number + 1), line)
    return "\n".join(lines)


def _changed(change: Callable[[int, str], str], line: int, found: re.Match[str]) -> str:
    return found[0] if found[1] else found[2] + change(line, found[3]) + found[4]
