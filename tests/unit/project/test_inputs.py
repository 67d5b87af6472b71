"""Which row is which when the data have changed: labels stay with their rows, or it is refused."""

import gzip
from contextlib import closing

import numpy as np
import pytest
from tests.support.histories import event, labelled

from beltrami.core.errors import InvalidInputError
from beltrami.project import open_project
from beltrami.project.file import StoredInput
from beltrami.project.inputs import Input, translate
from beltrami.project.record.events import Kept, Labelled, Marked
from beltrami.tables import TableOptions


def line(i, name="{}", label=""):
    return f"{name.format(i)},{i % 2 * 4 + i / 20:.3f},{i * 7 % 10 / 3:.3f},{label}\n"


def write(path, rows, name="r{}", head="id,x,z,label\n", labels=None):
    path.write_text(head + "".join(line(i, name, (labels or {}).get(i, "")) for i in rows))


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data.csv"


def opened(source, **options):
    return closing(open_project(source, TableOptions(min_classes=0, **options), user="ann"))


def label_some(data, rows=(2, 5, 11), **options):
    """Label rows by their number in the first file, which their class says."""
    with opened(data, **options) as project:
        for row in rows:
            project.label("ann", [row], f"row {row}", "key")
        project.mark("ann", [7], "unsure")


def found(project):
    """Return what each row is called by its id or position."""
    ids = project.data.ids.tolist()
    return {ids[row]: given.label for row, given in project.state.labels.items()}


def test_rows_are_matched_by_id(data):
    write(data, range(20))
    label_some(data)
    write(data, [19, 5, 30, 2, 7, 31])
    with opened(data) as project:
        assert found(project) == {"r5": "row 5", "r2": "row 2"}
        assert project.state.unsure == {4}
        assert project.words[1] == (
            "data.csv has changed since: 2 row(s) are new, 4 were there before, 16 are gone; "
            "labels of these are kept for when they come back."
        )
        project.label("bob", [2], "row 30", "key")
        assert project.events[-1].body.input == 2
    with opened(data) as again:
        assert found(again) == {"r5": "row 5", "r2": "row 2", "r30": "row 30"}
        assert len(again.words) == 1


def test_labels_of_rows_that_were_gone_come_back_with_them(data):
    write(data, range(20))
    label_some(data)
    write(data, [2, 30])
    with opened(data) as project:
        project.label("bob", [0, 1], ["other", "row 30"], "key")
        project.undo("ann")  # the mark of a row that is not there
    write(data, [11, 30, 5, 2])
    with opened(data) as again:
        expected = {"r11": "row 11", "r30": "row 30", "r5": "row 5", "r2": "other"}
        assert found(again) == expected
        assert again.undo("bob").taken_back.rows == (3, 1)
        assert found(again) == {"r11": "row 11", "r5": "row 5", "r2": "row 2"}
    write(data, range(20))
    with opened(data) as back:
        assert found(back) == {f"r{i}": f"row {i}" for i in (2, 5, 11)}
        assert back.state.unsure == set()
        assert back.events[-1].kind == "input"
        assert back.events[-1].body.input == 1  # the very first content


def test_a_changed_cell_leaves_the_row_who_it_is(data):
    write(data, range(20))
    label_some(data)
    data.write_text(data.read_text().replace("r5,4.250", "r5,4.750"))
    with opened(data) as project:
        assert found(project)["r5"] == "row 5"
        assert "0 row(s) are new, 20 were there before, 0 are gone." in project.words[1]


def test_ids_of_other_rows_are_refused(data):
    write(data, range(20))
    label_some(data)
    write(data, range(20), name="q{}")
    before = data.with_name("data.beltrami").read_bytes()
    with pytest.raises(InvalidInputError, match="nothing says which row is which"):
        open_project(data)
    assert data.with_name("data.beltrami").read_bytes() == before


PLAIN = {"name": "1.5", "head": "w,x,z,label\n"}


def test_without_ids_further_rows_at_the_end_are_fine(data):
    write(data, range(20), **PLAIN)
    label_some(data)
    write(data, range(25), **PLAIN)
    with opened(data) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}
        assert "5 row(s) are new, 20 were there before, 0 are gone." in project.words[1]
        project.label("ann", [24], "row 24", "key")
    with opened(data) as again:
        assert found(again)[24] == "row 24"


