"""Each method alone, as it comes: the forest has all its trees here."""

import numpy as np
import pytest

from beltrami import ManifoldClassifier
from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES


@pytest.mark.parametrize("method", [candidate.name for candidate in CLASS_CANDIDATES])
def test_each_candidate_can_be_asked_for(method, digits):
    y = np.where(np.arange(240) < 40, digits[1], -1)
    learner = ManifoldClassifier(method, random_state=0).fit(digits[0], y)
    assert learner.method_ == method
    assert learner.weights_[method] == 1
    assert (learner.transduction_ == digits[1]).mean() > 0.9
    assert learner.candidate_codes(method).shape == (240,)
    np.testing.assert_array_equal(learner.predict(digits[0][200:]), learner.transduction_[200:])
