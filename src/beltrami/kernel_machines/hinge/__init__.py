"""Support vector machines on a given kernel: the dual, its leave-one-out values, unknown signs."""
