"""How a fitted front door answers new points: from plain arrays, in memory as from a file."""
