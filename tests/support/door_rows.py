"""Projects with odd classes, ids and people, to be sent through doors."""

from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from beltrami.doors.forms import FORMS, read_answers
from beltrami.doors.outcome import bare_outcome
from beltrami.doors.taking import take_answers
from beltrami.project import open_project
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


_seen = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))
names = st.sampled_from(ODD) | st.text(_seen, min_size=1, max_size=12).filter(str.strip)
people = st.sampled_from(["ann", "bob", "Zoë 😀", "a@b.org", "user 1"]) | names.filter(
    lambda one: one != "file"
)
_letters = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
_ids = st.sampled_from(ODD) | st.text(_letters, min_size=1, max_size=8)
_answers = st.none() | st.tuples(names, people, st.sampled_from(["key", "key", "area"]))


@st.composite
def labelled_rows(draw):
    """Return what rows are called, or how many there are, and (label, user, how) of each."""
    called = draw(st.lists(_ids, min_size=4, max_size=20, unique=True) | st.integers(4, 20))
    n = called if isinstance(called, int) else len(called)
    answers = draw(st.lists(_answers, min_size=n - 1, max_size=n - 1))
    return called, [draw(_answers.filter(bool)), *answers]


def frame(called):
    """Return a table in memory with these ids, or with row numbers."""
    n = called if isinstance(called, int) else len(called)
    columns = {"x": np.linspace(0, 1, n), "words": [f'row, {i}\nof "{n}"' for i in range(n)]}
    return columns if isinstance(called, int) else {"id": called} | columns


@contextmanager
def opened(called, path, answers=()):
    options = TableOptions(min_classes=0, id=None if isinstance(called, int) else "id")
    with closing(open_project(frame(called), options, path, "me")) as project:
        parcels = {}
        for row, answer in enumerate(answers):
            if answer is not None:
                label, *origin = answer
                parcels.setdefault(tuple(origin), {})[row] = label
        for (user, how), labels in parcels.items():
            project.label(user, list(labels), list(labels.values()), how)
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
