"""A project is found again, knows its data again, and keeps what people said."""

import json
import shutil
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.support.fake_text_model import install_fake_model

from beltrami.core.errors import InvalidInputError
from beltrami.project import (
    ClassExistsError,
    ProjectError,
    ProjectInUseError,
    data_of,
    open_project,
    project_beside,
)
from beltrami.tables import TableOptions

N = 20


def rows(n=N, *, label=lambda i: "ab"[i % 2] if i < 6 else "", name=lambda i: f"r{i}"):
    return [
        (name(i), f"{i % 2 * 4 + i / N:.3f}", f"{i * 7 % 10 / 3:.3f}", label(i)) for i in range(n)
    ]


def csv(cells, names="id,x,z,label"):
    return "\n".join([names, *(",".join(one) for one in cells), ""])


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(csv(rows()))
    return path


def opened(source, options=None, project=None, user="ann", **more):
    options = options or TableOptions(min_classes=0)
    return closing(open_project(source, options, project, user, **more))


def names(project):
    return {row: given.label for row, given in project.state.labels.items()}


def by_id(project):
    ids = project.data.ids
    return {ids[row]: given.label for row, given in project.state.labels.items()}


def kinds(project):
    return [event.kind for event in project.events]


def test_a_new_project_lies_beside_its_data_and_has_their_labels(data):
    with opened(data) as project:
        assert project.path == data.with_name("data.beltrami")
        assert kinds(project) == ["input", "roles", "label"]
        assert names(project) == {i: "ab"[i % 2] for i in range(6)}
        assert {(one.user, one.how) for one in project.state.labels.values()} == {("file", "file")}
        first, second = project.words
        assert first == f"a new project: {project.path}"
        assert second == "6 label(s) came in from data.csv."
        assert {one.user for one in project.events} == {"ann", "file"}
    assert sorted(one.name for one in data.parent.iterdir()) == ["data.beltrami", "data.csv"]


def test_the_same_file_finds_its_project_again(data):
    before = data.read_bytes()
    with opened(data) as project:
        project.label("ann", [10, 11], "c", "key")
        state = project.snapshot()
    for source in (data, data.with_name("data.beltrami"), str(data)):
        with opened(source, user="bob") as again:
            assert again.state == state
            assert again.words == ["project data.beltrami: 8 label(s) of 3 class(es)"]
    assert data.read_bytes() == before
    assert data_of(data.with_name("data.beltrami")) == data


def test_places_of_projects_are_names_without_endings(tmp_path):
    (tmp_path / "pictures.1").mkdir()
    assert project_beside(tmp_path / "data.csv").name == "data.beltrami"
    assert project_beside(tmp_path / "data.csv.gz").name == "data.beltrami"
    assert project_beside(tmp_path / "my.data.parquet").name == "my.data.beltrami"
    assert project_beside(tmp_path / "pictures.1") == tmp_path / "pictures.1.beltrami"


def test_a_folder_can_be_moved_with_its_project(data, tmp_path):
    with opened(data) as project:
        project.label("ann", [10], "c", "key")
    there = tmp_path / "there"
    there.mkdir()
    for name in ("data.csv", "data.beltrami"):
        shutil.move(tmp_path / name, there / name)
    with opened(there / "data.beltrami") as again:
        assert names(again)[10] == "c"
        assert kinds(again)[-1] == "label"


def test_a_project_without_its_data_says_where_it_looked(data, tmp_path):
    opened(data).thing.close()
    moved = data.rename(tmp_path / "moved.csv")
    with pytest.raises(ProjectError, match=r"are not at '.*data\.csv' any more.*--project"):
        open_project(tmp_path / "data.beltrami")
    with opened(moved, project=tmp_path / "data.beltrami") as again:
        assert kinds(again)[-1] == "input"
    with opened(tmp_path / "data.beltrami") as again:
        assert again.data.table.name == "moved.csv"


def test_two_sources_of_one_stem_are_not_mixed_up(data):
    opened(data).thing.close()
    other = data.with_suffix(".tsv")
    other.write_text(csv(rows()).replace(",", "\t"))
    with pytest.raises(ProjectError, match=r"of data\.csv, and not of data\.tsv.*--project"):
        open_project(other)
    with opened(other, project=data.with_name("other.beltrami")) as project:
        assert project.path.name == "other.beltrami"


