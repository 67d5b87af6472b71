"""How a recipe becomes arrays and facts, and comes back with the same bits.

What makes features is kept: words with their weights, categories, medians. No cell of a row is.
"""

from typing import Any

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
    return Recipe(
        one.get("matrix"),
        tuple(part for kind, part in parts if kind == "vectors"),
        one.get("numbers"),
        one.get("categories"),
        one.get("words", one.get("model")),
        one.get("beside"),
        bool(impute),
        str(zeros),
    )
