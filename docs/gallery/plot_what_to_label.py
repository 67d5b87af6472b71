"""
Ask for the rows that settle most
=================================

Every label costs somebody's time. ``query`` names rows that stand for many others and about which
there is doubt. Here an honest oracle answers, five rows at a time, beside five rows at random.
"""

import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt

digits = bt.load_dataset("digits")
points, truth = digits.points[:900], digits.targets[:900]


def curve(strategy: str, seed: int) -> list[float]:
    """Return the share of rows that is right after each round of five answers."""
    labels = np.where(np.arange(len(truth)) < 2, truth, -1)
    learner = bt.ManifoldClassifier("poisson", random_state=seed).fit(points, labels)
    shares = []
    for _ in range(6):
        rows = learner.query(5, strategy=strategy)
        learner.update(rows, truth[rows])
        shares.append(float(np.mean(learner.transduction_ == truth)))
    return shares


# %%
# All begin with the same two labels, a zero and a one. One run asks what ``query`` says, three draw
# rows at random.

asked = curve("auto", 0)
drawn = [curve("random", seed) for seed in range(3)]
counts = 2 + 5 * np.arange(1, 7)

figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
axes.plot(counts, 100 * np.array(asked), color="C0", marker="o", label="what query asks")
for number, shares in enumerate(drawn):
    name = "rows at random, three runs" if number == 0 else None
    axes.plot(counts, 100 * np.array(shares), color="C5", marker="^", alpha=0.6, label=name)
axes.set(
    title="Asking well saves labels", xlabel="labels given", ylabel="rows labelled rightly, percent"
)
axes.legend(frameon=False)
plt.show()

for count, good, bad in zip(counts, asked, np.mean(drawn, axis=0), strict=True):
    print(f"{count} labels: {good:.1%} when asked, {bad:.1%} at random")
