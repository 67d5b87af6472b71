"""Chapelle, Schölkopf and Zien (2006), Semi-Supervised Learning: the benchmark of chapter 21."""
