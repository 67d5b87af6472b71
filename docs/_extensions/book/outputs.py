"""What the blocks of a page print, committed beneath them for those who read it where it lies.

``python docs/_extensions/book/outputs.py tutorial guides/text`` runs pages and writes it; without
names, all pages that have some. The build shows what came in its own run, and a page that says
something else is a fault of it. Times may differ. Where every run prints another text a person
writes ``varies`` behind the fence's ``text printed``, and it is not compared.
"""

import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

from book.blocks import PRINTED, VARIES, Block, blocks_of, fences_of  # noqa: E402

_TIME = re.compile(r" *\d[\d.]*(?= ?(?:s|ms|min|seconds?|minutes?)\b)|\d\d:\d\d(?::\d\d)?")
_LAST = re.compile(r"  +\d+\.\d+$")
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Place:
    """A block of a page, and where what it printed stands beneath it.

    Attributes
    ----------
    block : Block
        The block.
    end : int
        Index of the line after its fence.
    printed : Block or None
        The fence beneath with what it printed, where there is one.
    printed_end : int
        Index of the line after that fence; `end` where there is none.
    """

    block: Block
    end: int
    printed: Block | None
    printed_end: int


def places_of(text: str, page: str) -> list[Place]:
    """Return the blocks of a page that are run, in order, with what is committed beneath them."""
    lines, fences = text.split("\n"), fences_of(text)
    by_line = {fence.line: fence for fence in fences}
    found = []
    for block in blocks_of(text, page):
        end = _end_of(block)
        beneath = by_line.get(end + 3) if lines[end : end + 1] == [""] else None
        if beneath is not None and beneath.language not in {PRINTED, VARIES}:
            beneath = None
        found.append(Place(block, end, beneath, end if beneath is None else _end_of(beneath)))
    return found


def without_outputs(text: str, page: str) -> str:
    """Return a page with what is committed beneath its blocks blanked, line by line."""
    lines = text.split("\n")
    for place in places_of(text, page):
        for index in range(place.end, place.printed_end):
            lines[index] = ""
    return "\n".join(lines)


def with_outputs(text: str, page: str, results: Sequence[dict[str, Any]]) -> str:
    """Return a page with what its blocks printed beneath them, in place of what was there."""
    lines = text.split("\n")
    for place, result in reversed(list(zip(places_of(text, page), results, strict=True))):
        lines[place.end : place.printed_end] = _fence(place, result["printed"])
    return "\n".join(lines)


def differences(text: str, page: str, results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield where a page with committed outputs says another thing than its blocks printed."""
    places = places_of(text, page)
    if all(place.printed is None for place in places):
        return
    for place, result in zip(places, results, strict=False):
        if place.block.is_hidden or (place.printed and place.printed.language == VARIES):
            continue
        said = place.printed.source.rstrip("\n") if place.printed else ""
        changed = difflib.unified_diff(
            _timeless(said), _timeless(result["printed"]), "committed", "printed", "", "", 0, ""
        )
        if shown := "\n".join(changed):
            yield f"{page}, line {place.block.line}: the page shows another output\n{shown}"


def _timeless(text: str) -> list[str]:
    """Return lines without times: numbers before a unit, and below a heading that ends in s."""
    lines, is_below = [], False
    for line in _TIME.sub("...", text).split("\n") if text else []:
        is_below = line.endswith("  s") or (is_below and _LAST.search(line) is not None)
        lines.append(_LAST.sub("  ...", line) if is_below else line)
    return lines


def _end_of(fence: Block) -> int:
    """Return the index of the line after a fence."""
    return fence.line + fence.source.count("\n")


def _fence(place: Place, printed: str) -> list[str]:
    """Return the lines of a fence with what a block printed, the empty one above included."""
    if not printed or place.block.is_hidden:
        return []
    longest = max((len(found) for found in _FENCE.findall(printed)), default=2)
    marks = "`" * (longest + 1)
    mark = place.printed.language if place.printed else PRINTED
    return ["", f"{marks}{mark}", *printed.split("\n"), marks]


def main(names: Sequence[str]) -> int:
    """Run pages and write what they print; return 1 where a block fails."""
    from book.runs import hash_of_sources, run_pages

    paths = {name: ROOT / "docs" / f"{name}.md" for name in names} or _written()
    texts = {name: path.read_text("utf-8") for name, path in paths.items()}
    kept = ROOT / "out" / "docs" / "source" / "executed"  # where the build looks for it, too
    blocks = {name: blocks_of(text, name) for name, text in texts.items()}
    package = hash_of_sources(ROOT / "src" / "beltrami")
    runs = run_pages(blocks, kept, package, note=lambda words: print(words, flush=True))
    n_faults = 0
    for name, run in runs.items():
        failed = [result["failure"] for result in run.results if "failure" in result]
        for failure in failed:
            print(f"{name}: {failure}", file=sys.stderr)
        n_faults += len(failed)
        if not failed:
            paths[name].write_text(with_outputs(texts[name], name, run.results), "utf-8")
    return 1 if n_faults else 0


def _written() -> dict[str, Path]:
    """Return the pages that have outputs, by name."""
    docs = ROOT / "docs"
    paths = {
        path.relative_to(docs).as_posix().removesuffix(".md"): path for path in docs.rglob("*.md")
    }
    return {
        name: path
        for name, path in sorted(paths.items())
        if any(place.printed for place in places_of(path.read_text("utf-8"), name))
    }


if __name__ == "__main__":
    sys.exit(main([name.removeprefix("docs/").removesuffix(".md") for name in sys.argv[1:]]))
