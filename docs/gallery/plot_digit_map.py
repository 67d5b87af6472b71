"""
A map of digits, and where on it the answers are unsure
=======================================================

The map lays out the graph of neighbours in the plane without any label. Poisson learning then
spreads one label per class along the same graph. Doubt gathers where two islands touch.
"""

import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt

digits = bt.load_dataset("digits")
graph = bt.KnnGraph(10, weights="tuned_shared").build(digits.points)
positions = bt.layout_graph(graph, random_state=0)

first = np.unique(digits.targets, return_index=True)[1]
labels = np.full(len(digits.targets), -1)
labels[first] = digits.targets[first]
learner = bt.PoissonClassifier(graph=graph).fit(digits.points, labels)
right = (learner.transduction_ == digits.targets)[labels < 0].mean()
print(f"{right:.1%} of the unlabelled digits are right, from one label per class")

# %%
# The same map three times: true classes, found classes, confidence. Stars are the ten labels.

figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
named = (("True classes", digits.targets), (f"Found: {right:.0%} right", learner.transduction_))
for axes, (title, classes) in zip(panels, named, strict=False):
    for c in range(10):
        mark = "o^"[c // 8]  # the colours come round again after eight
        axes.scatter(*positions[classes == c].T, s=7, c=f"C{c}", marker=mark, linewidths=0)
        middle = np.median(positions[classes == c], axis=0)
        axes.annotate(str(c), middle, fontsize=14, weight="bold", ha="center", va="center")
    axes.set_title(title)
sure = learner.confidence_
drawn = panels[2].scatter(*positions.T, s=7, c=sure, cmap="cividis", vmin=0, vmax=1)
panels[2].set_title("Confidence")
figure.colorbar(drawn, ax=panels[2], label="confidence")
for axes in panels:
    axes.set(xticks=[], yticks=[], aspect="equal")
for axes in panels[1:]:
    axes.scatter(*positions[first].T, s=120, c="white", marker="*", edgecolors="black")
plt.show()
