"""Projects with odd classes, ids and people, to be sent through doors."""

from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from beltrami.core.errors import InvalidInputError
from beltrami.doors.forms import FORMS, read_answers
from beltrami.doors.outcome import bare_outcome
from beltrami.doors.taking import take_answers
from beltrami.project import open_project
from beltrami.project.events import check_name
from beltrami.tables import TableOptions

FILES = {name: f"out{(*one.endings, '')[0]}" for name, one in FORMS.items()}
"""Where each form goes."""

WITH_USERS = [name for name in FORMS if name != "cleanlab"]
"""Forms that know who gave a label."""

ODD = (
    "None", "nan", "NaN", "NA", "null", "-1", "0", "1", "1.0", "007", "True", "false", "a b",
    " padded ", "x,y", 'say "hi"', "it's", "semi;colon", "=1+1", "#", "[]", "{}", "日本", "é",
    "\u0301e", "😀", "a\\b", "<b>&amp;", "1e5", "2026-01-02", "inf", "guess", "human",
)  # fmt: skip


def _is_name(text):
    try:
        check_name(text, "class")
    except InvalidInputError:
        return False
    return True


names = st.sampled_from(ODD) | st.text(max_size=12).filter(_is_name)
people = st.sampled_from(["ann", "bob", "Zoë 😀", "a@b.org", "file x"]) | names.filter(
    lambda one: one != "file"
)
ids = st.lists(
    st.sampled_from(ODD) | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=8),
    min_size=3, max_size=12, unique=True,
)  # fmt: skip


@st.composite
def histories(draw):
    """Return ids of rows, or how many there are, and (rows, label, user, how) in order."""
    called = draw(ids | st.integers(3, 12))
    n = called if isinstance(called, int) else len(called)
    rows = st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True)
    how = st.sampled_from(["key", "area"])
    steps = draw(st.lists(st.tuples(rows, names, people, how), min_size=1, max_size=8))
    return called, steps


def frame(called):
    """Return a table in memory with these ids, or with row numbers."""
    n = called if isinstance(called, int) else len(called)
    columns = {"x": np.linspace(0, 1, n), "words": [f'row, {i}\nof "{n}"' for i in range(n)]}
    return columns if isinstance(called, int) else {"id": called} | columns


@contextmanager
def opened(called, path, steps=()):
    options = TableOptions(min_classes=0, id=None if isinstance(called, int) else "id")
    with closing(open_project(frame(called), options, path, "me")) as project:
        for rows, label, user, how in steps:
            project.label(user, rows, label, how)
        yield project


def said(project):
    """Return who called what how; labels of areas apart."""
    ids = project.data.ids
    return {
        ids[row]: (given.label, given.user, given.how == "area")
        for row, given in project.state.labels.items()
    }


def send(project, form, folder):
    """Write the labels of a project, without learning from them."""
    target = folder / FILES[form]
    FORMS[form].write(bare_outcome(replace(project.intake, source=None)), target)
    return target


def take(project, path, user="me", **more):
    return take_answers(project, read_answers(path, project, **more), user)
