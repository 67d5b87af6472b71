"""The front door: learners that choose among learners, and say how far to trust the answer."""
