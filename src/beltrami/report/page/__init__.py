"""One HTML file that tells what was labelled, how sure we are and what to look at next.

A `Page` of plain arrays and strings enters; a document that needs no network leaves.
"""

from beltrami.report.page.model import (
    Bin,
    Candidate,
    ClassRow,
    Island,
    Issue,
    Page,
    Question,
    RowView,
)
from beltrami.report.page.render import render, save_page
from beltrami.report.page.work import AuditRound, CurvePoint, Hand, Measured, Work
from beltrami.tables.own_results import Source

__all__ = [
    "AuditRound",
    "Bin",
    "Candidate",
    "ClassRow",
    "CurvePoint",
    "Hand",
    "Island",
    "Issue",
    "Measured",
    "Page",
    "Question",
    "RowView",
    "Source",
    "Work",
    "render",
    "save_page",
]
