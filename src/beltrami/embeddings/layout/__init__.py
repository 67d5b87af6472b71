"""A graph becomes a picture: two coordinates for every node, and for points that come later."""

from beltrami.embeddings.layout.layout import layout_graph
from beltrami.embeddings.layout.placement import place_new

__all__ = ["layout_graph", "place_new"]
