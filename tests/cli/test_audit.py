"""Audits through the command line: what must never be certified, and what a person may do."""

import csv
import gzip
import html
import json
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beltrami.labelling.proving.audits import AuditedLabels

pytestmark = pytest.mark.usefixtures("few_trees")

N = 400


class Desk:
    """A person at a desk: a labels file, the truth, and the command."""

    def __init__(self, shell):
        self.folder, self.truth, self._shell = shell.folder, {}, shell

    def labels(self, said, truth, n=N):
        self.truth = {f"r{i}": truth(i) for i in range(n)}
        rows = [[f"r{i}", said(i), "propagated"] for i in range(n)]
        self.write("labels.csv", [["id", "label", "source"], *rows, ["h", said(0), "human"]])

    def write(self, name, rows):
        with (self.folder / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)

    def run(self, *arguments):
        return self._shell.run("audit", *arguments)

    def draw(self, *arguments, name="a.csv"):
        code, _, err = self.run("labels.csv", "-o", name, *arguments)
        assert code == 0, err
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return [row["id"] for row in csv.DictReader(file)]

    def fill(self, rows, answer=None, name="a.csv"):
        answer = answer or self.truth.get
        self.write(name, [["id", "answer"], *([row, answer(row)] for row in rows)])

    def certified(self, *arguments, name="a.csv"):
        code, out, err = self.run("labels.csv", "--answers", name, "--json", *arguments)
        assert code == 0, err
        return json.loads(out)

    def refused(self, *arguments, name="a.csv"):
        before = {path: path.read_bytes() for path in self.folder.iterdir()}
        said = []
        for form in ([], ["--json"], ["-q"], ["-q", "--json"]):
            code, out, err = self.run("labels.csv", "--answers", name, *arguments, *form)
            assert (code, out) == (1, "")
            assert err.startswith("beltrami: ")
            assert "Traceback" not in err
            said.append(err)
        assert {path: path.read_bytes() for path in self.folder.iterdir()} == before
        return said[0]


@pytest.fixture
def desk(shell):
    return Desk(shell)


