"""Gather the book's sources from all over the repository into one folder for Sphinx.

Pages keep their lines, so a message about a line is about the same line of the page's own file;
outputs that are committed beneath their blocks become empty lines, since the build sets its own.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from book.bibliography import bibliography_markdown
from book.outputs import without_outputs
from book.places import FILES, PROJECT_PAGES, place_of, rewritten

CONTENTS = "\n```{{toctree}}\n:glob:\n:{shown}:\n\n*\n```\n"
"""What is added to an index that lists its pages only as links, or not at all."""

GENERATED = ("gallery", "reference/generated", "executed", "sg_execution_times.rst")
"""What Sphinx and its extensions write into the folder; left alone."""


@dataclass(slots=True)
class Gathering:
    """What was brought together.

    Attributes
    ----------
    pages : list of str
        Places of the Markdown pages in the book.
    faults : list of str
        Links that lead nowhere.
    kept : set of Path
        All files that belong there.
    """

    pages: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    kept: set[Path] = field(default_factory=set)


def gather(root: Path, stage: Path) -> Gathering:
    """Bring all sources of the book into a folder; what has not changed is not touched.

    Parameters
    ----------
    root : Path
        The repository.
    stage : Path
        The folder for Sphinx.

    Returns
    -------
    Gathering
        The pages and the links that lead nowhere.
    """
    gathering = Gathering()
    for origin in sorted(_sources(root)):
        place = place_of(origin)
        if place is None or not (root / origin).is_file():
            continue
        if not place.endswith(".md"):
            _copy(root / origin, stage / place, gathering)
            continue
        text = without_outputs((root / origin).read_text("utf-8"), place.removesuffix(".md"))
        page = rewritten(text, origin, root)
        _write(_completed(page.text, origin, root), stage / place, gathering)
        gathering.pages.append(place)
        gathering.faults += page.faults
        for path in page.files:
            _copy(root / path, stage / FILES / path, gathering)
    _remove_strangers(stage, gathering.kept)
    return gathering


def _sources(root: Path) -> Iterator[str]:
    yield from (f"{name}.md" for name in PROJECT_PAGES)
    yield "benchmarks/README.md"
    for folder in ("docs", "benchmarks/results"):
        for path in (root / folder).rglob("*"):
            inside = path.relative_to(root / folder)
            if path.is_file() and inside.parts[0] != "gallery" and "__pycache__" not in path.parts:
                yield path.relative_to(root).as_posix()


def _completed(text: str, origin: str, root: Path) -> str:
    """Fill in what is made from elsewhere: the bibliography, lists of pages."""
    makers: dict[str, Callable[[], str]] = {
        "<!-- bibliography -->": lambda: bibliography_markdown(root / "docs" / "references.bib"),
    }
    for mark, make in makers.items():
        if mark in text:
            text = text.replace(mark, make())
    is_index = origin.count("/") == 2 and origin.endswith(("/README.md", "/index.md"))
    if is_index and "{toctree}" not in text:
        text += CONTENTS.format(shown="hidden" if "](" in text else "titlesonly")
    return text


def _write(text: str, target: Path, gathering: Gathering) -> None:
    gathering.kept.add(target)
    if not target.is_file() or target.read_text("utf-8") != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


def _copy(source: Path, target: Path, gathering: Gathering) -> None:
    gathering.kept.add(target)
    if not target.is_file() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _remove_strangers(stage: Path, kept: set[Path]) -> None:
    for path in stage.rglob("*"):
        inside = path.relative_to(stage).as_posix()
        if path.is_file() and path not in kept and not inside.startswith(GENERATED):
            path.unlink()
