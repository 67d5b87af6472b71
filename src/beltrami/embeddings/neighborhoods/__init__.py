"""How likely each point is a neighbour of another, among points and from new ones."""
