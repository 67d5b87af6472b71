"""A package, so that tests import what they share as ``tests.support``."""
