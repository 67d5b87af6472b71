"""Belkin's thesis (2003): figures A.1 to A.12, tables 3.1 to 3.3, sections 2.5 and 4."""
