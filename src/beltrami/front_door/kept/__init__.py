"""A labeller that is kept: a fitted front door becomes one file of plain arrays, and comes back."""
