"""What a job on partitions has learned, taken to be kept: its layout becomes a recipe.

It is the recipe of one table with numbers and vectors, so that a file that was learned from
partitions is applied as any other.
"""

import numpy as np

from beltrami.core.types import FloatVector
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.kept.table_labeller import KeptRoles, TableLabeller
from beltrami.partitions.reading.layout import Layout
from beltrami.tables import TableOptions
from beltrami.tables.features.parts import NumberPart, VectorPart
from beltrami.tables.features.recipe import Recipe

_PLAIN = (".", "", "", "")


def recipe_of(layout: Layout, fill: FloatVector, *, impute: bool = False) -> Recipe:
    """Return the recipe that makes the points of a layout, filled, of any table.

    - `fill`: what stands where a number is missing.
    - `impute`: whether gaps in vectors are filled, too; else their rows are left to the person.
    """
    dtype, start = layout.dtype.str, 0
    vectors = []
    for name in layout.roles.vectors:
        width = layout.widths[name]
        vectors.append(VectorPart(name, dtype, np.array(fill[start : start + width])))
        start += width
    columns = layout.roles.numeric
    d = len(columns)
    numbers = None
    if d:
        none, ones = np.zeros(d), np.ones(d)
        instead = np.array(fill[start:])
        numbers = NumberPart(columns, (_PLAIN,) * d, dtype, instead, (), "none", none, ones)
    return Recipe(vectors=tuple(vectors), numbers=numbers, impute=impute)


def labeller_of(
    labeller: KeptLabeller,
    layout: Layout,
    fill: FloatVector,
    options: TableOptions,
    facts: dict[str, str],
) -> TableLabeller:
    """Return what answers other tables from what was learned of representatives."""
    marker = "" if options.unlabeled is None else str(options.unlabeled).strip()
    roles = KeptRoles(layout.roles.id, layout.roles.label, marker)
    recipe = recipe_of(layout, fill, impute=options.impute)
    return TableLabeller(labeller, recipe, roles, float(labeller.own_far().mean()), facts)
