"""How candidates become one answer: believed by experience and by labels, and as sure as right."""
