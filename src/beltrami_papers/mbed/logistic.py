"""Figure 1 of Zien and Quiñonero Candela (2005): how memberships sharpen during the annealing.

Nothing enters; curves of the logistic function leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from beltrami_papers.cells import table_lines
from beltrami_papers.findings import Claim, Setting, reproduction_of
from beltrami_papers.mbed.problems import SOURCE
from beltrami_papers.model import Reproduction, StageClock

N_CURVES = 19
"""As many as the annealing has steps, from 2 to 20."""


def annealed_scales() -> list[float]:
    """Return lambda in radii for each step of the annealing, from 10 down to 1/10."""
    return [float(10 / 100 ** (j / (N_CURVES - 1))) for j in range(N_CURVES)]


def _logistic_figure() -> Figure:
    """Draw the membership of the class to the right against the distance from the boundary."""
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    axes = figure.subplots()
    distance = np.linspace(-3, 3, 601)
    colours = colormaps["viridis"](np.linspace(0, 0.92, N_CURVES))
    named = {0: "10 r", 9: "r", N_CURVES - 1: "r / 10"}
    for number, (scale, colour) in enumerate(zip(annealed_scales(), colours, strict=True)):
        membership = 1 / (1 + np.exp(-distance / scale))
        label = f"$\\lambda$ = {named[number]}" if number in named else None
        width = 2.4 if label else 0.9
        axes.plot(distance, membership, color=colour, lw=width, label=label)
    axes.axvline(0, color="0.25", lw=1.1, zorder=0)
    for place in (1, 2):
        axes.axvline(place, color="0.6", lw=0.8, ls=":", zorder=0)
        axes.axvline(-place, color="0.6", lw=0.8, ls=":", zorder=0)
    axes.set_xlim(-3, 3)
    axes.set_xlabel(
        "distance from the boundary in radii r of the map\n"
        "(dotted: about 68 and 95 percent of the points lie within)"
    )
    axes.set_ylabel("membership of the right class")
    axes.set_title(
        f"After {SOURCE}, figure 1:\nboundaries sharpen as $\\lambda$ falls", fontsize=11
    )
    axes.legend(loc="upper left", framealpha=1, edgecolor="none")
    return figure


def curve_cells() -> list[dict[str, Any]]:
    """Return what each curve says: its step, scale, slope, and memberships at two distances.

    ``slope`` at the boundary, per radius, is 1 / (4 lambda); ``at_r`` and ``at_2r`` are
    memberships; ``nine_tenths`` is the distance at which the membership is 0.9.
    """
    cells = []
    for step, scale in enumerate(annealed_scales(), start=2):
        at_r, at_2r = (float(1 / (1 + np.exp(-place / scale))) for place in (1, 2))
        cells.append(
            {
                "step": step,
                "scale": round(scale, 6),
                "slope": round(1 / (4 * scale), 6),
                "at_r": round(at_r, 6),
                "at_2r": round(at_2r, 6),
                "nine_tenths": round(scale * float(np.log(9)), 6),
            }
        )
    return cells


def logistic_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure 1, with the numbers of every curve."""
    del quick
    clock = StageClock()
    with clock.stage("curves"):
        cells = curve_cells()
        figure = _logistic_figure()
    setting = Setting(
        name="mbed-figure-1",
        source=f"{SOURCE}, figure 1",
        data="none, a closed form",
        n=0,
        settings={
            "curve": "1 / (1 + exp(-y / lambda)), y the distance from the boundary in radii r",
            "lambda": "from 10 to 1/10 in equal ratios, one for each step from 2 to 20",
        },
        seeds="none.",
        remarks=[
            "The paper prints no numbers; its figure goes from blue to red, ours from dark to "
            "light.",
            "The algorithm of the paper has 2 r in place of r for two classes, because its softmax "
            "of two opposite directions is this logistic function at half the scale.",
        ],
    )
    header = ["step", "λ / r", "slope at the boundary", "membership at r", "at 2 r", "0.9 at"]
    rows = [[f"{cell[key]:.4g}" for key in cell] for cell in cells]
    return reproduction_of(
        setting,
        figure,
        clock,
        claims=_claims(cells),
        numbers={"curves": cells},
        body=table_lines(header, rows),
    )


def _claims(cells: Sequence[Mapping[str, Any]]) -> list[Claim]:
    first, last = cells[0], cells[-1]
    return [
        Claim(
            "10 to 1/10 is a reasonable range of λ / r",
            f"at distance 2 r the membership goes from {first['at_2r']:.3f}, near undecided, to "
            f"{last['at_2r']:.6f}, decided",
            first["at_2r"] < 0.6 and last["at_2r"] > 0.99,
        )
    ]