def test_a_named_project_of_other_data_is_refused_and_of_the_same_data_is_not(data):
    opened(data).thing.close()
    project, other = data.with_name("data.beltrami"), data.with_name("other.csv")
    other.write_text(csv(rows(name=lambda i: f"r{i}", label=lambda _: "")).replace("r3,", "r77,"))
    with pytest.raises(InvalidInputError, match=r"the project is about other data: other\.csv"):
        open_project(other, project=project)
    other.write_text(data.read_text() + "r20,1,1,\n")
    with opened(other, project=project) as again:
        assert by_id(again)["r5"] == "b"


def test_a_table_in_memory_needs_a_place_and_comes_again(tmp_path):
    table = {"x": np.arange(12.0), "z": np.arange(12.0) % 5, "label": ["a", "b"] + 10 * [None]}
    with pytest.raises(InvalidInputError, match="project="):
        open_project(table)
    place = tmp_path / "mine.beltrami"
    with opened(table, project=place) as project:
        project.label("ann", [5], "a", "api")
    with opened(table, project=place) as again:
        assert names(again) == {0: "a", 1: "b", 5: "a"}
    with pytest.raises(ProjectError, match="table in memory"):
        open_project(place)


def test_a_file_that_is_not_there_is_said_and_leaves_nothing(tmp_path):
    with pytest.raises(InvalidInputError, match="there is no file"):
        open_project(tmp_path / "nothing.csv")
    with pytest.raises(ProjectError, match="name its data"):
        open_project(tmp_path / "nothing.beltrami")
    with pytest.raises(ProjectError, match="no project"):
        open_project(tmp_path / "nothing.beltrami", read_only=True)
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2,3\n")
    with pytest.raises(InvalidInputError):
        open_project(bad)
    assert [one.name for one in tmp_path.iterdir()] == ["bad.csv"]


