"""The slides' margin table as an experiment: where unlabelled points help, and where not.

A size enters; errors of a supervised, a semi-supervised and a
clairvoyant learner against the margin between two squares leave as a figure, a record and a page.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.cells import page, table_lines
from beltrami_papers.journal import Journal, Result
from beltrami_papers.model import Reproduction, circumstances
from beltrami_papers.slides.curves import shade
from beltrami_papers.slides.margins import (
    MarginPlan,
    MarginTrial,
    margin_cells,
    margin_plan,
    margin_trials,
    run_margins,
)
from beltrami_papers.slides.problems import (
    CLAIRVOYANT,
    GLOBAL,
    N_TEST,
    OURS,
)
from beltrami_papers.slides.sizes import Size

SOURCE = 'Zhu (2009), slide "Unlabeled Data: Now it helps, now it doesn\'t"'
_LINEAR = 0.02  # margins nearer to zero than this are drawn on a linear scale


def slide_verdict(margin: float, n: int, m: int) -> str:
    """Return what the slide says of a margin: whether unlabelled points help."""
    if margin >= n**-0.5:
        return "no"
    return "yes" if margin >= m**-0.5 or margin < -(m**-0.5) else "no"


def our_verdict(cell: Mapping[str, Any]) -> str:
    """Return whether unlabelled points helped: two standard errors of the difference decide."""
    if abs(cell["gain"]) <= 2 * cell["gain_error"]:
        return "no"
    return "yes" if cell["gain"] > 0 else "harm"


def margin_lines(cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a table per number of labels: a row per margin."""
    place = {(c["method"], c["margin"], c["labelled"], c["unlabelled"]): c for c in cells}
    margins = sorted({cell["margin"] for cell in cells}, reverse=True)
    sizes = sorted({cell["unlabelled"] for cell in cells if cell["method"] == OURS})
    lines = []
    for n in sorted({cell["labelled"] for cell in cells}):
        rows = []
        for margin in margins:
            base, best = place[GLOBAL, margin, n, 0], place[CLAIRVOYANT, margin, n, 0]
            ours = [place[OURS, margin, n, m] for m in sizes]
            rows.append(
                [f"{margin:g}", f"{base['mean']:.3f}", f"{best['mean']:.3f}"]
                + [f"{cell['mean']:.3f} ± {cell['std'] or 0:.3f}" for cell in ours]
                + [f"{our_verdict(c)} ({slide_verdict(margin, n, c['unlabelled'])})" for c in ours]
            )
        header = ["margin", f"supervised, n = {n}", CLAIRVOYANT]
        header += [f"ours, m = {m}" for m in sizes]
        header += [f"helps at m = {m}? (slide)" for m in sizes]
        lines += [*table_lines(header, rows), ""]
    return lines


