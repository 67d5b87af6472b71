"""The bibliography as a page: each entry of the ``.bib`` file is a citation to link to."""

import re
from pathlib import Path
from unicodedata import normalize

_ENTRY = re.compile(r"@(\w+)\{(\w+),\n(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?$", re.MULTILINE | re.DOTALL)
_VENUES = ("journal", "booktitle", "school", "howpublished", "publisher", "institution")
_ACCENT = re.compile(r"\{?\\([\"'`~^])\{?(\w)\}?\}?")
_COMBINING = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "~": "\u0303", "^": "\u0302"}


def entries_of(text: str) -> dict[str, dict[str, str]]:
    """Return the fields of each entry of a ``.bib`` file by its key."""
    return {
        key: {name.lower(): _plain(value) for name, value in _FIELD.findall(body)}
        for _, key, body in _ENTRY.findall(text)
    }


def bibliography_markdown(path: Path) -> str:
    """Return citations for all entries of a ``.bib`` file, sorted by key."""
    entries = entries_of(path.read_text("utf-8"))
    lines = [f".. [{key}] {_sentence(entries[key])}" for key in sorted(entries)]
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def _plain(value: str) -> str:
    value = _ACCENT.sub(lambda found: found[2] + _COMBINING[found[1]], value)
    value = re.sub(r"[{}]", "", normalize("NFC", value)).replace("--", "-").replace("\\&", "&")
    return " ".join(value.split())


def _authors(names: str) -> str:
    people = []
    for name in names.split(" and "):
        last, _, first = name.partition(", ")
        people.append(f"{first} {last}".strip())
    return people[0] if len(people) == 1 else ", ".join(people[:-1]) + " and " + people[-1]


def _sentence(entry: dict[str, str]) -> str:
    parts = [_authors(entry["author"]), f"*{entry['title']}*"]
    venue = next((entry[name] for name in _VENUES if name in entry), "")
    if venue:
        volume = f" {entry['volume']}" if "volume" in entry else ""
        issue = f" ({entry['number']})" if "number" in entry else ""
        parts.append(f"{venue}{volume}{issue}")
    parts += [f"pages {entry['pages']}"] if "pages" in entry else []
    parts += [entry["year"]] if "year" in entry else []
    parts += [entry["note"]] if "note" in entry else []
    return ". ".join(part.rstrip(".") for part in parts) + "."
