"""The compiled search for the leading classes of rows, beside its twin: arrays in, arrays out."""

import numpy as np

from beltrami.core.machine.compiled import njit

_BLOCK = 512  # rows that are worked on together


def lead_rows_reference(shares, codes, largest, second):
    """Twin of `lead_rows`, class by class."""
    codes[:] = 0
    largest[:] = shares[:, 0]
    second[:] = 0
    for code in range(1, shares.shape[1]):
        column = shares[:, code]
        codes[column > largest] = code
        np.maximum(second, np.minimum(column, largest), out=second)
        np.maximum(largest, column, out=largest)


# One signature a precision, for any strides: each further one would be compiled on first use.
@njit(
    [
        "void(float32[:, :], int64[:], float32[:], float32[:])",
        "void(float64[:, :], int64[:], float64[:], float64[:])",
    ],
    cache=True,
)
def lead_rows(shares, codes, largest, second):
    """Write each row's first class, what it has, and what the second has, zero at least.

    Some rows at a time, class by class and without a branch: which class leads is hard to foresee,
    and a processor that guesses it wrong takes three times as long.
    """
    n, k = shares.shape
    column = np.empty(_BLOCK, shares.dtype)
    high = np.empty(_BLOCK, shares.dtype)
    low = np.empty(_BLOCK, shares.dtype)
    first = np.empty(_BLOCK, np.int32)
    for begin in range(0, n, _BLOCK):
        count = min(_BLOCK, n - begin)
        for r in range(count):
            high[r] = shares[begin + r, 0]
            low[r] = 0
            first[r] = 0
        for code in range(1, k):
            for r in range(count):
                column[r] = shares[begin + r, code]
            for r in range(count):
                value = column[r]
                is_more = value > high[r]
                lesser = high[r] if is_more else value
                low[r] = lesser if lesser > low[r] else low[r]
                high[r] = value if is_more else high[r]
                first[r] = code if is_more else first[r]
        for r in range(count):
            codes[begin + r] = first[r]
            largest[begin + r] = high[r]
            second[begin + r] = low[r]
