"""Support vector machines on a given kernel: the dual, and solvers in the primal."""
