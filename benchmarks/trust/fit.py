"""Fit what many data sets teach, and judge it on sets that had no part in the fit.

``python -m benchmarks.trust.fit``, after ``benchmarks.trust.answers``. Two things are learned: how
far each candidate is believed and how hot its logits are before any label was held out, by labels
per class, columns and classes; and the chance that a row is right. Sets count the same,
however many rows they have. Tenths of the sets are left out in turn, and what is learned from the
others answers for them: that is what the page shows. What is learned from all is written to
``experience.json`` of the library, with --write.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES
from beltrami.front_door.deciding.judgement import Trial
from beltrami.front_door.deciding.judging import Bench, Hearing, be_sure, supports_promise
from beltrami.front_door.mixture import experience as shipped
from beltrami.front_door.mixture.confidence import TERMS, list_terms
from beltrami.front_door.mixture.experience import Experience, Situation
from beltrami.front_door.mixture.shares import unseen_share
from beltrami.learners.model import Labeled
from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import write_results
from benchmarks.trust.answers import Cell, cells
from benchmarks.trust.measures import Outcome, measure, render

STEM = "trust_left_out"
GROUPS = 10
TRIED = [one.name for one in CLASS_CANDIDATES if not one.is_asked_only]
ALONE = [one.name for one in CLASS_CANDIDATES if one.is_asked_only]
START = {
    "poisson": 4.0, "logistic": 1.4, "forest": 1.1, "neighbors": 0.4, "regularized": 0.9,
    "eigenfunctions": 0.8, "laplacian_rls": 0.7, "laplacian_svc": 1.0,
}  # fmt: skip
"""Temperatures that the penalty pulls towards."""
ROWS, ROWS_OF_CHANCE = 60, 300
"""Rows of each draw that the two fits look at."""
PENALTY, PENALTY_OF_CHANCE = 0.003, 20.0
RISING = dict.fromkeys(("tested", "gap", "mean_agreement", "lead x tested"), (0.0, None))
"""Signs of which more must not make less sure: by themselves, some come out so by a hair."""
N_TERMS = 4
SURPRISE = 0.02


@dataclass(frozen=True, eq=False)
class Lesson:
    """A draw, as the fit of weights and temperatures sees it.

    `logits` (r, m, k) of some rows by all candidates, zero for one that was not tried; `is_there`
    (m,); `truth` (r,); `terms` of the situation; `weight`, such that sets count the same.
    """

    logits: np.ndarray
    is_there: np.ndarray
    truth: np.ndarray
    terms: np.ndarray
    weight: float


def lesson_of(cell: Cell, names: Sequence[str], weight: float, rng: Any) -> Lesson:
    """Return some rows of a draw."""
    rows = rng.permutation(len(cell.truth))[:ROWS]
    none = np.zeros((len(rows), cell.n_classes))
    logits = [cell.answers[name][rows] if name in cell.answers else none for name in names]
    is_there = np.array([name in cell.answers for name in names])
    return Lesson(
        np.stack(logits, axis=1), is_there, cell.truth[rows], situation_of(cell).terms, weight
    )


def situation_of(cell: Cell) -> Situation:
    """Return what is known of every set."""
    counts = np.bincount(cell.given)
    counts = counts[counts > 0]
    return Situation(len(cell.given), len(counts), cell.n_columns, unseen_share(counts))


def loss_of(
    numbers: np.ndarray, lessons: Sequence[Lesson], start: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the mean log-loss of the mixture by experience alone, with penalty, and its slope."""
    m = len(start)
    weights, heats = numbers.reshape(2, m, N_TERMS)
    total, mass, slopes = 0.0, 0.0, np.zeros((2, m, N_TERMS))
    for one in lessons:
        logs = np.where(one.is_there, weights @ one.terms, -np.inf)
        share = np.exp(logs - logs.max())
        share /= share.sum()
        heat = np.exp(start + heats @ one.terms)
        shifted = one.logits - one.logits.max(axis=2, keepdims=True)
        each = np.exp(shifted / heat[None, :, None])
        each /= each.sum(axis=2, keepdims=True)
        rows, k = np.arange(len(one.truth)), one.logits.shape[2]
        true = each[rows, :, one.truth]
        safe = (1 - SURPRISE) * true + SURPRISE / k
        mixed = safe @ share
        part = safe * share / mixed[:, None]
        total -= one.weight * np.log(mixed).mean()
        mass += one.weight
        slopes[0] -= one.weight * np.outer((part.mean(axis=0) - share) * one.is_there, one.terms)
        mean = (each * shifted).sum(axis=2)
        by_heat = -(shifted[rows, :, one.truth] - mean) / heat
        by_heat *= part * (1 - SURPRISE) * true / safe
        slopes[1] -= one.weight * np.outer(by_heat.mean(axis=0) * one.is_there, one.terms)
    slope = slopes.ravel() / mass + 2 * PENALTY * numbers
    return total / mass + PENALTY * float((numbers**2).sum()), slope


