# Where each name of this room lives: read by type checkers, and by the room itself.

from .job import label_partitions
from .model import Coverage
from .options import PartitionOptions
from .reading.sources import find_partitions, is_partitioned
from .result import PartitionedLabelling

__all__ = [
    "Coverage",
    "PartitionOptions",
    "PartitionedLabelling",
    "find_partitions",
    "is_partitioned",
    "label_partitions",
]
