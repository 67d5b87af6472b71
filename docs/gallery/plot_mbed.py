"""
A map with the class boundaries in it
=====================================

Mbed places points so that neighbours stay together and the classes lie in fixed sectors. The map is
the classifier: which side of the lines a point falls on is its class, and how far from the lines
says how sure that is.
"""

import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt
from beltrami.report.pictures.boundary_pictures import draw_map
from beltrami.report.pictures.boundary_views import view_of

digits = bt.load_dataset("digits")
chosen = np.flatnonzero(np.isin(digits.targets, (3, 5, 8)))
points, truth = digits.points[chosen], digits.targets[chosen]
rows = np.concatenate([np.flatnonzero(truth == c)[:3] for c in (3, 5, 8)])
labels = np.full(len(truth), -1)
labels[rows] = truth[rows]
mbed = bt.Mbed(random_state=0).fit(points, labels)

# %%
# Colours are the true classes, the ground shows the sectors, numerals are the nine labels. A mark
# on ground of another colour is a mistake.

figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
draw_map(axes, view_of(mbed.embedding_, mbed.directions_), truth, labelled=rows)
wrong = int((mbed.transduction_ != truth).sum())
axes.set_title(f"Digits 3, 5 and 8 from nine labels: {wrong} of {len(truth)} wrong")
axes.legend(frameon=False, loc="best")
plt.show()
