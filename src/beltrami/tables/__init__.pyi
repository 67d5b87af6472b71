# Where each name of this room lives: read by type checkers, and by the room itself.

from .columns.labels import GivenLabels, label_column, row_ids
from .columns.roles import Roles, guess_roles
from .features.matrix import Features, feature_matrix
from .model import Table
from .options import TableOptions
from .reading.formats import join_side_labels, read_table
from .writing import table_ending, table_facts, write_table

__all__ = [
    "Features",
    "GivenLabels",
    "Roles",
    "Table",
    "TableOptions",
    "feature_matrix",
    "guess_roles",
    "join_side_labels",
    "label_column",
    "read_table",
    "row_ids",
    "table_ending",
    "table_facts",
    "write_table",
]
