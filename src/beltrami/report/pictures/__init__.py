"""Figures of what a learner found: geometry in views, drawing in pictures."""
