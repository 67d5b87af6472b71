"""Few labels and eigenfunctions: figures A.1 and A.9 to A.12, tables 3.1 to 3.3."""
