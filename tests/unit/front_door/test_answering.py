"""What answers new points says what the members say, whichever of them is heard."""

import numpy as np
import pytest

from beltrami import ManifoldClassifier, load_dataset
from beltrami.front_door.answering.answerer import learner_answerer

METHODS = (
    "poisson", "regularized", "eigenfunctions", "laplacian_rls", "laplacian_svc", "logistic",
    "forest", "neighbors", "auto",
)  # fmt: skip

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.mark.parametrize("method", METHODS)
def test_the_answerer_says_of_new_points_what_the_members_say(method: str) -> None:
    digits = load_dataset("digits")
    y = np.where(np.arange(250) < 40, digits.targets[:250], -1)
    learner = ManifoldClassifier(method, random_state=0).fit(digits.points[:250], y)
    new = digits.points[250:300].astype(digits.points.dtype)
    plain, projected = learner._view.treat(new)
    members = learner._committee.at(projected, plain, learner._answer.judgement)
    answerer = learner_answerer(learner)
    assert answerer is not None
    np.testing.assert_allclose(answerer.at(new).scores, members, rtol=0, atol=1e-12)
