"""Check the links of built pages: files and anchors exist, addresses are well formed."""

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SKIPPED = ("_static/", "_modules/")
"""The theme's own files are not read for links."""


class _Page(HTMLParser):
    """Links and anchors of one page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.anchors: set[str] = set()
        self.pictures_without_words: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to, and what it can be linked by."""
        given = dict(attrs)
        line = self.getpos()[0]
        anchors = (given.get("id"), given.get("name") if tag == "a" else None)
        self.anchors.update(anchor for anchor in anchors if anchor)
        self.links += [(line, to) for name in ("href", "src") if (to := given.get(name))]
        if tag == "img" and "alt" not in given:
            self.pictures_without_words.append(line)


@dataclass(frozen=True, slots=True)
class LinkReport:
    """What was found.

    Attributes
    ----------
    n_pages : int
        Pages that were read.
    n_internal : int
        Links within the book.
    addresses : tuple of str
        Links elsewhere, each once.
    faults : tuple of str
        What is wrong, with page and line.
    """

    n_pages: int
    n_internal: int
    addresses: tuple[str, ...]
    faults: tuple[str, ...]


def check_links(folder: Path) -> LinkReport:
    """Check every link of the built pages of a folder, without network.

    Parameters
    ----------
    folder : Path
        Of HTML pages.

    Returns
    -------
    LinkReport
        Counts, addresses and faults.
    """
    pages = {path.relative_to(folder).as_posix(): _parsed(path) for path in _html_of(folder)}
    faults: list[str] = []
    addresses: set[str] = set()
    n_internal = 0
    for name, page in pages.items():
        faults += [f"{name}:{line}: a picture without alt" for line in page.pictures_without_words]
        for line, target in page.links:
            parts = urlsplit(target)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                addresses.add(target)
                fault = None if _is_well_formed(target) else "a malformed address"
            else:
                n_internal += 1
                fault = _fault_inside(folder, pages, name, target)
            if fault:
                faults.append(f"{name}:{line}: {target}: {fault}")
    return LinkReport(len(pages), n_internal, tuple(sorted(addresses)), tuple(faults))


def _html_of(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*.html"))
    return [path for path in found if not path.relative_to(folder).as_posix().startswith(SKIPPED)]


def _parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _fault_inside(folder: Path, pages: dict[str, _Page], name: str, target: str) -> str | None:
    parts = urlsplit(target)
    path = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
    path = path.resolve()
    if path.is_dir():
        path = path / "index.html"
    if not path.is_file() or not path.is_relative_to(folder.resolve()):
        return "no such file"
    page = pages.get(path.relative_to(folder.resolve()).as_posix())
    anchor = unquote(parts.fragment)
    if anchor and page is not None and anchor not in page.anchors:
        return "no such anchor"
    return None


def _is_well_formed(address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in {"http", "https"} and "." in parts.netloc and " " not in address