def learn_weights(train: Sequence[Cell], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return what weights and temperatures of candidates are linear in, (m, 4) each."""
    counts, rng = Counter(one.set_name for one in train), np.random.default_rng(0)
    lessons = [lesson_of(one, names, 1 / counts[one.set_name], rng) for one in train]
    lessons = [one for one in lessons if one.is_there.any()]
    start = np.log([START[name] for name in names])
    found = minimize(
        loss_of, np.zeros(2 * len(names) * N_TERMS), args=(lessons, start), jac=True,
        method="L-BFGS-B", options={"maxiter": 60},
    )  # fmt: skip
    weights, heats = found.x.reshape(2, len(names), N_TERMS)
    heats[:, 0] += start
    return weights, heats


def learn(train: Sequence[Cell]) -> Experience:
    """Return what these sets teach."""
    weights, heats = learn_weights(train, TRIED)
    experience = Experience(
        dict(zip(TRIED, weights, strict=True)), dict(zip(TRIED, heats, strict=True)), {}
    )
    for name in ALONE:
        one = [cell for cell in train if name in cell.answers]
        experience.weights[name] = np.zeros(N_TERMS)
        experience.temperatures[name] = learn_weights(one, [name])[1][0]
    return Experience(experience.weights, experience.temperatures, learn_chance(train, experience))


def learn_chance(train: Sequence[Cell], experience: Experience) -> dict[str, float]:
    """Return what each sign adds to the odds that a row is right, by ridge logistic regression."""
    counts, rng = Counter(one.set_name for one in train), np.random.default_rng(1)
    tables, rights, weights = [], [], []
    for cell in train:
        _, hearing = hear(cell, experience)
        rows = rng.permutation(len(cell.truth))[:ROWS_OF_CHANCE]
        tables.append(list_terms(hearing.signs, hearing.evidence)[rows])
        rights.append((hearing.signs.probabilities.argmax(axis=1) == cell.truth)[rows])
        weights.append(np.full(len(rows), 1 / (counts[cell.set_name] * len(rows))))
    table, right, weight = map(np.concatenate, (tables, rights, weights))
    weight *= len(weight) / weight.sum()
    spread = table[:, 1:].std(axis=0)
    spread[spread < 1e-9] = 1.0
    center = table[:, 1:].mean(axis=0)
    scaled = np.column_stack([np.ones(len(table)), (table[:, 1:] - center) / spread])

    def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
        odds = scaled @ slopes
        chance = 1 / (1 + np.exp(-odds))
        value = weight @ (np.logaddexp(0, odds) - right * odds)
        pulled = np.append(0.0, slopes[1:])
        slope = scaled.T @ (weight * (chance - right)) + 2 * PENALTY_OF_CHANCE * pulled
        return float(value + PENALTY_OF_CHANCE * (pulled**2).sum()), slope

    bounds = [RISING.get(name, (None, None)) for name in TERMS]
    start = np.zeros(scaled.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = found[1:] / spread
    return dict(zip(TERMS, [float(found[0] - slopes @ center), *map(float, slopes)], strict=True))


def hear(cell: Cell, experience: Experience) -> tuple[Bench, Hearing]:
    """Return what the candidates of the library say together, by some experience."""
    known = {one.name: one for one in CLASS_CANDIDATES}
    fitted = {
        name: Trial(known[name], cell.answers[name], cell.held_out[name])
        for name in TRIED
        if name in cell.answers
    }
    rows = np.arange(len(cell.given))
    labeled = Labeled(rows, np.eye(cell.n_classes)[cell.given], np.ones(len(rows)))
    bench = Bench.of(fitted, labeled, cell.n_columns, "auto", experience)
    hearing = bench.hear(cell.answers, None)
    trusted = bench.without_wrong(hearing)
    return (bench, hearing) if trusted is bench else (trusted, trusted.hear(cell.answers, None))


def answer(cell: Cell, experience: Experience) -> Outcome:
    """Return what the library would say of a draw, beside the truth."""
    bench, hearing = hear(cell, experience)
    sure = be_sure(bench, hearing)
    chance = sure.judge(hearing.signs)
    codes = hearing.signs.probabilities.argmax(axis=1)
    can_promise = supports_promise(bench, hearing)
    floor = 1 / bench.situation.n_classes
    return Outcome.of(cell, codes, np.maximum(chance, floor), can_promise=can_promise)


def leave_out(every: Sequence[Cell]) -> list[Outcome]:
    """Return the answers to every draw by what the other sets teach."""
    names = sorted({one.set_name for one in every})
    outcomes = []
    for number in range(GROUPS):
        aside = set(names[number::GROUPS])
        experience = learn([one for one in every if one.set_name not in aside])
        outcomes += [answer(one, experience) for one in every if one.set_name in aside]
        print(f"left out {number + 1} of {GROUPS}", flush=True)
    return outcomes


def write_experience(experience: Experience) -> None:
    """Write what was learned where the library reads it."""
    place = Path(shipped.__file__).with_name("experience.json")
    parts: dict[str, Any] = {
        "weights": {name: _rounded(one) for name, one in experience.weights.items()},
        "temperatures": {name: _rounded(one) for name, one in experience.temperatures.items()},
        "confidence": {name: round(one, 4) for name, one in experience.confidence.items()},
    }
    place.write_text(json.dumps(parts, indent=1) + "\n", encoding="utf-8")


def _rounded(numbers: np.ndarray) -> list[float]:
    return [round(float(one), 4) for one in numbers]


def main(arguments: list[str] | None = None) -> None:
    """Leave sets out, write the page; with --write, learn from all and ship it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write experience.json")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    every = list(cells())
    if asked.write:
        write_experience(learn(every))
    outcomes = leave_out(every)
    record = {"circumstances": circumstances(), "cells": [one.facts for one in outcomes]}
    record["summary"] = measure(outcomes)
    write_results(asked.out, STEM, record, render(record), indent=None)
    print(render(record))


if __name__ == "__main__":
    main()
