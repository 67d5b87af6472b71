"""The multi-manifold learners: points are separated into regions, each with its own learner."""
