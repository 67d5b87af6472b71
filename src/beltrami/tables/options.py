"""How a table is to be read: what the command line and `label` fill in, and this room takes."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

KIND_LISTS = ("text", "categories", "numbers")
"""The options that list columns and say what these hold."""

FEATURE_LISTS = ("features", *KIND_LISTS)
"""The options that list columns to compare rows by."""

COLUMN_LISTS = (*FEATURE_LISTS, "ignore")
"""All options that list columns."""


@dataclass(frozen=True, slots=True, eq=False)
class TableOptions:
    """What a user says about a table; what is left out is guessed.

    Attributes
    ----------
    label : str or None
        Column of the labels; None looks for one called label, class, target and the like.
    id : str or None
        Column of the ids; None looks for one, else row numbers serve.
    features, text : sequence of str
        Columns to compare rows by, and those of them that hold texts; where either names some, no
        other column is used.
    categories, numbers : sequence of str
        Columns that are features of that kind, whatever they look like, beside the others.
    ignore : sequence of str
        Columns to leave out.
    embeddings : path, str, array, table or None
        Vectors to compare rows by, alone: a file, the name of a column of lists, or an object. What
        lies beside the data has its rows in their order, or ids.
    text_model : path or None
        Folder of a static embedding model, by which texts become vectors; None weighs their words.
    labels : path, table, list of these or None
        Tables of ids and labels, joined on the ids; they come on top of those in the data.
    unlabeled : object
        What marks a row without a label, besides empty cells; "" says that nothing else does, and
        that -1 is a class.
    delimiter : str or None
        What separates the fields of a csv file; None finds out.
    decimal : {".", ","} or None
        Sign before the decimals of numbers in texts, where the cells do not tell.
    impute : bool
        Whether what is not finite in a matrix or in vectors is filled, by medians.
    min_classes : int
        Classes that must have a label; 0 where labels are not needed.
    """

    label: str | None = None
    id: str | None = None
    features: Sequence[str] = ()
    text: Sequence[str] = ()
    categories: Sequence[str] = ()
    numbers: Sequence[str] = ()
    ignore: Sequence[str] = ()
    embeddings: Any = None
    text_model: str | os.PathLike[str] | None = None
    labels: Any = None
    unlabeled: Any = None
    delimiter: str | None = None
    decimal: str | None = None
    impute: bool = False
    min_classes: int = 2

    def __post_init__(self) -> None:
        for role in COLUMN_LISTS:
            names = getattr(self, role)
            if names is None or isinstance(names, str):
                names = () if names is None else (names,)
            object.__setattr__(self, role, tuple(names))

    @property
    def named_features(self) -> tuple[str, ...]:
        """The columns that the user wants as features."""
        return tuple(dict.fromkeys([*self.features, *self.text, *self.categories, *self.numbers]))

    @property
    def is_exclusive(self) -> bool:
        """Whether no column is used but those that are named."""
        return bool(self.features or self.text)

    @property
    def side_labels(self) -> tuple[Any, ...]:
        """The tables of labels beside the data, in the order in which they are joined."""
        if self.labels is None:
            return ()
        return tuple(self.labels) if isinstance(self.labels, list | tuple) else (self.labels,)

    @property
    def beside(self) -> tuple[Any, ...]:
        """All that is read besides the data."""
        return self.side_labels if self.embeddings is None else (self.embeddings, *self.side_labels)


DEFAULTS = TableOptions()
"""Everything is guessed, and two classes must have a label."""
