"""Results become tables and figures for people."""
