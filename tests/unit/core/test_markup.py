"""Pieces of HTML for notebooks: whatever enters leaves as text."""

import re

import pytest

from beltrami.core.markup import bullets, fact_table, grid, paragraph

HOSTILE = "<script>alert(1)</script> & \"'"


@pytest.mark.parametrize(
    "made",
    [
        paragraph(HOSTILE, HOSTILE),
        grid([HOSTILE], [[HOSTILE]]),
        fact_table({HOSTILE: HOSTILE}),
        bullets([HOSTILE]),
    ],
    ids=["paragraph", "grid", "fact table", "bullets"],
)
def test_nothing_that_enters_is_markup(made):
    tags = set(re.findall(r"</?(\w+)", made))
    assert tags <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert "&lt;script&gt;" in made


def test_a_list_of_nothing_is_nothing():
    assert bullets([]) == ""
