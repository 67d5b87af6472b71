"""A learner for each region of points on several manifolds."""
