"""A project: one file of events in which the labels that people give are kept, and what follows."""
