"""Whether a file is whole: it and one that is known to be enter, what is wrong leaves."""

import csv
import json
from pathlib import Path

from PIL import Image


def fault_of(path: Path, known: Path) -> str | None:
    """Return what is wrong with a file, None where it is whole.

    `known` is the same file of a run to the end, where there is one.
    """
    content = path.read_bytes()
    if known.exists() and known.read_bytes() == content:
        return None
    if not content:
        return "it is empty"
    try:
        return _KINDS[path.suffix](path, known)
    except KeyError:
        return f"nobody knows what a whole {path.suffix!r} is"
    except (ValueError, OSError, SyntaxError, csv.Error) as error:
        return f"{type(error).__name__}: {error}"


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def _fault_of_csv(path: Path, known: Path) -> str | None:
    rows = _rows(path)
    if {len(row) for row in rows} != {len(rows[0])}:
        return "rows differ in length"
    if not path.read_bytes().endswith(b"\n"):
        return "the last line has no end"
    n_rows = len(_rows(known)) if known.exists() else len(rows)
    return None if len(rows) == n_rows else f"{len(rows)} of {n_rows} rows"


def _fault_of_json(path: Path, known: Path) -> str | None:
    record = json.loads(path.read_text(encoding="utf-8"))
    if not known.exists():
        return None
    lost = json.loads(known.read_text(encoding="utf-8")).keys() - record.keys()
    return f"without {sorted(lost)}" if lost else None


def _fault_of_page(path: Path, _: Path) -> str | None:
    is_whole = path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    return None if is_whole else "the page has no end"


def _fault_of_picture(path: Path, _: Path) -> str | None:
    with Image.open(path) as picture:
        picture.load()
    return None


def _fault_of_text(path: Path, known: Path) -> str | None:
    if not known.exists():
        return None
    n_lines, expected = (len(one.read_text("utf-8").splitlines()) for one in (path, known))
    return None if n_lines == expected else f"{n_lines} of {expected} lines"


_KINDS = {
    ".csv": _fault_of_csv,
    ".json": _fault_of_json,
    ".html": _fault_of_page,
    ".png": _fault_of_picture,
    ".md": _fault_of_text,
}
