"""The figure and the page of thesis chapter 4.

The cells of `convergence` enter; a figure, a record and a page leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from beltrami.report.pictures.palette import style_of
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter4.convergence import (
    DRAWS,
    SIZES,
    SPECTRUM_SIZES,
    WIDTH_SIZES,
    size_cells,
    spectrum_cells,
    width_cells,
)

Cells = Sequence[Mapping[str, Any]]


def _convergence_figure(sizes: Cells, widths: Cells) -> Figure:
    """Draw the error against the number of points, and against the width of the kernel."""
    figure = Figure(figsize=(11, 4.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, cell in enumerate(sizes):
        colour, _ = style_of(number)
        label = f"{cell['function']}  (error ~ n^{cell['rate']:.2f})"
        n, errors = [int(n) for n in cell["errors"]], list(cell["errors"].values())
        left.loglog(n, errors, "o-", c=colour, label=label)
    most = max(cell["n"] for cell in widths)
    for number, cell in enumerate(cell for cell in widths if cell["n"] == most):
        colour, _ = style_of(number)
        t, errors = [float(t) for t in cell["errors"]], list(cell["errors"].values())
        right.loglog(t, errors, "o-", c=colour, label=cell["function"])
    left.set_xlabel("number of points n, with t = 0.5 n^(-2/(d+6))")
    right.set_xlabel(f"width t of the kernel, n = {most}")
    left.set_title("more points, less error", fontsize="medium")
    right.set_title("too wide: bias; too narrow: noise", fontsize="medium")
    for axes in (left, right):
        axes.set_ylabel("relative error of the Laplacian, rms over points")
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize="small")
    figure.suptitle(
        "The heat-kernel Laplacian of random points tends to the Laplace-Beltrami operator"
    )
    return figure


def convergence_reproduction(*, quick: bool = False) -> Reproduction:
    """Show chapter 4 in numbers: operator and eigenvalues against the true ones, with rates."""
    clock, draws = StageClock(), 2 if quick else DRAWS
    with clock.stage("errors by n"):
        sizes = size_cells(SIZES[:3] if quick else SIZES, draws)
    with clock.stage("errors by t"):
        widths = width_cells((500,) if quick else WIDTH_SIZES, draws)
    with clock.stage("eigenvalues"):
        spectra = spectrum_cells(SPECTRUM_SIZES[:2] if quick else SPECTRUM_SIZES, draws)
    setting = Setting(
        name="thesis-convergence",
        source=f"{THESIS}, chapter 4, which has no table and no figure",
        data="circle and sphere, uniform",
        n=f"{min(map(int, sizes[0]['errors']))} to {max(map(int, sizes[0]['errors']))}",
        settings={
            "operator": "vol / (n t (4 pi t)^(d/2)) sum_j exp(-|x - x_j|^2 / 4t) (f(x) - f(x_j)), "
            "at 200 random points",
            "t": "0.5 n^(-2/(d+6)) where it is not said otherwise: the bias is of order t, the "
            "noise of order n^(-1/2) t^(-(d+2)/4)",
            "draws": f"{draws}; errors are medians, eigenvalues means over them",
        },
        seeds=f"points: random_state 0 to {draws - 1}; where the operator is looked at: "
        "default_rng of the same.",
        remarks=[
            "Theorem 4.2.9 is printed with the other sign, corollary 4.2.13 with L for W, and "
            "claim 4.2.12 without the square in the exponent; ours is the corrected form. The "
            "chapter states no rate; ours is from bias and noise in balance.",
        ],
    )
    return reproduction_of(
        setting,
        _convergence_figure(sizes, widths),
        clock,
        claims=_claims(sizes, widths, spectra),
        numbers={"by_n": sizes, "by_t": widths, "eigenvalues": spectra},
        body=[*_size_lines(sizes), "", *_width_lines(widths), "", *_spectrum_lines(spectra)],
    )


def _claims(sizes: Cells, widths: Cells, spectra: Cells) -> list[Claim]:
    firsts = [next(iter(cell["errors"].values())) for cell in sizes]
    lasts = [list(cell["errors"].values())[-1] for cell in sizes]
    worst: dict[str, list[float]] = {cell["manifold"]: [] for cell in spectra}
    for cell in spectra:
        worst[cell["manifold"]].append(cell["worst"])
    most = max(cell["n"] for cell in widths)
    inner = [
        cell for cell in widths if cell["n"] == most and _is_inside(cell["best"], cell["errors"])
    ]
    return [
        Claim(
            "the Laplacian of the points tends to the Laplace-Beltrami operator",
            f"relative error from {min(firsts):.3f} to {max(firsts):.3f} at the fewest points, "
            f"{min(lasts):.3f} to {max(lasts):.3f} at the most",
            all(last < 0.5 * first for first, last in zip(firsts, lasts, strict=True)),
        ),
        Claim(
            "the limit is of small t and many points (that neither alone will do is our wording)",
            f"at n = {most} the least error is at a width inside the range for {len(inner)} of "
            f"{len(sizes)} functions: below it noise grows, above it bias",
            len(inner) == len(sizes),
        ),
        Claim(
            "eigenvalues tend to those of the manifold (not claimed in chapter 4, but used before)",
            "; ".join(
                f"{name}: largest relative error {each[0]:.1%} at the fewest points, "
                f"{each[-1]:.1%} at the most"
                for name, each in worst.items()
            ),
            all(each[-1] < each[0] for each in worst.values()),
        ),
    ]


def _is_inside(best: float, errors: Mapping[str, float]) -> bool:
    widths = [float(t) for t in errors]
    return min(widths) < best < max(widths)


def _size_lines(cells: Cells) -> list[str]:
    sizes = list(cells[0]["errors"])
    rows = [
        [
            cell["function"],
            *(f"{cell['errors'][n]:.3f}" for n in sizes),
            f"{cell['rate']:.2f}",
            f"{cell['expected']:.2f}",
        ]
        for cell in cells
    ]
    header = ["function", *(f"n = {n}" for n in sizes), "rate", "expected"]
    lead = (
        "Relative error of the operator by number of points. Rate: the exponent of n fitted to it; "
        "expected: -2/(d+6), from bias and noise in balance."
    )
    return ["## By number of points", "", lead, "", *table_lines(header, rows, words=(0,))]


def _width_lines(cells: Cells) -> list[str]:
    widths = list(cells[0]["errors"])
    rows = [
        [
            cell["function"],
            str(cell["n"]),
            *(f"{cell['errors'][t]:.3f}" for t in widths),
            f"{cell['best']:g}",
            f"{cell['balanced']:.3f}",
        ]
        for cell in cells
    ]
    header = ["function", "n", *(f"t = {t}" for t in widths), "best t", "balanced t"]
    lead = "Relative error of the operator by width of the kernel."
    return ["## By width of the kernel", "", lead, "", *table_lines(header, rows, words=(0,))]


def _spectrum_lines(cells: Cells) -> list[str]:
    lines = ["## Eigenvalues", ""]
    for name in dict.fromkeys(cell["manifold"] for cell in cells):
        chosen = [cell for cell in cells if cell["manifold"] == name]
        levels = list(chosen[0]["found"])
        rows = [
            [
                str(cell["n"]),
                f"{cell['t']:.3f}",
                *(f"{cell['found'][v]:.3f}" for v in levels),
                f"{cell['worst']:.1%}",
            ]
            for cell in chosen
        ]
        truth = (f"true {v}" for v in levels)
        header = [name, "t", *truth, "largest relative error"]
        lines += [*table_lines(header, rows), ""]
    return lines[:-1]
