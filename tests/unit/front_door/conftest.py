"""Data that the tests of the front door share."""

import numpy as np
import pytest

from beltrami import load_dataset


@pytest.fixture(scope="session")
def digits():
    """Points and classes of 240 digits, 0 to 3."""
    found = load_dataset("digits")
    keep = np.flatnonzero(found.targets < 4)[:240]
    return found.points[keep], found.targets[keep]
