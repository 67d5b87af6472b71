"""
The overtones of a torus
========================

The Laplacian of a graph of points on a surface is close to the surface's own Laplace-Beltrami
operator. Its eigenvectors are the tones of the surface: the constant, then functions with one wave
around it, two waves, and so on. Labels are smooth functions on the data, so a few such tones
describe them.
"""

import matplotlib.pyplot as plt
import numpy as np

import beltrami as bt

ring = bt.torus(4000, random_state=0)
graph = bt.KnnGraph(12, weights="binary").build(ring.points)
basis = bt.eigenbasis(graph, 9)
print(basis)

# %%
# Six eigenvectors, blue where negative and red where positive. The first four come in two pairs: a
# wave around the long way and the same wave shifted by a quarter, with eigenvalues that are equal
# but for the chance of the sample.

figure, panels = plt.subplots(
    2, 3, figsize=(9, 5.2), subplot_kw={"projection": "3d"}, layout="constrained"
)
for number, axes in enumerate(panels.flat, start=1):
    tone = basis.vectors[:, number]
    reach = np.abs(tone).max()
    axes.scatter(*ring.points.T, c=tone, s=4, cmap="RdBu_r", vmin=-reach, vmax=reach)
    axes.set_title(f"eigenvector {number}, eigenvalue {basis.values[number]:.3f}", fontsize="small")
    axes.set_box_aspect((3, 3, 1.2))
    axes.view_init(elev=45)
    axes.set_axis_off()
figure.suptitle("The six lowest tones of a torus")
plt.show()

# %%
# The first of them over the angle around the long way, coloured by the angle around the short way:
# one plain wave.

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
tone = basis.vectors[:, 1]
axes.scatter(ring.extras["toroidal"], tone, s=4, c=ring.extras["poloidal"], cmap="cividis")
axes.set(
    title="The first tone is one wave around the long way",
    xlabel="angle around the long way",
    ylabel="eigenvector 1",
)
plt.show()
