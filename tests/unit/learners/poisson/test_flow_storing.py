"""The basis split into pieces in the store: what comes back is what was worked out."""

from pathlib import Path

import numpy as np
import pytest

from beltrami import KnnGraph, eigenbasis
from beltrami.core.store import Store, remember
from beltrami.learners.foundation import Foundation
from beltrami.learners.poisson.flow import FlowSpace

BLOBS = np.random.default_rng(0).normal(size=(240, 2)) + 50 * (np.arange(240) % 2)[:, None]


@pytest.mark.filterwarnings("ignore:the graph fell into")
def test_the_second_space_is_the_first_bit_by_bit(tmp_path: Path):
    foundation = Foundation(KnnGraph(6, random_state=0).build(BLOBS))
    assert foundation.n_pieces > foundation.n_components
    basis = eigenbasis(foundation.graph, 10, kind="random_walk")
    spaces, told = [FlowSpace.of(foundation, basis)], []
    with remember(Store(tmp_path), tell=told.append, least_seconds=0):
        spaces += [FlowSpace.of(foundation, basis) for _ in range(2)]
        assert [line.split(":")[0] for line in told] == ["split basis"]
        other = eigenbasis(foundation.graph, 9, kind="random_walk", solver="dense")
        told.clear()
        FlowSpace.of(foundation, other)
    assert not any(line.startswith("split basis") for line in told)
    for name in ("functions", "values", "threads", "ties"):
        found = {(getattr(one, name).tobytes(), getattr(one, name).strides) for one in spaces}
        assert len(found) == 1
