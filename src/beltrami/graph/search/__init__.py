"""Nearest-neighbour search: one `Space` per kind of data, chosen by `open_space`."""

from beltrami.graph.search.spaces import Space, open_part, open_space

__all__ = ["Space", "open_part", "open_space"]
