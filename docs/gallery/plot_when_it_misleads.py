"""
When unlabelled data mislead
============================

The method assumes that labels change slowly along the data. Where they do not, more unlabelled rows
make it more sure, not more right. Here the points fill a ball in twelve dimensions, and the class
is the side of a plane through its middle, which no gap in the data shows. Logistic regression looks
for just such a plane.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

import beltrami as bt

rng = np.random.default_rng(0)
directions = rng.standard_normal((1500, 12))
points = directions / np.linalg.norm(directions, axis=1, keepdims=True)
points *= rng.random((1500, 1)) ** (1 / 12)
truth = (points[:, 0] > 0).astype(int)
labels = np.full(1500, -1)
rows = rng.choice(1500, 40, replace=False)
labels[rows] = truth[rows]

graph = bt.GraphRegularizedClassifier().fit(points, labels)
linear = LogisticRegression(C=100).fit(points[rows], truth[rows])
door = bt.ManifoldClassifier(random_state=0).fit(points, labels)

# %%
# The front door tries both kinds on labels that it held out. It notices, and its report says so.

print(door.report_)

# %%

names = ("graph learner", "logistic regression", "front door")
found = (graph.transduction_, linear.predict(points), door.transduction_)
rest = labels < 0
wrong = [100 * float(np.mean(answer[rest] != truth[rest])) for answer in found]
figure, axes = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
bars = axes.barh(names, wrong, color=("C5", "C0", "C2"))
axes.bar_label(bars, fmt="%.1f %%", padding=4)
axes.invert_yaxis()
axes.set(
    title="No gap between the classes: the graph does not help",
    xlabel="unlabelled rows that are wrong, percent",
    xlim=(0, max(wrong) * 1.2),
)
plt.show()
