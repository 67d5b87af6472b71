"""Maps of graphs for people to look at: two coordinates for every node."""

from beltrami.embeddings.layout.layout import layout_graph

__all__ = ["layout_graph"]
