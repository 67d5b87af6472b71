"""Labels that look like slips: counted classes enter, remarks leave, nothing changes."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from beltrami.data.model import UNLABELED
from beltrami.tables.columns.numerals import NULL_WORDS
from beltrami.tables.model import few_of

_MANY_CLASSES = 20
_MOST_COMPARED = 300
_SHORTEST_WORD = 4
_MUCH_RARER = 3
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_MINUS_ONE = re.compile(r"-1(\.0*)?")
_NOTHING = {word.casefold() for word in NULL_WORDS if word}


def is_minus_one(value: Any) -> bool:
    """Say whether a label is -1, as a number or as written."""
    if isinstance(value, str):
        return _MINUS_ONE.fullmatch(value.strip()) is not None
    return type(value) is int and value == UNLABELED


def number_value(value: Any) -> float | None:
    """Return the number that a label writes, None where it is a word."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value.strip()) else None
    return float(value)


def label_slips(counts: Counter[Any], name: str) -> list[str]:
    """Return remarks on classes that may not be meant as such."""
    texts = [value for value in counts if isinstance(value, str)]
    remarks = [*_markers(counts), *_spellings(texts), *_near_words(counts)]
    numbers = [value for value in texts if number_value(value) is not None]
    if numbers and len(numbers) < len(texts):
        word = next(value for value in texts if value not in numbers)
        remarks.append(
            f"column {name!r} mixes numbers such as {numbers[0]!r} and words such as {word!r}; all "
            "are taken as texts"
        )
    n = counts.total()
    if len(counts) > _MANY_CLASSES and 2 * len(counts) > n:
        remarks.append(
            f"column {name!r} has {len(counts)} classes for {n} labels; is it a column of classes?"
        )
    return remarks


def _markers(counts: Counter[Any]) -> list[str]:
    """Name the classes that elsewhere mark rows without a label."""
    markers = [
        value
        for value in counts
        if is_minus_one(value) or (isinstance(value, str) and value.strip().casefold() in _NOTHING)
    ]
    return [
        f"{value!r} counts as a class ({counts[value]} rows); if it marks rows without a label: "
        f"--unlabeled {value if is_minus_one(value) else repr(value)} (unlabeled={value!r})"
        for value in markers
    ]


def same_names(texts: Iterable[str]) -> list[list[str]]:
    """Return groups of names that differ only by case, spaces or the way a number is written."""
    groups: dict[Any, list[str]] = defaultdict(list)
    for value in texts:
        folded = " ".join(unicodedata.normalize("NFKC", value).casefold().split())
        number = number_value(folded)
        groups[folded if number is None else number].append(value)
    return [sorted(group) for group in groups.values() if len(group) > 1]


def near_names(counts: Mapping[Any, int]) -> list[tuple[str, str]]:
    """Return words that are one letter off one that is much more frequent, with that one."""
    texts = [value for value in counts if isinstance(value, str)]
    words = [value for value in texts if value.isalpha() and len(value) >= _SHORTEST_WORD]
    if len(words) > _MOST_COMPARED:
        return []
    pairs = (sorted(pair, key=lambda word: counts[word]) for pair in combinations(words, 2))
    return [
        (rare, usual)
        for rare, usual in pairs
        if _MUCH_RARER * counts[rare] <= counts[usual] and _is_one_letter_off(rare, usual)
    ]


def _spellings(texts: list[str]) -> list[str]:
    return [
        f"labels {few_of(group)} differ only by case, by spaces or by the way a number is "
        f"written, and count as {len(group)} classes; correct them if they are one"
        for group in same_names(texts)
    ]


def _near_words(counts: Counter[Any]) -> list[str]:
    return [
        f"label {rare!r} ({counts[rare]} rows) is one letter off {usual!r} ({counts[usual]} rows) "
        "and counts as a class; correct it if they are one"
        for rare, usual in near_names(counts)
    ]


def _is_one_letter_off(one: str, other: str) -> bool:
    short, long = sorted((one.casefold(), other.casefold()), key=len)
    if short == long or len(long) - len(short) > 1:
        return False
    start = next(
        (i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    return short[start + (len(short) == len(long)) :] == long[start + 1 :]
