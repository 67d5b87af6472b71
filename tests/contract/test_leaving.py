"""What is no longer used leaves memory at once: no learner keeps itself alive by what it keeps."""

import gc
import inspect

import numpy as np
import pytest
from sklearn.base import is_regressor

import beltrami as bt
from beltrami.graph.model import Graph

MOONS = bt.two_moons(90, random_state=0)
IS_GIVEN = np.arange(90) % 9 == 0
CODES = np.where(IS_GIVEN, MOONS.targets, -1)
VALUES = np.where(IS_GIVEN, MOONS.targets, np.nan)
LEARNERS = [
    name
    for name in bt.__all__
    if inspect.isclass(getattr(bt, name)) and hasattr(getattr(bt, name), "fit")
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_and_its_graph_leave_without_the_garbage_collector(name):
    def fit() -> None:
        learner = getattr(bt, name)()
        learner.fit(MOONS.points, VALUES if is_regressor(learner) else CODES)

    fit()  # what is kept for good, such as compiled loops, is kept now
    gc.collect()
    gc.disable()
    try:
        before = _ours()
        fit()
        assert _ours() == before
    finally:
        gc.enable()


def _ours() -> list[str]:
    """Return the types of all learners and graphs in memory."""
    public = tuple(getattr(bt, name) for name in LEARNERS)
    return sorted(
        type(one).__name__ for one in gc.get_objects() if type(one) is Graph or type(one) in public
    )
