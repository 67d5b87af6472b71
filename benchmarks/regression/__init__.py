"""Regression from 20 labels on surfaces with known geometry, with intervals."""
