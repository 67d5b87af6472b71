"""
Digits from two labels per class, and how sure each answer is
=============================================================

1797 handwritten digits, twenty labels. The front door tries several learners, weighs them by labels
that it held out, and says how sure it is of each row. The least sure rows are where the mistakes
are, and they look ambiguous to us too.
"""

import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt

digits = bt.load_dataset("digits")
rng = np.random.default_rng(0)
classes = [np.flatnonzero(digits.targets == c) for c in range(10)]
rows = np.concatenate([rng.choice(members, 2, replace=False) for members in classes])
labels = np.full(len(digits.targets), -1)
labels[rows] = digits.targets[rows]
learner = bt.ManifoldClassifier(random_state=0).fit(digits.points, labels)
print(learner.report_)

# %%
# The twelve rows it is least sure of. Red titles are wrong.

found, sure = learner.transduction_, learner.confidence_
figure, panels = plt.subplots(2, 6, figsize=(9, 3.6), layout="constrained")
for row, axes in zip(np.argsort(sure)[:12], panels.flat, strict=True):
    is_right = found[row] == digits.targets[row]
    axes.imshow(digits.points[row].reshape(8, 8), cmap="gray_r")
    axes.set_title(
        f"says {found[row]}, is {digits.targets[row]}\n{sure[row]:.0%} sure",
        fontsize="small",
        color="black" if is_right else "C5",
    )
    axes.set_axis_off()
figure.suptitle("The digits it is least sure of")
plt.show()

# %%
# Is 90 % sure right nine times in ten? Rows by confidence, with the share that is right.

unlabelled = labels < 0
edges = np.quantile(sure[unlabelled], np.linspace(0, 1, 9))
groups = np.digitize(sure, edges[1:-1])
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
said = [sure[unlabelled & (groups == g)].mean() for g in range(8)]
right = [(found == digits.targets)[unlabelled & (groups == g)].mean() for g in range(8)]
axes.plot([0.3, 1], [0.3, 1], color="grey", linewidth=1, label="as sure as right")
axes.plot(said, right, "o-", color="C0", label="eighths of the rows")
axes.set(title="Sure and right go together", xlabel="mean confidence", ylabel="share right")
axes.legend(frameon=False)
plt.show()
