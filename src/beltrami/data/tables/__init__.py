"""A user's table: a file or an object in, features, ids and labels out, and results written."""

from beltrami.data.tables.features import Features, feature_matrix
from beltrami.data.tables.labels import GivenLabels, label_column, row_ids
from beltrami.data.tables.model import Table
from beltrami.data.tables.reading import read_table
from beltrami.data.tables.roles import Roles, guess_roles
from beltrami.data.tables.writing import table_ending, table_facts, write_table

__all__ = [
    "Features",
    "GivenLabels",
    "Roles",
    "Table",
    "feature_matrix",
    "guess_roles",
    "label_column",
    "read_table",
    "row_ids",
    "table_ending",
    "table_facts",
    "write_table",
]
