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

digits = bt.load_dataset("digits")
chosen = np.flatnonzero(np.isin(digits.targets, (3, 5, 8)))
points, truth = digits.points[chosen], digits.targets[chosen]
rows = np.concatenate([np.flatnonzero(truth == c)[:3] for c in (3, 5, 8)])
labels = np.full(len(truth), -1)
labels[rows] = truth[rows]
mbed = bt.Mbed(random_state=0).fit(points, labels)

# %%
# Colours are the true classes, the ground shows the sectors, numerals are the nine labels. A mark
# on ground of another colour is a mistake. The class of a place is the direction it points to most.

figure, axes = plt.subplots(figsize=(6, 5.4), layout="constrained")
flat = mbed.embedding_[:, :2]  # three classes take two coordinates
low, high = flat.min(axis=0) - 0.2, flat.max(axis=0) + 0.2
across, up = np.meshgrid(np.linspace(low[0], high[0], 300), np.linspace(low[1], high[1], 300))
sector = np.argmax(np.stack([across, up], axis=-1) @ mbed.directions_[:, :2].T, axis=-1)
levels = (-0.5, 0.5, 1.5, 2.5)
axes.contourf(across, up, sector, levels=levels, colors=("C0", "C1", "C2"), alpha=0.18)
for number, (digit, mark) in enumerate(zip(mbed.classes_, "o^s", strict=True)):
    axes.scatter(
        *flat[truth == digit].T, s=10, c=f"C{number}", marker=mark, linewidths=0, label=digit
    )
for row in rows:
    axes.text(*flat[row], truth[row], size=15, weight="bold", ha="center", va="center")
axes.set(aspect="equal", xticks=[], yticks=[])
wrong = int((mbed.transduction_ != truth).sum())
axes.set_title(f"Digits 3, 5 and 8 from nine labels: {wrong} of {len(truth)} wrong")
axes.legend(frameon=False, loc="best")
plt.show()
