"""What a job on partitions takes: memory, rows that learn, partitions at a time."""

from collections import Counter

import numpy as np
import pytest
from tests.support.partitions import plain_layout

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.moments import Moments
from beltrami.partitions.model import Survey
from beltrami.partitions.options import PartitionOptions
from beltrami.partitions.plan import make_plan

GIB = 2**30


@pytest.fixture(autouse=True)
def _held(monkeypatch):
    monkeypatch.setattr("beltrami.partitions.plan.held_bytes", lambda: 300 << 20)


def survey(n_rows, n_given):
    """Return what is known of rows of which some have a label."""
    labels = Counter({"a": n_given // 2, "b": n_given - n_given // 2})
    return Survey((n_rows,), Moments.none(2), labels)


def planned(n_rows, n_given, n_representatives=None, memory=64 * GIB, n_jobs=4):
    """Return the plan of a job on rows of two columns."""
    options = PartitionOptions(memory, n_representatives, n_jobs=n_jobs)
    return make_plan(options, plain_layout(), (), survey(n_rows, n_given))


def test_beside_more_labels_than_learn_as_a_rule_there_is_room_for_rows_without_one():
    assert planned(10**7, 1000).n_representatives == 50_000
    assert planned(10**7, 60_000).n_representatives == 70_000
    assert 60_002 <= planned(10**7, 60_000, memory=2 * GIB).n_representatives < 70_000


def test_fewer_rows_that_learn_than_have_a_label_are_refused():
    with pytest.raises(InvalidInputError, match=r"300 rows have a label.*at least 302"):
        planned(600, 300, 250)
    assert planned(600, 300, 302).n_representatives == 302
    assert planned(300, 300, 300).n_representatives == 300


@pytest.mark.parametrize("n", [0, -5, 2.5, "many"])
def test_a_number_of_rows_that_learn_that_is_none_is_refused(n):
    with pytest.raises(InvalidInputError, match=f"n_representatives={n!r} must be"):
        PartitionOptions(n_representatives=n)
    assert PartitionOptions(n_representatives=np.int64(5)).n_representatives == 5
