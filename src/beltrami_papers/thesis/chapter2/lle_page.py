"""The figure and the page of thesis section 2.5, LLE and the square of the Laplacian.

Nothing enters but the wish for a quick run; a figure, a record and a page leave.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.telling.progress import track
from beltrami.report.pictures.palette import style_of
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.lle import (
    Patchwork,
    even_ring,
    even_torus,
    lle_measures,
    random_sphere,
    random_torus,
)

Cells = Sequence[Mapping[str, Any]]
RING, GRID = "even ring", "flat torus, square grid"
UNIFORM, FEW, FIXED = "flat torus, uniform", "flat torus, few neighbours", "flat torus, k = n/25"
SPHERE, TILTED = "sphere, uniform", "flat torus, uneven density"
DETERMINED, WEIGHTS = "flat torus, k = d + 1", "sphere by regularisation"
TILT = 0.8
SIZES = (500, 1000, 2000, 4000)
STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table.

    Attributes
    ----------
    name : str
        What the points are.
    n : int
        How many.
    k : int
        Neighbours.
    make : callable
        Makes the points.
    regularization : float
        Of the weights.
    """

    name: str
    n: int
    k: int
    make: Callable[[], Patchwork]
    regularization: float = 1e-3


def _cases_of(*, quick: bool) -> list[Case]:
    """Return the rows of the table."""
    sizes = SIZES[:1] if quick else SIZES
    sides = (16,) if quick else (32, 64)
    cases = [Case(RING, n, 2, partial(even_ring, n)) for n in sizes[:2]]
    cases += [Case(GRID, side**2, 4, partial(even_torus, side, 4)) for side in sides]
    cases += [Case(UNIFORM, n, 40, partial(random_torus, n, 40, seed=0)) for n in sizes]
    cases += [Case(FIXED, n, n // 25, partial(random_torus, n, n // 25, seed=0)) for n in sizes[:3]]
    cases += [Case(FEW, n, 10, partial(random_torus, n, 10, seed=0)) for n in sizes]
    cases += [Case(DETERMINED, n, 3, partial(random_torus, n, 3, seed=0)) for n in sizes[:2]]
    cases += [Case(SPHERE, n, 40, partial(random_sphere, n, 40, seed=0), 1e-2) for n in sizes]
    cases += [Case(TILTED, n, 40, partial(random_torus, n, 40, seed=0, tilt=TILT)) for n in sizes]
    n = sizes[0] if quick else 1000
    return cases + [
        Case(WEIGHTS, n, 20, partial(random_sphere, n, 20, seed=0), delta) for delta in STRENGTHS
    ]


def _lle_cells(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Measure every case."""
    cells = []
    with track("LLE beside the squared Laplacian", total=sum(case.n for case in cases)) as advance:
        for case in cases:
            measures = lle_measures(case.make(), regularization=case.regularization)
            cells.append(
                {"case": case.name, "n": case.n, "k": case.k, "delta": case.regularization}
                | {name: _round(value) for name, value in measures.items()}
            )
            advance(case.n)
    return cells


def _round(value: Any) -> Any:
    if isinstance(value, list):
        return [_round(each) for each in value]
    if isinstance(value, int):
        return value
    return float(f"{value:.4g}")


def _lle_figure(cells: Cells) -> Figure:
    """Draw what becomes of the claim as points are added, its spectrum, and the regularisation."""
    figure = Figure(figsize=(14, 5), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _draw_cosines(left, cells)
    _draw_eigenvalues(middle, cells)
    _draw_strengths(right, cells)
    figure.suptitle(
        "LLE's matrix has the Laplacian's eigenvectors on uniform points, not on uneven ones; "
        "as an operator it equals Δ² on grids only"
    )
    return figure


def _draw_cosines(axes: Any, cells: Cells) -> None:
    for number, name in enumerate((UNIFORM, SPHERE, TILTED)):
        chosen = [cell for cell in cells if cell["case"] == name]
        colour, _ = style_of((0, 2, 5)[number])
        n = [cell["n"] for cell in chosen]
        spaces = [min(cell["spaces"]) for cell in chosen]
        axes.plot(n, spaces, "o-", c=colour, label=f"eigenspaces: {name}")
        axes.plot(n, [cell["squared"] for cell in chosen], "s--", c=colour, mfc="white")
    axes.plot([], [], "s--", c="0.4", mfc="white", label="dashed: E f with Δ² f, point by point")
    axes.set_xscale("log")
    axes.set_xticks(n, [str(each) for each in n])
    axes.minorticks_off()
    axes.set_ylim(0, 1.45)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("number of points n, 40 neighbours")
    axes.set_ylabel("cosine with what the thesis says, least over levels")
    axes.set_title("eigenspaces agree although E f does not", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    axes.grid(alpha=0.25)


def _draw_eigenvalues(axes: Any, cells: Cells) -> None:
    last = {cell["case"]: cell for cell in cells}
    truth = [
        value
        for value, level in zip(last[UNIFORM]["truth"], last[UNIFORM]["eigenvalues"], strict=True)
        for _ in level
    ]
    numbers = range(1, len(truth) + 1)
    axes.step(numbers, truth, where="mid", c="0.6", lw=3, label="squared Laplacian")
    for name, group, mark in ((GRID, 7, "+"), (UNIFORM, 0, "o"), (TILTED, 5, "^")):
        eigenvalues = [value for level in last[name]["eigenvalues"] for value in level]
        colour, _ = style_of(group)
        label = f"{name}, n = {last[name]['n']}"
        axes.plot(numbers, eigenvalues, mark, c=colour, ms=9 if mark == "+" else 6, label=label)
    axes.set_ylim(0, 11)
    axes.set_xlabel("number of the eigenvalue, the constant left out")
    axes.set_ylabel("eigenvalue, mean of the lowest level is 1")
    axes.set_title("eigenvalues of E on the flat torus", fontsize="medium")
    axes.legend(frameon=False, fontsize="small", loc="upper left")
    axes.grid(alpha=0.25)


def _draw_strengths(axes: Any, cells: Cells) -> None:
    chosen = [cell for cell in cells if cell["case"] == WEIGHTS]
    colour, _ = style_of(2)
    strengths = [cell["delta"] for cell in chosen]
    axes.loglog(strengths, [cell["energies"][1] for cell in chosen], "o-", c=colour, label="found")
    axes.axhline(chosen[0]["truth"][1], c="0.6", lw=3, zorder=0, label="squared Laplacian: 9")
    axes.set_xlabel("regularisation δ of the weights, 20 neighbours")
    axes.set_ylabel("energy of second harmonics, energy of first is 1")
    axes.set_title(
        f"sphere, n = {chosen[0]['n']}: with little regularisation\nE forgets x, y and z",
        fontsize="medium",
    )
    axes.legend(frameon=False, fontsize="small")
    axes.grid(alpha=0.25)


def lle_reproduction(*, quick: bool = False) -> Reproduction:
    """Hold LLE's matrix against half the squared Laplacian, on manifolds where that is known."""
    clock = StageClock()
    with clock.stage("matrices and eigenvalues"):
        cells = _lle_cells(_cases_of(quick=quick))
    setting = Setting(
        name="thesis-lle",
        source=f"{THESIS}, section 2.5, which has no table and no figure",
        data="even and random points of a circle, a flat torus and a sphere",
        n=f"{min(cell['n'] for cell in cells)} to {max(cell['n'] for cell in cells)}",
        settings={
            "weights": "least squares of the offsets plus δ trace(G) times the squared weights, "
            "rows that sum to one",
            "E": "(I - W)^T (I - W)",
            "uneven density": f"proportional to 1 + {TILT:g} cos x",
            "torus": "flat: offsets are differences of angles, so every patch is linear, as the "
            "thesis assumes",
        },
        seeds="points: default_rng(0).",
        remarks=_REMARKS,
    )
    return reproduction_of(
        setting,
        _lle_figure(cells),
        clock,
        claims=_claims(cells),
        numbers={"cases": cells},
        body=_lines(cells),
    )


_REMARKS = (
    "What is claimed: (I - W)^T (I - W) f ≈ ½ Δ² f 'under certain conditions', hence the "
    "eigenvectors of LLE are those of the Laplacian.",
    "Where the argument is loose: (1) step 2 needs sqrt(W_ij) v_j to be an orthonormal basis, "
    "'which, of course, is not usually the case', or else an average over a neighbourhood that is "
    "uniform in all directions; that gives (I - W) f ≈ (r/2) Δ f with r the mean square of an "
    "offset in each direction. (2) The "
    "factor: applied twice the half is a quarter, r²/4 Δ², not a half. (3) (I - W) f is Δ f plus "
    "noise from the finite neighbourhood; (I - W)^T shrinks smooth functions by about r and rough "
    "ones not at all, so that noise is most of E f. (4) The average needs many "
    "neighbours of about equal weight; weights that are 'well-determined', as the thesis assumes, "
    "have at most d + 1. (5) r is constant only where the density is; and the transpose is the "
    "adjoint for the density, so uneven points give p⁻¹ Δ p r² Δ / 4.",
    "Cosines: of (I - W) f with Δ f and of E f with Δ² f, mean over eigenfunctions f. Constant: of "
    "Δ² in f^T E f, in units of r². Ratio: of the second level to the first, of f^T E f and of "
    "eigenvalues of E. Spaces: least cosine between eigenvectors of E and functions of a level. "
    "Null: functions that E takes to zero, one for every group of points that are put together "
    "from themselves alone; where there are several, its lowest eigenvectors are theirs.",
)


def _claims(cells: Cells) -> list[Claim]:
    last = {cell["case"]: cell for cell in cells}
    first = {cell["case"]: cell for cell in reversed(cells)}
    grid, even, uneven, sphere = last[GRID], last[UNIFORM], last[TILTED], last[SPHERE]
    constants = [cell["constant"] for cell in (last[RING], grid, even, sphere)]
    least = min(STRENGTHS)
    return [
        Claim(
            "(I - W) f is half the trace of the Hessian, up to scale (steps 1 and 2)",
            f"cosine with Δ f {grid['laplacian']:.4f} on the grid, {even['laplacian']:.3f} on "
            f"uniform points, {last[FEW]['laplacian']:.3f} with 10 neighbours",
            min(grid["laplacian"], even["laplacian"]) > 0.95,
        ),
        Claim(
            "the factor of Δ² is a half",
            f"{min(constants):.3f} to {max(constants):.3f} r² on uniform points: a quarter",
            all(abs(constant - 0.5) < 0.05 for constant in constants),
        ),
        Claim(
            "E f ≈ Δ² f up to a factor, on grids",
            f"cosine {last[RING]['squared']:.4f} on the ring, {grid['squared']:.4f} on the torus",
            min(last[RING]["squared"], grid["squared"]) > 0.99,
        ),
        Claim(
            "E f ≈ Δ² f up to a factor, on uniform random points",
            f"cosine {first[UNIFORM]['squared']:.2f} at n = {first[UNIFORM]['n']} and "
            f"{even['squared']:.2f} at n = {even['n']} with 40 neighbours; it rises only where "
            f"neighbourhoods fill: {last[FIXED]['squared']:.2f} with {last[FIXED]['k']} at "
            f"n = {last[FIXED]['n']}",
            even["squared"] > 0.9,
        ),
        Claim(
            "eigenvectors of E are those of Δ, on uniform random points",
            f"least cosine of the first two eigenspaces {min(even['spaces']):.3f} on the torus, "
            f"{min(sphere['spaces']):.3f} on the sphere",
            min(*even["spaces"], *sphere["spaces"]) > 0.9,
        ),
        Claim(
            "the same where the density is uneven",
            f"{min(uneven['spaces']):.2f} at n = {uneven['n']}, "
            f"{min(first[TILTED]['spaces']):.2f} at n = {first[TILTED]['n']}: more points do not "
            "help",
            min(uneven["spaces"]) > 0.9,
        ),
        Claim(
            "the same with weights that are determined, k = d + 1",
            f"E takes {last[DETERMINED]['null']} functions to zero at n = {last[DETERMINED]['n']}: "
            "small groups of points are put together from themselves alone",
            last[DETERMINED]["null"] == 1,
        ),
        Claim(
            "the same on a curved patch whatever the regularisation",
            f"sphere, second harmonics have {last[WEIGHTS]['energies'][1]:.3g} times the energy of "
            f"the first at δ = {least:g}, not 9: more than 3 neighbours span the "
            "space, and rebuild x, y and z",
            abs(last[WEIGHTS]["energies"][1] - 9) < 1,
        ),
    ]


def _lines(cells: Cells) -> list[str]:
    header = ["points", "n", "k", "δ", "cos (I - W) f, Δ f", "cos E f, Δ² f", "constant / r²"]
    header += ["true ratio", "of energies", "of eigenvalues", "first space", "second space", "null"]
    rows = [
        [cell["case"], str(cell["n"]), str(cell["k"]), f"{cell['delta']:g}"]
        + [f"{cell['laplacian']:.3f}", f"{cell['squared']:.3f}", f"{cell['constant']:.3f}"]
        + [f"{cell['truth'][1]:g}", f"{cell['energies'][1]:.4g}"]
        + ([f"{np.mean(cell['eigenvalues'][1]):.4g}"] if cell["eigenvalues"] else [""])
        + ([f"{cosine:.3f}" for cosine in cell["spaces"][:2]] or ["", ""])
        + [str(cell["null"])]
        for cell in cells
    ]
    return table_lines(header, rows, words=(0,))
