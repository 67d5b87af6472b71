"""Layer 7: results become tables and figures for people."""
