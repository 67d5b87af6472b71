"""
Eigenmaps unroll a swiss roll
=============================

Points on neighbouring turns of the roll are close in space and far apart along it. A graph of
nearest neighbours has steps along the sheet only, so its lowest eigenvectors run along the sheet
too. The first one is a function of the position along the spiral, which nobody told it.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt

roll = bt.swiss_roll(3000, random_state=0)
length = roll.extras["arc_length"]
eigenmap = bt.LaplacianEigenmaps(n_components=2, graph=bt.KnnGraph(10)).fit(roll.points)

# %%
# Colour is the true position along the spiral. On the map neighbours stay neighbours and the
# colours run from one end to the other. It bends, because the second eigenvector is the first
# overtone of the long side.

figure = plt.figure(figsize=(9, 3.8), layout="constrained")
solid = figure.add_subplot(1, 2, 1, projection="3d")
solid.scatter(*roll.points.T, c=length, s=6, cmap="viridis")
solid.set_title("In space: rolled up")
solid.view_init(elev=12, azim=-80)
flat = figure.add_subplot(1, 2, 2)
drawn = flat.scatter(*eigenmap.embedding_.T, c=length, s=6, cmap="viridis")
flat.set(title="Eigenmap: unrolled", xlabel="first eigenvector", ylabel="second eigenvector")
figure.colorbar(drawn, ax=flat, label="true position along the spiral")

# %%
# How well the first eigenvector orders the points along the spiral, as a rank correlation, beside
# the first principal component.

ranks = length.argsort().argsort()
first = eigenmap.embedding_[:, 0].argsort().argsort()
linear = bt.principal_components(roll.points, 1)[:, 0].argsort().argsort()
for name, order in (("first eigenvector", first), ("principal component", linear)):
    print(f"{name}: {abs(np.corrcoef(ranks, order)[0, 1]):.3f}")
