"""Repulsion between all pairs of an embedding: exact, by tiles, by random waves."""
