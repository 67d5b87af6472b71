"""A user's table: a file or an object in, features, ids and labels out, and results written."""

from beltrami.tables.columns.labels import GivenLabels, label_column, row_ids
from beltrami.tables.columns.roles import Roles, guess_roles
from beltrami.tables.features.matrix import Features, feature_matrix
from beltrami.tables.model import Table
from beltrami.tables.options import TableOptions
from beltrami.tables.reading.formats import join_side_labels, read_table
from beltrami.tables.writing import table_ending, table_facts, write_table

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
