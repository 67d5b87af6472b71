"""Ids and labels are found in any table, and what is open is asked, never guessed wrongly."""

import pytest
from tests.support.door_rows import opened, said, take

from beltrami.core.errors import InvalidInputError


@pytest.fixture
def project(tmp_path):
    with opened(["r0", "r1", "r2", "r3"], tmp_path / "p.beltrami") as project:
        yield project


@pytest.fixture
def come(project, tmp_path):
    def come(text, **more):
        (tmp_path / "labels.csv").write_text(text)
        return take(project, tmp_path / "labels.csv", **more)

    return come


def labels(project):
    return {name: label for name, (label, _, _) in said(project).items()}


@pytest.mark.parametrize(
    "text",
    [
        "id,label\nr0,a\nr2,b\n",
        "file,kind\nr0,a\nr2,b\n",
        "kind,file\na,r0\nb,r2\n",
        "label;note;Datei\na;x;r0\nb;y;r2\n;z;r3\n",
        "id,name,label\n7,r0,a\n8,r2,b\n",
        "ID,Class\nr0,a\nr2,b\nr1, \n",
    ],
)
def test_columns_are_found_by_name_and_content(come, project, text):
    come(text)
    assert labels(project) == {"r0": "a", "r2": "b"}


def test_columns_may_be_named(come, project):
    come("id,other,a,b\nr0,r1,x,y\n", id_column="other", label_column="b")
    assert labels(project) == {"r1": "y"}


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("p,q\n1,2\n", {}, "open which column of labels.csv holds the ids.*none holds ids"),
        ("p,q\nr0,r1\n", {}, "'p', 'q' all look like ids"),
        ("id,p,q\nr0,1,2\n", {}, "open which column of labels.csv holds the labels"),
        ("id,label\nr0,a\n", {"id_column": "Id"}, "Did you mean 'id'"),
        ("id,label\nr0,a\n", {"label_column": "labl"}, "Did you mean 'label'"),
    ],
)
def test_what_is_open_is_asked(come, project, text, options, words):
    with pytest.raises(InvalidInputError, match=words):
        come(text, **options)
    assert not project.state.labels


@pytest.mark.parametrize("said_so", ["file", "kind", "row"])
def test_nothing_is_meant_that_is_merely_another_name(come, said_so):
    with pytest.raises(InvalidInputError) as caught:
        come("id,label\nr0,a\n", id_column=said_so)
    assert "Did you mean" not in str(caught.value)
    assert "It has 'id', 'label'" in str(caught.value)


def test_unknown_ids_are_counted_and_named(come, project):
    taken = come("id,label\nr0,a\nzz,b\nyy,b\nr1,a\n")
    assert labels(project) == {"r0": "a", "r1": "a"}
    assert "2 id(s) are of no row of the data and were left out: 'zz', 'yy'." in taken.lines()


def test_a_file_of_other_rows_is_refused(come, project):
    with pytest.raises(InvalidInputError, match="none of the 2 id"):
        come("id,label\nzz,a\nyy,b\n")


def test_a_file_without_labels_is_refused(come):
    with pytest.raises(InvalidInputError, match="no label of a person"):
        come("id,label\nr0,\n")


def test_the_later_line_counts(come, project):
    taken = come("id,label\nr0,a\nr0,b\n")
    assert labels(project) == {"r0": "b"}
    assert taken.n_disputed == 1


def test_our_own_answers_are_never_taken_for_those_of_people(come, project):
    come(
        "id,label,source,confidence,guess,annotator\n"
        "r0,a,human,1,a,ann\nr1,b,propagated,0.9,b,\nr2,,abstained,0.4,b,\n"
    )
    assert said(project) == {"r0": ("a", "ann", False)}


def test_a_label_given_here_since_is_kept(come, project):
    head = "id,label,source,confidence,guess,annotator,updated_at\n"
    project.label("bob", [0, 1], "mine", "key")
    taken = come(
        head
        + "r0,old,human,1,old,ann,2020-01-01T00:00:00+00:00\n"
        + "r1,new,human,1,new,ann,2100-01-01T00:00:00+00:00\n"
    )
    assert said(project) == {"r0": ("mine", "bob", False), "r1": ("new", "ann", False)}
    assert (taken.n_kept, taken.n_replaced) == (1, 1)


def test_an_import_is_taken_back_as_any_label(come, project):
    project.label("me", [0], "first", "key")
    come("id,label\nr0,a\nr1,b\n")
    project.undo("me")
    assert labels(project) == {"r0": "first"}


def test_labels_of_the_data_are_of_who_brings_them(come, project):
    come("id,label,annotator\nr0,a,file\n", user="eve")
    assert said(project) == {"r0": ("a", "eve", False)}
