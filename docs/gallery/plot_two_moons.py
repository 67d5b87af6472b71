"""
Two moons from one label each
=============================

One label per moon says next to nothing to a support vector machine: it cuts half-way between
the two. A Laplacian support vector machine has the same kernel and the same two labels, and also
asks its function to change slowly along the data. The unlabelled points decide where it turns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import SVC

import beltrami as bt

moons = bt.two_moons(300, noise=0.05, random_state=0)
rng = np.random.default_rng(0)
rows = [int(rng.choice(np.flatnonzero(moons.targets == c))) for c in (0, 1)]
labels = np.full(300, -1)
labels[rows] = moons.targets[rows]

width = 0.35
plain = SVC(gamma=1 / (2 * width**2), C=100).fit(moons.points[rows], labels[rows])
laplacian = bt.LaplacianSVC(kernel=bt.RbfKernel(width), random_state=0)
laplacian.fit(moons.points, labels)

# %%
# The two decision functions: colour is the predicted class, the line is where it changes, the large
# marks are all the labels there are.

low, high = moons.points.min(axis=0) - 0.3, moons.points.max(axis=0) + 0.3
across, up = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 100))
grid = np.column_stack([across.ravel(), up.ravel()])

figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for axes, model, name in zip(panels, (plain, laplacian), ("SVM", "Laplacian SVM"), strict=True):
    height = model.decision_function(grid).reshape(across.shape)
    axes.contourf(across, up, height > 0, levels=[-0.5, 0.5, 1.5], colors=("C0", "C1"), alpha=0.18)
    axes.contour(across, up, height, levels=[0], colors="black", linewidths=1)
    for c, mark in ((0, "o"), (1, "^")):
        inside = moons.targets == c
        axes.scatter(*moons.points[inside].T, s=12, c=f"C{c}", marker=mark, linewidths=0)
        axes.scatter(
            *moons.points[rows[c]], s=150, c=f"C{c}", marker=mark, edgecolors="black", zorder=3
        )
    wrong = (model.predict(moons.points) != moons.targets).sum()
    axes.set(title=f"{name}: {wrong} of 300 wrong", xlabel="first coordinate")
panels[0].set_ylabel("second coordinate")
plt.show()
