"""A labeller that is kept: the recipe of its table beside it; new rows enter, answers leave."""
