"""
One straight line cannot fit a dollar sign, one per piece can
=============================================================

A curve and a line cross, and the value to predict runs along each. Near the crossing two points are
neighbours with unlike values, so no smooth function fits. The shape of the neighbourhoods, which
unlabelled points show, tells the pieces apart; a ridge regression is then fitted in each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV

import beltrami as bt

dollar = bt.dollar_sign(4000, random_state=0)
values = np.full(len(dollar.targets), np.nan)
rows = np.random.default_rng(0).choice(len(values), 100, replace=False)
values[rows] = dollar.targets[rows]

pieces = bt.MultiManifoldRegressor(RidgeCV(), random_state=0).fit(dollar.points, values)
alone = RidgeCV().fit(dollar.points[rows], values[rows])
print(pieces.choice_.reason)


def error(found: np.ndarray) -> float:
    """Return the root mean squared error over all points."""
    return float(np.sqrt(np.mean((found - dollar.targets) ** 2)))


# %%
# Left the regions that were found, right the truth against predictions of one ridge regression and
# of one per region.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for region in np.unique(pieces.regions_):
    inside = pieces.regions_ == region
    mark = "o^s"[region // 8 % 3]  # the colours come round again after eight
    left.scatter(*dollar.points[inside].T, s=4, c=f"C{region}", marker=mark, linewidths=0)
left.set(title="Regions by local shape", xlabel="first coordinate", ylabel="second coordinate")
left.set_aspect("equal")
for name, model, colour in (("one ridge", alone, "C5"), ("one per region", pieces, "C0")):
    found = model.predict(dollar.points)
    label = f"{name}: error {error(found):.3f}"
    right.scatter(dollar.targets, found, s=4, c=colour, label=label, linewidths=0)
right.axline((1, 1), slope=1, color="black", linewidth=1)
right.set(title="Predictions from 100 labels", xlabel="true value", ylabel="predicted value")
right.legend(frameon=False, markerscale=3)
plt.show()