def test_appended_lines_that_change_the_kind_of_a_column_are_fine_too(data):
    write(data, range(20), **PLAIN)
    label_some(data)
    data.write_text(data.read_text() + "many,0,0,\n")
    with opened(data) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}


@pytest.mark.parametrize(
    "rows",
    [[*range(1, 20), 0], range(19), [*range(10), 30, *range(10, 20)]],
    ids=["moved", "cut", "put in"],
)
def test_without_ids_any_other_change_is_refused(data, rows):
    write(data, range(20), **PLAIN)
    label_some(data)
    write(data, rows, **PLAIN)
    with pytest.raises(InvalidInputError, match=r"land on other rows.*--id.*--project"):
        open_project(data)
    write(data, range(20), **PLAIN)
    with opened(data) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}


def test_a_line_that_went_on_is_another_row(data):
    cells = "x,z\n" + "".join(f"{i * 3 % 7}.5,{i}\n" for i in range(20))
    data.write_text(cells.rstrip("\n"))
    label_some(data)
    data.write_text(cells.rstrip("\n") + "7\n1.5,2\n")  # 19 has become 197
    with pytest.raises(InvalidInputError, match="land on other rows"):
        open_project(data)
    data.write_text(cells + "1.5,2\n")
    with opened(data) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}


def test_ids_that_only_count_rows_name_nobody_unless_somebody_says_so(data):
    write(data, range(20), name="{}")
    label_some(data)
    cells = [line(i, "{}") for i in range(20)]
    shuffled = [cells[i].split(",", 1)[1] for i in (5, *range(5), *range(6, 20))]
    data.write_text("id,x,z,label\n" + "".join(f"{i},{one}" for i, one in enumerate(shuffled)))
    with pytest.raises(InvalidInputError, match="column 'id' names the rows, say so with --id"):
        open_project(data)
    with opened(data, id="id") as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}


def test_ids_that_count_are_names_once_they_are_out_of_order(data):
    write(data, range(20), name="{}")
    label_some(data)
    write(data, [5, *range(5), *range(6, 22)], name="{}")
    with opened(data) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}
        assert project.state.labels[0].label == "row 5"


def test_a_column_of_ids_may_be_named_later(data):
    head = "x1,x,z,label\n"
    write(data, range(20), name="k{}", head=head)
    label_some(data, ignore=["x1"])
    with opened(data, id="x1") as project:
        assert found(project)["k5"] == "row 5"
        assert project.events[-1].kind == "roles"
    write(data, range(19, 2, -1), name="k{}", head=head)
    with opened(data) as again:
        assert found(again) == {"k5": "row 5", "k11": "row 11"}


def test_other_options_of_the_same_file_change_no_row(data):
    data.write_text(
        "a,x,z,kind\n" + "".join(f"0{i},{i},{i * 3 % 7},{'pq'[i % 2]}\n" for i in range(20))
    )
    label_some(data)
    with opened(data, label="kind") as project:
        assert found(project)[0] == "p"
        assert found(project)[5] == "row 5"
    with opened(data, label="kind", id="a") as project:
        assert found(project)["05"] == "row 5"


def test_a_file_written_anew_with_the_same_rows_is_the_same(data):
    import pandas as pd

    write(data, range(20), **PLAIN)
    label_some(data)
    frame = pd.read_csv(data)
    frame["label"] = ["p", "q"] * 10
    frame.to_csv(data, index=False)
    with opened(data) as project:
        assert found(project)[5] == "row 5"
        assert found(project)[0] == "p"
        assert not any("has changed" in one for one in project.words)


def test_a_matrix_may_grow(tmp_path):
    points = np.random.default_rng(0).normal(size=(20, 3))
    path = tmp_path / "points.npy"
    np.save(path, points)
    label_some(path)
    np.save(path, np.vstack([points, points[:4]]))
    with opened(path) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}
    np.save(path, np.vstack([points[:4], points]))
    with pytest.raises(InvalidInputError, match="land on other rows"):
        open_project(path)


