"""A fitted learner in a notebook: what it learned from, what was chosen, how sure it is."""

from typing import Any

import numpy as np

from beltrami.core.markup import bullets, fact_table, paragraph


def fit_in_html(learner: Any) -> str:
    """Return a small table on a fitted learner, without working anything out again."""
    reached, labeled = learner.reached_, learner._labeled
    n, n_given, n_left = len(reached), len(labeled.rows), int((~reached).sum())
    facts = {"rows": f"{n:,}, of which {n_given:,} labelled"}
    if n_left:
        facts["reached by no label"] = f"{n_left:,}"
    classes = getattr(learner, "classes_", None)
    if classes is not None:
        facts["classes"] = f"{len(classes):,}"
    confidence = getattr(learner, "confidence_", None)
    if confidence is not None:
        is_open = reached.copy()
        is_open[labeled.rows] = False
        if is_open.any():
            facts["mean confidence"] = f"{np.mean(confidence[is_open]):.1%} where we answer"
    chosen = (f"chosen: {choice.reason}" for choice in learner._choices())
    return paragraph(f"{type(learner).__name__}, fitted") + fact_table(facts) + bullets(chosen)
