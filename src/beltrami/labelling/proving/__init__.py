"""Audits by file: what was labelled enters; rows drawn, answers and certificates leave."""