def draw_margins(cells: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw errors against the margin, a panel per number of labels."""
    counts = sorted({cell["labelled"] for cell in cells})
    sizes = sorted({cell["unlabelled"] for cell in cells if cell["method"] == OURS})
    figure = Figure(figsize=(5.6 * len(counts) + 0.4, 4.6), layout="constrained")
    panels = figure.subplots(1, len(counts), squeeze=False, sharey=True)[0]
    for axes, n in zip(panels, counts, strict=True):
        chosen = [cell for cell in cells if cell["labelled"] == n]
        _draw_line(axes, chosen, GLOBAL, 0, "supervised", c="0.25", ls="--", lw=1.4)
        for place, m in enumerate(sizes):
            colour = shade(OKABE_ITO[0], place, len(sizes))
            _draw_line(axes, chosen, OURS, m, f"ours, m = {m}", c=colour, lw=2.0, marker="o", ms=4)
            _mark(axes, m**-0.5, colour)
            _mark(axes, -(m**-0.5), colour)
        _draw_line(axes, chosen, CLAIRVOYANT, 0, "clairvoyant", c="0.25", ls=":", lw=1.4)
        _mark(axes, n**-0.5, OKABE_ITO[5])
        axes.text(
            n**-0.5, 1.01, "$n^{-1/d}$", transform=axes.get_xaxis_transform(),
            color=OKABE_ITO[5], ha="center", va="bottom", fontsize="small",
        )  # fmt: skip
        _scale(axes, sorted({cell["margin"] for cell in chosen}))
        axes.set_title(f"{n} labels", fontsize="medium", pad=18)
    panels[0].set_ylabel("root mean squared error")
    panels[0].set_ylim(bottom=0)
    figure.supxlabel(
        "margin between the squares; below zero they overlap (blue upright lines: "
        r"$\pm m^{-1/d}$)",
        fontsize="medium",
    )
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3 * len(counts), frameon=False)
    return figure


def _draw_line(
    axes: Any, cells: Sequence[Mapping[str, Any]], method: str, m: int, name: str, **style: Any
) -> None:
    chosen = [cell for cell in cells if (cell["method"], cell["unlabelled"]) == (method, m)]
    line = sorted((cell["margin"], cell["mean"]) for cell in chosen)
    axes.plot(*np.transpose(line), label=name, **style)


def _mark(axes: Any, place: float, colour: Any) -> None:
    axes.axvline(place, color=colour, lw=0.9, alpha=0.55, zorder=0)


def _scale(axes: Any, margins: Sequence[float]) -> None:
    axes.set_xscale("symlog", linthresh=_LINEAR, linscale=0.6)
    axes.set_xticks(margins, [f"{margin:g}" for margin in margins], rotation=45, fontsize="small")
    axes.minorticks_off()
    axes.invert_xaxis()
    axes.grid(alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)


def now_it_helps_figure(size: Size, *, journal: Path | None = None) -> Reproduction:
    """Measure where unlabelled points help as two squares approach, touch and overlap.

    - `journal`: a file of single results that the run reads first and adds to; None writes none.
    """
    plan = margin_plan(size)
    results = run_margins(list(margin_trials(plan)), Journal.at(journal))
    record = margin_record(size, plan, results)
    body = [
        "Root mean squared error on fresh points. Helps: yes or harm where ours differs from the "
        "supervised learner by more than two standard errors of the paired difference; in brackets "
        "what the slide says with every constant taken as one.",
        "",
        *margin_lines(record["errors"]),
    ]
    table = page(f"{record['name']}: {SOURCE}", record, body)
    return Reproduction(draw_margins(record["errors"]), record, table)


def margin_record(
    size: Size, plan: MarginPlan, results: Mapping[MarginTrial, Result]
) -> dict[str, Any]:
    """Return the record."""
    spent = {one.method: 0.0 for one in results}
    for one, result in results.items():
        spent[one.method] += result["seconds"]
    return {
        "name": size.reproduction_name("now-it-helps"),
        "source": f"{SOURCE}; the slide states rates and no numbers",
        "data": "two_squares(gap=margin)",
        "n": f"{', '.join(map(str, plan.labelled))} labelled, "
        f"{', '.join(map(str, plan.unlabelled))} unlabelled",
        "settings": {
            "supervised": "LaplacianRLSRegressor(gamma_i=0), kernel ridge regression with width "
            "and strength by exact leave-one-out, on the labelled points",
            "ours": "MultiManifoldRegressor as it comes, on labelled and unlabelled points",
            "clairvoyant": "the supervised learner on each decision set, which is known also at "
            "fresh points; a set without a label gets the mean of all labels",
            "draws": plan.n_draws,
            "judged on": f"{N_TEST} fresh points of each draw",
        },
        "seeds": "draw i: points default_rng([i, 0]), fresh points default_rng([i, 1]), order "
        "default_rng([i, 2]); random_state=i. All methods see the same draws.",
        "remarks": [
            "The target is 1 + s on the left square alone, -1 - s on the right alone and 0 where "
            "they overlap, s the height; labels have no noise. The slides say that the function is "
            "smooth on every decision region and not what an overlap is; we take it as a region of "
            "its own, since the mixture of two densities has there the sum of both. 0 is the mean "
            "of the two laws, what the regression function of a mixture would be; the best "
            "possible error is zero at every margin.",
            "The overlap has twice the density of the rest and no gap around it, so that its "
            "border shows as a jump of the density by two alone.",
            "The slide bounds the worst case over a class of functions by rates without "
            "constants; one function and one learner can do better than the bound for supervised "
            "learning, and worse than the bound for semi-supervised learning.",
        ],
        "seconds": {method: round(seconds, 1) for method, seconds in spent.items()},
        **circumstances(),
        "errors": margin_cells(results),
    }
