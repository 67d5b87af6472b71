"""A second look: labels that seem wrong, what a prediction rests on, sets, audits."""