def test_a_packed_file_may_grow(tmp_path):
    path = tmp_path / "data.csv.gz"
    plain = tmp_path / "plain.csv"
    for n in (20, 23):
        write(plain, range(n), **PLAIN)
        path.write_bytes(gzip.compress(plain.read_bytes()))
        if n == 20:
            label_some(path)
    with opened(path) as project:
        assert found(project) == {i: f"row {i}" for i in (2, 5, 11)}


def test_a_file_that_changes_while_it_is_read_is_refused(data, monkeypatch):
    from beltrami.project import reading

    write(data, range(20))
    take_in = reading.take_in

    def slow(source, options):
        intake = take_in(source, options)
        write(data, range(21))
        return intake

    monkeypatch.setattr(reading, "take_in", slow)
    with pytest.raises(InvalidInputError, match="changed while it was read"):
        open_project(data)
    assert not data.with_name("data.beltrami").exists()


def test_a_read_only_look_at_changed_data_saves_nothing_and_repeats(data):
    write(data, range(20))
    label_some(data)
    write(data, [5, 2, 30], labels={30: "new"})
    content = data.with_name("data.beltrami").read_bytes()
    looks = []
    for _ in range(2):
        project = open_project(data, read_only=True)
        looks.append(project.state)
        assert found(project) == {"r5": "row 5", "r2": "row 2", "r30": "new"}
    assert looks[0] == looks[1]
    assert data.with_name("data.beltrami").read_bytes() == content


def known(number, keys, ids=None):
    keys = np.asarray(keys, dtype=np.int64)
    return Input(number, keys, "f", None, "", 0, None if ids is None else "id", ids)


def test_an_input_is_packed_and_comes_back():
    one = known(3, [4, 5, 9, 1], ("a", "ö", "c", "7"))
    again = Input.read(one.stored)
    assert again.keys.tolist() == [4, 5, 9, 1]
    assert (again.number, again.ids, again.id_column) == (3, one.ids, "id")
    many = known(1, range(100_000))
    assert len(many.stored.rows) < 2000


@pytest.mark.parametrize(
    "stored",
    [
        StoredInput(1, "{", b"", None),
        StoredInput(1, "{}", b"x", None),
        StoredInput(1, known(1, [1, 2]).stored.facts, known(1, [1]).stored.rows, None),
        StoredInput(1, known(1, [0]).stored.facts, known(1, [-4]).stored.rows, None),
        StoredInput(1, known(1, [0]).stored.facts, known(1, [0]).stored.rows, b"x"),
    ],
    ids=["no JSON", "no rows", "other rows", "negative", "no ids"],
)
def test_an_input_that_we_did_not_pack_is_refused(stored):
    with pytest.raises(InvalidInputError, match="input 1"):
        Input.read(stored)


def test_events_are_translated_row_by_row():
    first, second = known(1, [0, 1, 2, 3]), known(2, [3, 9, 1])
    events = [
        event(1, labelled([0, 1, 3], "a", "b", "c", old=["x", None, "y"])),
        event(2, labelled([2], "a")),
        event(3, Marked((3, 0), "skip", 1)),
        event(4, Labelled((0, 1), ("p",), "area", (None,), 2)),
        event(5, Kept((3, 0), "twins", "b | c", 1)),
    ]
    one, two, three, four, five = (one.body for one in translate(events, [first, second], second))
    assert (one.rows, one.labels, one.old) == ((2, 0), ("b", "c"), (None, "y"))
    assert (two.rows, two.labels) == ((), ("a",))
    assert three.rows == (0,)
    assert four is events[3].body
    assert (five.rows, five.value) == ((0,), "b | c")
    back = translate(events, [first, second], first)
    assert back[3].body.rows == (3,)
    assert back[0] is events[0]


@pytest.mark.parametrize("body", [labelled([4], "a"), Labelled((0,), ("a",), "key", (None,), 3)])
def test_an_event_about_rows_that_never_were_is_refused(body):
    inputs = [known(1, [0, 1, 2, 3])]
    with pytest.raises(InvalidInputError, match="event 1 names rows"):
        translate([event(1, body)], inputs, inputs[0])