def test_no_label_and_no_column_of_labels_is_fine(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("x,z\n" + "".join(f"{i},{i * 3 % 7}\n" for i in range(12)))
    with opened(path) as project:
        assert kinds(project) == ["input", "roles"]
        assert not project.intake.is_given.any()
        assert project.intake.weights is None
        project.label("ann", [0], "a", "key")
        assert project.intake.labels.tolist() == ["a"] + 11 * [None]


def test_classes_that_are_needed_must_have_labels(data):
    with opened(data) as project:
        project.label("ann", [1, 3, 5], "a", "key")
    with pytest.raises(InvalidInputError, match=r"labels of 1 class.*2 are needed"):
        open_project(data, TableOptions())
    with opened(data) as project:  # the lock was let go
        assert len(names(project)) == 6


def test_labels_are_texts_whatever_the_column_holds(tmp_path):
    path = tmp_path / "digits.csv"
    path.write_text(csv(rows(label=lambda i: str(i % 3) if i < 9 else "")))
    with opened(path) as project:
        assert project.state.class_names == ["0", "1", "2"]
        assert set(project.intake.labels[:9]) == {"0", "1", "2"}


def test_an_odd_label_in_the_file_is_refused_with_its_row(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text(csv(rows(label=lambda i: '"a\tb"' if i == 4 else "x")))
    with pytest.raises(InvalidInputError, match=r"the label of row 4 .*cannot be seen"):
        open_project(path)


def test_the_intake_has_the_labels_of_the_project_and_where_they_come_from(data):
    with opened(data) as project:
        project.label("ann", [10, 12], "c", "area")
        project.label("bob", [0], None, "key")
        intake = project.intake
        assert intake is project.intake
        assert intake.labels.tolist()[:3] == [None, "b", "a"]
        assert intake.given.n_given == 7
        assert intake.origins["how"][[1, 10, 13]].tolist() == ["file", "area", None]
        assert intake.origins["annotator"][[1, 10, 13]].tolist() == ["file", "ann", None]
        assert intake.origins["updated_at"][10] == project.state.labels[10].at
        assert intake.weights.tolist() == [0.25 if i in (10, 12) else 1.0 for i in range(N)]
        assert project.path in intake.files
        assert any("from data.beltrami" in line for line in intake.lines())
        project.undo("ann")
        assert project.intake.weights is None


def test_what_people_do_is_checked_before_it_is_saved(data):
    with opened(data) as project:
        wrong = [
            (lambda: project.label("ann", [N], "a", "key"), "rows go from 0 to 19"),
            (lambda: project.label("ann", [], "a", "key"), "no row is named"),
            (lambda: project.label("ann", [1.5], "a", "key"), "whole numbers"),
            (lambda: project.label("ann", [1, 1], "a", "key"), "more than once"),
            (lambda: project.label("ann", [1, 2, 3], ["a", "b"], "key"), "2 labels for 3"),
            (lambda: project.label("ann", [1], "", "key"), "is empty"),
            (lambda: project.label("ann", [1], "a", "magic"), "how='magic'"),
            (lambda: project.label("ann", [1], "a", "file"), "of the data alone"),
            (lambda: project.label("", [1], "a", "key"), "name of a user"),
            (lambda: project.label("file", [1], "a", "key"), "nobody is called 'file'"),
            (lambda: project.mark("ann", [1], "wave"), "must be one of skip, unsure"),
            (lambda: project.mark("ann", [-1], "skip"), "counted from 0"),
            (lambda: project.keep("ann", "label", [], "a"), "no row is named"),
            (lambda: project.keep("ann", "label", [N], "a"), "rows go from 0 to 19"),
            (lambda: project.keep("ann", "taste", [1], "a"), "about='taste'"),
            (lambda: project.keep("ann", "spelling", [N], "a | A"), "rows go from 0 to 19"),
            (lambda: project.add_class("ann", "a\n"), "cannot be seen"),
            (lambda: project.add_class("ann", "a"), "there is a class 'a' already"),
            (lambda: project.rename_class("ann", "q", "z"), "there is no class 'q'"),
            (lambda: project.remove_class("ann", "q"), "there is no class 'q'"),
            (lambda: project.remove_class("ann", "a"), r"3 row\(s\) are labelled 'a'"),
            (lambda: project.rename_class("ann", "a", "b"), "Say that both are to be one"),
            (lambda: project.rename_class("ann", "a", "a", merge=True), "called so already"),
        ]
        for call, said in wrong:
            with pytest.raises(InvalidInputError, match=said):
                call()
        with pytest.raises(ClassExistsError):
            project.rename_class("ann", "a", "b")
        assert project.undo("ann") is None
        assert len(project.events) == 3
    with pytest.raises(InvalidInputError, match="nobody may be called 'file'"):
        open_project(data, user="file")


def test_what_people_do_comes_back_as_events(data):
    with opened(data) as project:
        event = project.label("ann", np.array([10, 0]), ["c", "d"], "click")
        assert (event.number, event.rows, event.body.old) == (4, (10, 0), (None, "a"))
        assert project.mark("bob", [11], "unsure").kind == "mark"
        assert project.keep("ann", "label", np.array([10]), "c").kind == "kept"
        assert project.undo("ann").taken_back.rows == (10,)
        assert project.keep("bob", "spelling", [], "a | A").kind == "kept"
        assert project.undo("bob").taken_back.rows == ()
        assert project.add_class("ann", "e").kind == "class"
        assert project.rename_class("bob", "a", "b", merge=True).kind == "rename"
        assert project.can_undo("bob")
        taken = project.undo("bob")
        assert (taken.kind, taken.taken_back.kind) == ("undo", "rename")
        assert project.remove_class("ann", "e").kind == "remove"
        assert "e" not in project.state.class_names
        assert project.undo("ann").taken_back.kind == "remove"
        assert project.undo("ann").taken_back.kind == "class"
        assert project.undo("ann").taken_back == event
        assert project.undo("ann") is None
        assert project.state.unsure == {11}


def test_a_project_that_is_read_saves_nothing_and_stands_beside_a_writer(data):
    with opened(data) as project:
        project.label("ann", [10], "c", "key")
        with opened(data, read_only=True) as reader:
            assert reader.read_only
            assert reader.state == project.state
            with pytest.raises(ProjectError, match="read only"):
                reader.label("bob", [1], "a", "key")
            with pytest.raises(ProjectError, match="read only"):
                reader.change_roles("bob", TableOptions(ignore=["z"]))
        with pytest.raises(ProjectInUseError, match="user 'ann'"):
            open_project(data)
    assert not list(data.parent.glob("*-*"))


def test_many_threads_label_at_once(data):
    with opened(data) as project:

        def work(user):
            for row in range(6, N):
                project.label(user, [row], user, "key")
                if row % 3 == 0:
                    project.undo(user)

        threads = [threading.Thread(target=work, args=(f"user {i}",)) for i in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        state = project.snapshot()
    with opened(data) as again:
        assert again.state == state
        assert len(again.events) == 3 + 4 * (14 + 5)


def test_options_are_kept_and_what_is_said_wins(data):
    with opened(data, TableOptions(ignore=["z"], min_classes=0)) as project:
        assert project.data.roles.numeric == ("x",)
    with opened(data) as again:
        assert again.options.ignore == ("z",)
        assert again.data.roles.numeric == ("x",)
        assert kinds(again) == ["input", "roles", "label"]
    with opened(data, TableOptions(numbers=["z"], min_classes=0)) as third:
        assert third.options.ignore == ()  # of the columns all is said anew
        assert third.data.roles.numeric == ("x", "z")
        assert kinds(third)[-1] == "roles"
    with opened(data) as fourth:
        assert fourth.options.numbers == ("z",)
        assert len(fourth.events) == 4


def test_embeddings_are_found_from_the_project_and_rows_stay_who_they_are(data, tmp_path):
    np.save(tmp_path / "e.npy", np.random.default_rng(0).normal(size=(N, 4)))
    options = TableOptions(embeddings=tmp_path / "e.npy", min_classes=0)
    with opened(data, options) as project:
        assert project.data.points.shape == (N, 4)
    np.save(tmp_path / "e.npy", np.random.default_rng(1).normal(size=(N, 5)))
    data.write_text(csv(rows(label=lambda _: "")))  # other bytes, the same rows
    with opened(data) as again:
        assert again.data.points.shape == (N, 5)
        assert kinds(again) == ["input", "roles", "label", "roles"]
        assert any(line.startswith("e.npy has changed since") for line in again.words)
    with opened(data) as same:
        assert kinds(same) == ["input", "roles", "label", "roles"]
        assert not any("changed" in line for line in same.words)


def test_embeddings_may_be_a_column_or_a_name_as_typed(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("e.npy", np.random.default_rng(0).normal(size=(N, 4)))
    with opened(data, TableOptions(embeddings="e.npy", min_classes=0)) as project:
        assert project.options.embeddings == tmp_path / "e.npy"
    monkeypatch.chdir("/")
    with opened(data) as again:
        assert (again.data.points.shape, kinds(again)[1:]) == ((N, 4), ["roles", "label"])
    vectors = [[float(i % 2), i / N, 1.0] for i in range(N)]
    lines = [{"id": f"r{i}", "v": one, "label": "ab"[i % 2]} for i, one in enumerate(vectors)]
    beside = tmp_path / "rows.jsonl"
    beside.write_text("\n".join(map(json.dumps, lines)) + "\n")
    with opened(beside, TableOptions(embeddings="v", min_classes=0)) as column:
        assert column.state.options["embeddings_column"] == "v"
        assert "embeddings_digest" not in column.state.options
    with opened(beside) as again:
        assert again.data.roles.embeddings == "column 'v'"


def test_a_model_for_texts_is_kept_and_said_to_have_changed(tmp_path, monkeypatch):
    model = install_fake_model(tmp_path / "colours", monkeypatch)
    texts = [("red", "green", "blue")[i % 3] + f" and red {i}" for i in range(N)]
    data = tmp_path / "texts.csv"
    data.write_text("\n".join(["id,body", *(f"r{i},{one}" for i, one in enumerate(texts)), ""]))
    options = TableOptions(text="body", text_model=model, min_classes=0)
    with opened(data, options) as project:
        assert project.state.options["text_model"] == "colours"
    with opened(data) as again:
        assert again.data.points.shape == (N, 3)
        assert kinds(again) == ["input", "roles"]
    (model / "config.json").write_text("[]")
    with opened(data) as changed:
        assert any(line.startswith("colours has changed since") for line in changed.words)
    with opened(data, read_only=True) as same:
        assert kinds(same) == ["input", "roles", "roles"]


def test_embeddings_that_change_while_they_are_read_are_refused(data, tmp_path, monkeypatch):
    from beltrami.project import reading

    np.save(tmp_path / "e.npy", np.eye(N))
    take_in = reading.take_in

    def slow(source, options):
        intake = take_in(source, options)
        np.save(tmp_path / "e.npy", np.ones((N, 2)))
        return intake

    monkeypatch.setattr(reading, "take_in", slow)
    with pytest.raises(InvalidInputError, match="or its embeddings were"):
        open_project(data, TableOptions(embeddings=tmp_path / "e.npy", min_classes=0))


def test_roles_can_be_changed_while_people_label(data):
    with opened(data) as project:
        project.label("ann", [10], "c", "key")
        options = TableOptions(ignore=["z"], id="id", min_classes=0)
        event = project.change_roles("ann", options)
        assert event.kind == "roles"
        assert project.data.roles.numeric == ("x",)
        assert names(project)[10] == "c"
        assert project.intake.points.shape == (N, 1)
        with pytest.raises(InvalidInputError, match="read by already"):
            project.change_roles("ann", options)
        with pytest.raises(InvalidInputError, match="no column 'q'"):
            project.change_roles("ann", TableOptions(ignore=["q"]))
        assert project.data.roles.numeric == ("x",)
        project.label("ann", [11], "c", "key")
    with opened(data) as again:
        assert again.data.roles.numeric == ("x",)
        assert names(again)[11] == "c"


def test_roles_cannot_be_changed_on_data_that_are_others_now(data):
    with opened(data) as project:
        data.write_text(csv(reversed(rows())))
        with pytest.raises(InvalidInputError, match="has changed since it was opened"):
            project.change_roles("ann", TableOptions(ignore=["z"]))


def test_new_labels_of_the_file_come_in_and_people_are_believed(data):
    with opened(data) as project:
        project.label("ann", [0], "b", "key")  # the file says a
        project.label("ann", [1], None, "key")  # the file says b
        project.label("ann", [8], "c", "key")
        project.rename_class("ann", "b", "B")
    told = {0: "a", 1: "b", 2: "a", 3: "b", 4: "b", 5: "b", 8: "a", 9: "b", 10: "d"}
    data.write_text(csv(rows(label=lambda i: told.get(i, ""))))
    with opened(data) as again:
        # row 4 was a in the file, and nobody else said anything; 9 and 10 are new
        expected = {0: "B", 2: "a", 3: "B", 4: "B", 5: "B", 8: "c", 9: "B", 10: "d"}
        assert names(again) == expected
        assert again.state.class_names == ["a", "B", "c", "d"]
        first, second = again.words[1:]
        assert first == "3 label(s) came in from data.csv."
        assert second.startswith("2 row(s) have another label in data.csv than was given here; the")
        n_events = len(again.events)
    with opened(data) as third:
        assert len(third.events) == n_events
        assert "2 row(s)" in third.words[-1]
    told[1] = "d"  # says something else than when ann took it away
    data.write_text(csv(rows(label=lambda i: told.get(i, ""))))
    with opened(data) as fourth:
        assert names(fourth) == expected | {1: "d"}


def test_a_table_of_labels_beside_the_data_comes_in_once(data, tmp_path):
    opened(data).thing.close()
    side = tmp_path / "answers.csv"
    side.write_text("id,label\nr10,c\nr11,a\n")
    with opened(data, TableOptions(labels=[side], min_classes=0)) as project:
        assert names(project)[10] == "c"
    side.unlink()
    with opened(data) as again:
        assert names(again)[11] == "a"


def test_a_project_that_lost_its_beginning_is_damaged(data):
    from beltrami.project.file import ProjectFile
    from beltrami.project.record.events import ClassAdded

    with closing(ProjectFile.open(data.with_name("data.beltrami"), "ann")) as made:
        made.append([("ann", ClassAdded("x"))])
    with pytest.raises(ProjectError, match="does not say which data"):
        open_project(data)


def test_a_project_lies_beside_a_link_to_the_data_and_moves_with_it(data, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    (here / "mine 50% #1?.csv").symlink_to(data)
    monkeypatch.chdir(here)
    with opened("mine 50% #1?.csv") as project:
        assert project.path == here / "mine 50% #1?.beltrami"
        project.label("ann", [10], "c", "key")
        monkeypatch.chdir(tmp_path)
        project.change_roles("ann", TableOptions(ignore=["z"], min_classes=0))
    with opened(here / "mine 50% #1?.beltrami") as again:
        assert names(again)[10] == "c"


def test_links_lead_to_one_project(data, tmp_path):
    link = tmp_path / "link.beltrami"
    link.symlink_to(data.with_name("data.beltrami"))
    with opened(data), pytest.raises(ProjectInUseError):
        open_project(link)
    with opened(link) as again:
        assert again.path == data.with_name("data.beltrami")
    assert isinstance(again.path, Path)
