"""The file of a labeller that takes tables: the kept labeller, with the recipe beside it."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.store import Parcel
from beltrami.core.store.records import put_together, take_apart
from beltrami.front_door.kept.file import WRONG, read_labeller, write_labeller
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.kept.table_labeller import KeptRoles, TableLabeller
from beltrami.tables.features.packing import has_recipe, pack_recipe, unpack_recipe

_ROLES, _ORIGIN = "roles", "origin"


@dataclass(frozen=True, slots=True, eq=False)
class _Origin:
    """Where a labeller comes from, as it stands in the file."""

    usual: float
    facts: dict[str, str]


def write_table_labeller(labeller: TableLabeller, path: Path) -> Path:
    """Write a labeller that takes tables, whole or not at all."""
    more = Parcel({}, {})
    pack_recipe(more, labeller.recipe)
    take_apart(more, _ROLES, labeller.roles)
    take_apart(more, _ORIGIN, _Origin(labeller.usual, labeller.facts))
    return write_labeller(labeller.labeller, path, more)


def load_table_labeller(path: Path) -> TableLabeller:
    """Return the labeller of a file that takes tables; raise for one that takes points only."""
    found = load(path)
    if isinstance(found, TableLabeller):
        return found
    raise InvalidInputError(
        f"{str(path)!r} was learned from an array and knows nothing of the columns of a table. Use "
        "it in Python: bt.load(FILE).predict(points); or keep one by beltrami label --save."
    )


def load(path: Path | str) -> KeptLabeller | TableLabeller:
    """Return a labeller that was kept in a file.

    It gives the probabilities that the learner in memory gives to new points, to the last bit on
    the same machine. The file is checked whole before anything of it is used, and nothing in it is
    run.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    KeptLabeller or TableLabeller
        With ``classes_``, ``predict``, ``predict_proba``, and ``judge``, which also says which
        answers may be used and which rows are unlike what the labeller saw. One that was learned
        from a table, by `Labelling.save` or ``beltrami label --save``, takes tables, and has
        ``apply``, too; one of `ManifoldClassifier.save` takes points.

    Raises
    ------
    InvalidInputError
        For what is no labeller, such as a project, one of another form, or one that is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> y = np.where(np.arange(200) % 20 == 0, moons.targets, -1)
    >>> learner = bt.ManifoldClassifier(random_state=0).fit(moons.points, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kept = bt.load(learner.save(Path(folder) / "moons.beltrami"))
    >>> new = moons.points[:5] + 0.01
    >>> bool((kept.predict_proba(new) == learner.predict_proba(new)).all())
    True
    """
    labeller, parcel = read_labeller(Path(path))
    if not has_recipe(parcel):
        return labeller
    try:
        return _with_recipe(labeller, parcel)
    except WRONG as error:
        if isinstance(error, BeltramiError):
            raise
        raise InvalidInputError(
            f"{str(path)!r} lacks a part that the labeller of a table has ({error!r}). Save it "
            "anew."
        ) from error


def _with_recipe(labeller: KeptLabeller, parcel: Parcel) -> TableLabeller:
    origin: Any = put_together(parcel, _ORIGIN, _Origin)
    roles = put_together(parcel, _ROLES, KeptRoles)
    recipe = unpack_recipe(parcel)
    if recipe.width != labeller.n_features:
        raise ValueError(f"{recipe.width} columns for {labeller.n_features}")
    _require_texts(roles, origin)
    return TableLabeller(labeller, recipe, roles, float(origin.usual), origin.facts)


def _require_texts(roles: KeptRoles, origin: _Origin) -> None:
    """Raise where a role or a fact is not of the kind that it should be."""
    named = [one for one in (roles.id, roles.label, roles.decimal) if one is not None]
    facts = [*origin.facts, *origin.facts.values()]
    if not all(isinstance(one, str) for one in (*named, *facts, roles.marker)):
        raise TypeError("a role or a fact that is no text")
    if roles.decimal not in (None, ".", ",") or not isfinite(origin.usual):
        raise ValueError("a sign of decimals or a share that is none")
