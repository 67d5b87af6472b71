"""How partitions are to be labelled: filled by the command line and by `label_partitions`."""

import re
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)

SHARE = 0.999
"""Of rows that are to be covered."""


@dataclass(frozen=True, slots=True)
class PartitionOptions:
    """What a user says about the work on partitions.

    Attributes
    ----------
    memory : int or None
        Bytes that the process may hold; None for half of what is free.
    n_representatives : int or None
        Rows that learn, at most; None for 50,000 and more beside many labels, as memory holds.
    coverage : float
        Share of rows that representatives are to cover.
    form : {"parquet", "csv"}
        Of the files that are written.
    n_jobs : int or None
        Partitions that are worked on at a time without a cluster; None for one a processor.
    """

    memory: int | None = None
    n_representatives: int | None = None
    coverage: float = SHARE
    form: str = "parquet"
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if self.form not in {"parquet", "csv"}:
            raise InvalidInputError(f"form={self.form!r} must be 'parquet' or 'csv'.")
        n = self.n_representatives
        if n is not None and (not isinstance(n, Integral) or n < 1):
            raise InvalidInputError(
                f"n_representatives={n!r} must be a whole number of rows from 1 up, or None."
            )
        if not 0 <= self.coverage <= 1:
            raise InvalidInputError(
                f"coverage={self.coverage!r} must be a share from 0 to 1, such as {SHARE}."
            )


def read_size(text: Any) -> int | None:
    """Return a number of bytes that is written as 3GiB, 500MB or a number; None for None.

    GB means GiB here: who limits memory wants the limit to hold for both.

    Examples
    --------
    >>> from beltrami.partitions.options import read_size
    >>> read_size("1.5GiB"), read_size("200M"), read_size(1000)
    (1610612736, 209715200, 1000)
    """
    if text is None:
        return None
    match = _SIZE.fullmatch(str(text))
    n_bytes = int(float(match[1]) * _UNITS[match[2].lower()]) if match else 0
    if n_bytes < 1:
        raise InvalidInputError(
            f"memory={text!r} is no size. Write a number and a unit, such as 3GiB or 500MiB."
        )
    return n_bytes


def require_seed(seed: Any) -> None:
    """Refuse what does not draw the same rows whenever the job is taken up."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidInputError(
            f"random_state={seed!r} must be a whole number from 0, so that the same rows are drawn "
            "wherever and whenever the job is taken up."
        )