def accuracy(desk):
    with (desk.folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        own = [row for row in csv.DictReader(file) if row["source"] == "propagated"]
    return sum(row["label"] == desk.truth[row["id"]] for row in own) / len(own)


def test_wrong_rows_left_blank_do_not_certify(desk):
    desk.labels(lambda i: "ab"[i % 4 == 0], lambda i: "ab"[i % 4 < 2])
    rows = desk.draw("-n", "60", "--seed", "1")
    said = {f"r{i}": "ab"[i % 4 == 0] for i in range(N)}
    desk.fill(rows, lambda row: desk.truth[row] if desk.truth[row] == said[row] else "")
    found = desk.certified()
    assert found["n_blank"] > 5
    assert found["lower"] <= accuracy(desk)
    assert f"{found['n_blank']} left blank, which count as wrong" in found["sentence"]
    assert "rows that you can judge" in found["sentence"]
    assert found["lower_judged"] > 0.8


@pytest.mark.parametrize("word", ["none", "None", "NA", "null", "nan", "?", "N/A"])
def test_a_class_called_like_a_gap_is_a_class(desk, word):
    desk.labels(lambda i: "a" if i % 50 else word, lambda i: "a" if i % 2 else word)
    desk.fill(desk.draw("-n", "60", "--seed", "1"))
    found = desk.certified()
    assert found["n_blank"] == 0
    assert found["n_wrong"] > 15
    assert found["lower"] <= accuracy(desk) < 0.53


def test_rows_that_were_corrected_are_not_drawn_again(desk):
    desk.labels(lambda i: "b" if i == 1 else "a", lambda i: "a" if i % 5 < 3 else "b")
    first = desk.draw("-n", "60", "--seed", "0")
    desk.fill(first)
    before = desk.certified()
    corrected = set(first)
    rows = [[f"r{i}", desk.truth[f"r{i}"] if f"r{i}" in corrected else ("b" if i == 1 else "a"),
             "propagated"] for i in range(N)]  # fmt: skip
    desk.write("labels.csv", [["id", "label", "source"], *rows])
    second = desk.draw("--seed", "0", name="b.csv")
    assert not corrected & set(second)
    desk.fill(second, name="b.csv")
    found = desk.certified(name="b.csv")
    assert (found["n_checked"], found["rounds"]) == (120, 2)
    assert found["lower"] <= accuracy(desk)
    assert before["lower"] < 0.65


def test_classes_that_differ_as_texts_only_are_not_merged(desk):
    desk.labels(lambda i: "1.5" if i % 2 else "1.50", lambda _: "1.50")
    desk.fill(desk.draw("-n", "60", "--seed", "1"))
    found = desk.certified()
    assert found["n_wrong"] > 15
    assert found["lower"] <= accuracy(desk) == 0.5


def test_a_sample_picked_by_hand_is_refused_in_every_form(desk):
    desk.labels(lambda i: "ab"[i == 0], lambda i: "a" if i % 2 else "b")
    nice = [row for row, truth in desk.truth.items() if truth == "a"][:60]
    desk.fill(nice)
    assert "only such rows can prove anything" in desk.refused()
    drawn = desk.draw("-n", "60", name="drawn.csv")
    assert "not drawn" in desk.refused()
    desk.fill([row for row in drawn if desk.truth[row] == "a"])
    assert "rows drawn missing" in desk.refused()


def good_desk(desk):
    desk.labels(lambda i: "abc"[i % 3], lambda i: "abc"[i % 3])
    rows = desk.draw("-n", "20", "--seed", "0")
    desk.fill(rows)
    return rows


def record(desk):
    return desk.folder / "labels.csv.audit.json"


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    "break_it",
    [
        lambda path: edit(path, '"n_pool": 400', '"n_pool": 40'),
        lambda path: edit(path, '"answers": null', '"answers": "a"'),
        lambda path: edit(path, '"seed": 0', '"seed": "x"'),
        lambda path: edit(path, '"pool": 1,', ""),
        lambda path: path.write_bytes(path.read_bytes()[:200]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_text("[" * 100_000, encoding="utf-8"),
        lambda path: path.write_text('{"format": 3}', encoding="utf-8"),
        lambda path: path.write_text('{"seed": "nine"}', encoding="utf-8"),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
        lambda path: path.write_text(
            '{"format": "beltrami audit, version 1", "rounds": [{}], "seal": ""}', encoding="utf-8"
        ),
    ],
)
def test_a_record_that_was_edited_or_cut_short_is_refused(desk, break_it):
    good_desk(desk)
    break_it(record(desk))
    said = desk.refused()
    assert "labels.csv.audit.json" in said
    assert "begin a new audit" in said


def test_a_record_of_another_format_says_so(desk):
    good_desk(desk)
    edit(record(desk), "beltrami audit, version 1", "beltrami audit, version 9")
    assert "'beltrami audit, version 9'" in desk.refused()


def test_labels_that_changed_since_the_draw_are_refused(desk):
    good_desk(desk)
    edit(desk.folder / "labels.csv", "r7,b", "r7,c")
    said = desk.refused()
    assert "has changed since the rows in 'a.csv' were drawn" in said
    assert "beltrami audit labels.csv" in said


def test_a_record_of_other_labels_is_refused(desk):
    good_desk(desk)
    kept = record(desk).read_bytes()
    desk.labels(lambda i: "abc"[i % 3], lambda i: "abc"[i % 3], n=N + 5)
    record(desk).write_bytes(kept)
    assert "has changed since" in desk.refused()


def test_answers_twice_for_strange_rows_and_strange_classes_are_refused(desk):
    rows = good_desk(desk)
    desk.write("a.csv", [["id", "answer"], *([row, "a"] for row in [*rows, rows[0]])])
    assert f"holds ids more than once: {rows[0]!r}" in desk.refused()
    desk.fill([*rows[1:], "zzz"], lambda _: "a")
    assert "1 row(s) that were not drawn and 1 of the 20 rows drawn missing" in desk.refused()
    desk.fill(rows, lambda row: "A" if row == rows[3] else desk.truth[row])
    said = desk.refused()
    assert f"'A' for row {rows[3]!r}" in said
    assert "--other 'A'" in said
    assert desk.certified("--other", "A")["n_wrong"] == 1
    desk.write("a.csv", [["id", "reply"], [rows[0], "a"]])
    assert "no column 'answer'" in desk.refused()
    desk.write("a.csv", [["id", "answer"], *([row, ""] for row in rows)])
    assert "'answer' of 'a.csv' is empty" in desk.refused()
    (desk.folder / "a.csv").write_text('id,answer\nr1,"a\n', encoding="utf-8")
    assert "broken" in desk.refused()


def test_answers_that_were_certified_do_not_change_but_blanks_are_filled_in(desk):
    rows = good_desk(desk)
    desk.fill(rows, lambda row: "" if row == rows[0] else desk.truth[row])
    assert desk.certified()["n_blank"] == 1
    desk.fill(rows)
    assert desk.certified()["n_blank"] == 0
    desk.fill(rows, lambda _: "a")
    assert "differ from those given before" in desk.refused()


def test_a_lost_sheet_is_given_again_with_the_same_rows(desk):
    desk.labels(lambda i: "abc"[i % 3], lambda i: "abc"[i % 3])
    first = desk.draw("-n", "20")
    assert desk.draw(name="again.csv") == first
    assert json.loads(record(desk).read_text(encoding="utf-8"))["rounds"][1:] == []
    assert desk.run("labels.csv", "-n", "30", "-o", "x.csv")[0] == 1


def test_two_draws_differ_unless_a_seed_is_given(desk):
    drawn = []
    for _ in range(2):
        desk.labels(lambda i: "abc"[i % 3], lambda i: "abc"[i % 3])
        record(desk).unlink(missing_ok=True)
        drawn.append(desk.draw("-n", "20", name=f"{len(drawn)}.csv"))
    assert drawn[0] != drawn[1]


def test_what_is_missing_is_said(desk):
    good_desk(desk)
    assert "95 % is not proved" in desk.run("labels.csv", "--answers", "a.csv")[1]
    found = desk.certified()
    assert found["n_further_answers"] % 20 == 0
    assert found["n_further_answers"] > 0
    assert desk.certified("--target", "0.5")["is_proved"] is True
    assert "target=2.0" in desk.refused("--target", "2")


def test_what_the_risk_promised_is_to_be_proved(desk):
    desk.labels(lambda i: "abc"[i % 3], lambda i: "abc"[i % 3])
    facts = {"parameters": "method=auto, risk=0.2, random_state=0"}
    (desk.folder / "labels.csv.meta.json").write_text(json.dumps(facts), encoding="utf-8")
    desk.fill(desk.draw("-n", "20", "--seed", "0"))
    said = desk.run("labels.csv", "--answers", "a.csv")[1]
    assert "80 % is proved.\nThe target is 80 %, because the labels were accepted by a" in said
    assert (desk.certified()["target"], desk.certified()["is_proved"]) == (0.8, True)
    said = desk.run("labels.csv", "--answers", "a.csv", "--target", "0.5")[1]
    assert said.endswith("50 % is proved.\n")


def test_the_rows_whose_labels_were_wrong_are_named(desk):
    desk.labels(lambda _: "a", lambda i: "b" if i % 3 == 0 else "a")
    rows = desk.draw("-n", "60", "--seed", "1")
    blank, wrong = rows[:4], [row for row in rows[4:] if desk.truth[row] == "b"]
    assert len(wrong) > 10
    desk.fill(rows, lambda row: "" if row in blank else desk.truth[row])
    said = desk.run("labels.csv", "--answers", "a.csv", "--other", "b")[1]
    named = ", ".join(map(repr, wrong[:10]))
    assert f"wrong labels: {named} and {len(wrong) - 10} more\n" in said
    assert desk.certified("--other", "b")["wrong"] == wrong
    said = desk.run("labels.csv", "--answers", "a.csv", "--other", "b", "--target", "0.1")[1]
    assert f"wrong labels: {named}" in said


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "tsv.gz"])
def test_labels_of_any_kind_are_audited_as_texts(desk, ending):
    ids, label = [str(i) for i in range(60)], [i % 3 for i in range(60)]
    path = desk.folder / f"labels.{ending}"
    if ending == "parquet":
        pq.write_table(pa.table({"id": ids, "label": label, "source": ["propagated"] * 60}), path)
    elif ending == "jsonl":
        rows = [{"id": i, "label": i % 3, "source": "propagated"} for i in range(60)]
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        rows = "".join(f"{i}\t{i % 3}\tpropagated\n" for i in range(60))
        path.write_bytes(gzip.compress(("id\tlabel\tsource\n" + rows).encode()))
    assert desk.run(path.name, "-n", "10", "-o", "a.csv")[0] == 0
    assert (desk.folder / f"{path.name}.audit.json").exists()
    with (desk.folder / "a.csv").open(encoding="utf-8", newline="") as file:
        drawn = [row["id"] for row in csv.DictReader(file)]
    desk.fill(drawn, lambda row: str(int(row) % 3))
    code, out, err = desk.run(path.name, "--answers", "a.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["n_wrong"] == 0


def test_an_old_sheet_does_not_certify_labels_that_were_learned_anew(desk):
    desk.labels(lambda i: "ab"[i == 0], lambda _: "a")
    first = desk.draw("-n", "65", "--seed", "0")
    desk.fill(first)
    assert desk.certified()["lower"] > 0.9
    seen = set(first)
    desk.labels(lambda i: "a" if f"r{i}" in seen else "b", lambda _: "a")
    desk.draw(name="b.csv")  # of the new labels, not answered
    assert "changed since the last draw" in desk.refused()


def test_labels_of_other_data_do_not_take_over_a_record(desk):
    desk.labels(lambda i: "ab"[i % 2], lambda i: "ab"[i % 2])
    facts = desk.folder / "labels.csv.meta.json"
    facts.write_text('{"rows_sha256": "january"}', encoding="utf-8")
    desk.fill(desk.draw("-n", "20"))
    assert desk.certified()["n_checked"] == 20
    facts.write_text('{"rows_sha256": "february"}', encoding="utf-8")
    assert "labels of other data than those that were audited" in desk.refused()


def test_a_confidence_is_not_rounded_up(desk):
    good_desk(desk)
    assert "at 99.99999 % confidence" in desk.certified("--confidence", "0.9999999")["sentence"]


def test_a_proof_is_a_page_as_well(desk):
    desk.labels(lambda i: "<b>" if i % 3 else "a&b", lambda i: "<b>" if i % 3 and i > 30 else "a&b")
    desk.fill(desk.draw("--seed", "1"))
    found = desk.certified("--report", str(desk.folder / "proof.html"))
    page = (desk.folder / "proof.html").read_text(encoding="utf-8")
    assert found["report"] == str(desk.folder / "proof.html")
    assert found["sentence"] in page
    assert found["wrong"]
    assert all(f">{row}<" in page for row in found["wrong"])
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "--answers" in page
    assert AuditedLabels.read(desk.folder / "labels.csv").digest in page


def test_the_command_on_a_proof_says_the_same_again(desk):
    desk.labels(
        lambda i: "a" if i % 3 else "b", lambda i: "a" if i % 3 and i > 30 else "none of these"
    )
    desk.fill(desk.draw("--seed", "1"))
    first = desk.certified("--report", str(desk.folder / "proof.html"), "--other", "none of these")
    page = html.unescape((desk.folder / "proof.html").read_text(encoding="utf-8"))
    command = page.partition('<pre class="command"><code>')[2].partition("</code>")[0]
    code, out, err = desk.run(*shlex.split(command)[2:], "--json")
    assert code == 0, err
    assert json.loads(out)["sentence"] == first["sentence"]


def test_a_page_of_a_proof_replaces_no_input_and_waits_for_answers(desk):
    desk.labels(lambda i: "a", lambda i: "a")
    rows = desk.draw("--seed", "1")
    desk.fill(rows)
    for name in ("labels.csv", "a.csv", "proof.txt", "labels.csv.audit.json"):
        assert "page" in desk.refused("--report", str(desk.folder / name))
    code, out, err = desk.run("labels.csv", "-o", "b.csv", "--report", "proof.html")
    assert (code, out) == (1, "")
    assert "--answers" in err


def test_labels_written_over_audited_ones_are_told_of(shell, desk):
    def write(n_given):
        rows = [f"{10 * (i % 2) + i % 5 / 9},{i % 7 / 9},{'ab'[i % 2]}" for i in range(120)]
        cut = [one if i < n_given else one[:-1] for i, one in enumerate(rows)]
        text = "\n".join(["x,y,label", *cut])
        (desk.folder / "data.csv").write_text(text, encoding="utf-8")

    def label():
        code, out, err = shell.run("label", "data.csv", "-o", "labels.csv", "--ask", "0")
        assert code == 0, err
        return out

    write(20)
    assert "certificate" not in label()
    with (desk.folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        desk.truth = {row["id"]: row["label"] for row in csv.DictReader(file)}
    desk.fill(desk.draw("-n", "20", "--seed", "1"))
    desk.certified()
    assert "certificate" not in label()  # the same labels
    write(18)
    assert "! labels.csv.audit.json holds 20 answers about the labels that were" in label()
    _, out, _ = shell.run("label", "data.csv", "-o", "labels.csv", "--ask", "0", "--json")
    assert "20 answers" in json.loads(out)["audit"]
    code, out, err = desk.run("labels.csv", "-o", "b.csv")
    assert code == 0, err
    assert "a new certificate begins here" in out
