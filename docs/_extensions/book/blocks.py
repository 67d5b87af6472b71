"""The fences of a Markdown page that the book runs."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

RUN = ("python", "sh")
"""Languages of fences that are run."""

PRINTED, VARIES = "text printed", "text printed varies"
"""Marks of fences that hold what the block above printed; of some every run prints another text."""

AGREED = (*RUN, "text", PRINTED, VARIES)
"""Languages that a page of the book may use; ``text`` is for what is not to be run."""

NOT_RUN = ("reproductions/", "contests/", "decisions/", "project/", "gallery/")
"""Folders whose pages come from elsewhere in the repository and quote code without running it."""

PYTHON_ONLY = ("project/readme",)
"""Pages whose Python is run while the shell's lines, which install things, are not."""

_ALT = re.compile(r"^#\s*alt:\s*(.+)$", re.MULTILINE)
_HIDDEN = re.compile(r"#\s*hidden\s*\n?")


@dataclass(frozen=True, slots=True)
class Block:
    """A fence of code.

    Attributes
    ----------
    language : str
        ``python``, ``sh`` or another.
    source : str
        As it stands on the page.
    line : int
        Of its first line of code on the page, from one.
    """

    language: str
    source: str
    line: int

    @property
    def alt(self) -> list[str]:
        """What its figures show, in words; one for all of them, or one each."""
        return _ALT.findall(self.source)

    @property
    def is_hidden(self) -> bool:
        """Whether it only sets things up."""
        return _HIDDEN.match(self.source) is not None

    @property
    def shown(self) -> str:
        """What a reader sees of it."""
        return "".join(
            line for line in self.source.splitlines(keepends=True) if not _ALT.match(line)
        ).strip("\n")


def fences_of(text: str) -> list[Block]:
    """Return all fences of a Markdown page, directives such as ``{toctree}`` included."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        Block(token.info.strip(), token.content, (token.map or [0])[0] + 2)
        for token in tokens
        if token.type == "fence"
    ]


def blocks_of(text: str, page: str) -> list[Block]:
    """Return the fences of a page that are to be run.

    Parameters
    ----------
    text : str
        The page.
    page : str
        Its name in the book, without suffix.

    Returns
    -------
    list of Block
        In order; none where the page is not run.
    """
    if page in PYTHON_ONLY:
        return [block for block in fences_of(text) if block.language == "python"]
    if page.startswith(NOT_RUN):
        return []
    return [block for block in fences_of(text) if block.language in RUN]
