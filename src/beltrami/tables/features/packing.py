"""How a recipe becomes arrays and facts, and comes back with the same bits.

What makes features is kept: words with their weights, categories, medians. No cell of a row is.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from beltrami.core.store import Parcel
from beltrami.core.store.records import put_together, take_apart
from beltrami.tables.features.parts import CategoryPart, MatrixPart, NumberPart, VectorPart
from beltrami.tables.features.recipe import OtherScales, Recipe
from beltrami.tables.features.texts import ModelPart, WordPart

_NAME = "recipe"
_KINDS: dict[str, type[Any]] = {
    "matrix": MatrixPart,
    "vectors": VectorPart,
    "numbers": NumberPart,
    "categories": CategoryPart,
    "words": WordPart,
    "model": ModelPart,
    "beside": OtherScales,
}


def pack_recipe(parcel: Parcel, recipe: Recipe) -> None:
    """Add a recipe to a parcel."""
    texts = "model" if isinstance(recipe.texts, ModelPart) else "words"
    named = [
        ("matrix", recipe.matrix),
        *(("vectors", one) for one in recipe.vectors),
        ("numbers", recipe.numbers),
        ("categories", recipe.categories),
        (texts, recipe.texts),
        ("beside", recipe.beside),
    ]
    parts = [(kind, part) for kind, part in named if part is not None]
    for place, (_, part) in enumerate(parts):
        take_apart(parcel, f"{_NAME}.{place}", part)
    parcel.facts[_NAME] = [[kind for kind, _ in parts], recipe.impute, recipe.zeros]


def has_recipe(parcel: Parcel) -> bool:
    """Say whether a parcel holds a recipe."""
    return _NAME in parcel.facts


def unpack_recipe(parcel: Parcel) -> Recipe:
    """Return the recipe that a parcel holds; KeyError where a part is not there."""
    kinds, impute, zeros = parcel.facts[_NAME]
    parts = [
        (kind, put_together(parcel, f"{_NAME}.{place}", _KINDS[kind]))
        for place, kind in enumerate(kinds)
    ]
    one = dict(parts)
    recipe = Recipe(
        one.get("matrix"),
        tuple(part for kind, part in parts if kind == "vectors"),
        one.get("numbers"),
        one.get("categories"),
        one.get("words", one.get("model")),
        one.get("beside"),
        bool(impute),
        str(zeros),
    )
    _require_whole(recipe)
    return recipe


def _require_whole(recipe: Recipe) -> None:
    """Raise ValueError where what a recipe holds for its columns is not of their number."""
    numbers, categories, texts = recipe.numbers, recipe.categories, recipe.texts
    held: list[Any]
    others = sum(len(one.names) for one in recipe.vectors)
    if numbers is not None:
        d = len(numbers.columns)
        held = [numbers.styles, numbers.instead, numbers.centers, numbers.spreads]
        _require(d > 0 and _have_length(held, d), "the numbers")
        _require(all(len(one) == 4 for one in numbers.styles), "the styles of numbers")
        _require(numbers.scale in ("none", "common", "standard"), "the scale of numbers")
        others += len(numbers.names)
    if categories is not None:
        held = [categories.values, categories.has_gap, categories.is_number]
        _require(_have_length(held, len(categories.columns)), "the categories")
        others += len(categories.names)
    if isinstance(texts, WordPart):
        order, n = np.sort(texts.order), len(texts.words)
        _require(n > 0 and order.dtype.kind == "i", "the words")
        _require(np.array_equal(order, np.arange(n)) and len(texts.rarity) == n, "the words")
    for one in (recipe.matrix, *recipe.vectors, numbers):
        _require(one is None or np.dtype(one.dtype) in (np.float32, np.float64), "the floats")
    beside = recipe.beside
    _require((beside is not None) == (texts is not None and others > 0), "the other columns")
    if beside is not None:
        _require(_have_length([beside.centers, beside.spreads], others), "the other columns")
    _require(all(isinstance(name, str) for name in recipe.columns), "the names of columns")
    _require(recipe.width > 0, "the columns")


def _have_length(parts: Sequence[Any], length: int) -> bool:
    return all(len(one) == length for one in parts)


def _require(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} do not fit the rest")
