"""Which labels may judge."""

import numpy as np

from beltrami.front_door.deciding.judgement import can_judge
from beltrami.learners.model import Labeled


def test_a_label_is_judged_where_its_class_has_another():
    labeled = Labeled(np.arange(4), np.eye(3)[[0, 0, 1, 2]], np.ones(4))
    assert can_judge(labeled).tolist() == [True, True, False, False]
