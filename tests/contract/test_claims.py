"""Every number that a page states as measured is the one in the committed results."""

import re
from pathlib import Path

import pytest
from tests.support import claims
from tests.support.claims import (
    NUMBER,
    ROOT,
    Claim,
    loose_numbers,
    number_at,
    plain,
    read_claims,
    tables_of,
)

CLAIMS = read_claims()
LINK_TARGET = re.compile(r"\]\([^)]*\)")


def text_of(page):
    return plain((ROOT / page).read_text("utf-8"))


@pytest.mark.parametrize("claim", CLAIMS, ids=[f"{one.page}:{one.says[:40]}" for one in CLAIMS])
def test_a_page_says_what_the_results_say(claim):
    assert claim.text() in text_of(claim.page)


def results_of_the_readme():
    text = (ROOT / "README.md").read_text("utf-8")
    return plain(text.partition("\n## Results\n")[2].partition("\n## ")[0])


def unclaimed(section):
    for claim in CLAIMS:
        if claim.page == "README.md":
            section = section.replace(claim.text(), " ")
    return NUMBER.findall(LINK_TARGET.sub("]", section))


def test_no_number_of_the_readme_is_without_a_source():
    assert unclaimed(results_of_the_readme()) == []


def test_a_number_changed_by_hand_is_seen():
    section = results_of_the_readme()
    claim = next(one for one in CLAIMS if one.page == "README.md")
    last = list(NUMBER.finditer(claim.text()))[-1]
    forged = claim.text()[: last.start()] + "99.9" + claim.text()[last.end() :]
    assert "99.9" in unclaimed(section.replace(claim.text(), forged))


PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if path.parent.name in {ROOT.name, "docs", "guides", "methods", "explanations"}
)


def claims_of(page):
    return [claim for claim in CLAIMS if claim.page == page]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_cites_a_table_has_a_claim_on_it(page):
    cited = set(re.findall(r"benchmarks/results/(\w+)\.md\)", text_of(page)))
    cells = [cell for claim in claims_of(page) for cell in claim.places.values()]
    assert cited <= {Path(cell["results"]).stem for cell in cells}


@pytest.mark.parametrize("page", PAGES)
def test_a_sentence_that_cites_a_table_has_no_number_without_a_claim(page):
    assert loose_numbers(page, claims_of(page)) == []


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    (tmp_path / "t.md").write_text(
        "# T\n\n| who | mark | wrong |\n| --- | --- | --- |\n| a | x | **2.5** (1.0), 20 |\n"
        "| a | y | 4,000 |\n| [b](b.md) | x | 1.25 |\n"
    )
    monkeypatch.setattr(claims, "ROOT", tmp_path)
    return {"results": "t.md", "column": "wrong"}


def test_a_place_is_a_cell_of_a_table(sheet):
    assert number_at(sheet | {"row": ["a", "x"]}) == "2.5"
    assert number_at(sheet | {"row": ["a", "x"], "number": 3}) == "20"
    assert number_at(sheet | {"row": "b", "as": ".0f", "times": 100}) == "125"
    assert number_at(sheet | {"row": ["a", "x"], "less": "b", "as": ".2f"}) == "1.25"
    assert number_at(sheet | {"row": [["a", "x"], ["a", "y"]], "as": ",.1f"}) == "4,002.5"
    assert number_at(sheet | {"count": True}) == "3"


def test_a_place_that_is_nowhere_or_twice_is_an_error(sheet):
    with pytest.raises(LookupError, match="0 tables"):
        number_at(sheet | {"row": "c"})
    with pytest.raises(LookupError, match="2 lines"):
        number_at(sheet | {"row": "a"})
    with pytest.raises(LookupError, match="0 tables"):
        number_at(sheet | {"row": "b", "column": "right"})
    assert len(tables_of(claims.ROOT / "t.md")) == 1


def test_a_line_and_the_least_of_a_column_are_places_too(sheet, tmp_path):
    (tmp_path / "u.md").write_text("Grows as n^0.79, 3 of 4.\n\n| n |\n| --- |\n| 3 |\n| 2 |\n")
    other = {"results": "u.md"}
    assert number_at(other | {"line": "Grows as n^", "as": ".1f"}) == "0.8"
    assert number_at(other | {"line": "Grows as n^", "number": 3}) == "4"
    assert number_at(other | {"column": "n", "of": "least"}) == "2"
    assert number_at(other | {"column": "n", "of": "most", "times": 10, "as": ".0f"}) == "30"
    with pytest.raises(LookupError, match="0 lines"):
        number_at(other | {"line": "Falls"})


def test_one_of_several_tables_with_the_same_heads_is_named(sheet, tmp_path):
    (tmp_path / "u.md").write_text(
        "| a | n |\n|---|---|\n| x | 3 |\n\n| a | n |\n|---|---|\n| x | 2 |\n"
    )
    asked = {"results": "u.md", "row": "x", "column": "n"}
    assert number_at(asked | {"table": 2}) == "2"
    with pytest.raises(LookupError, match="2 tables"):
        number_at(asked)


LOOSE = """# Page 1

It takes 3 s ([a](benchmarks/results/a.md)). That is 4.

```text printed
5 ([a](benchmarks/results/a.md))
```

| 6 | no link |
| `7` and $8$ on COIL-20 | [9](reproductions/a.md) |
"""


def test_a_number_in_a_sentence_that_cites_a_table_is_seen(sheet, tmp_path):
    (tmp_path / "p.md").write_text(LOOSE)
    (sentence,) = loose_numbers("p.md", [])
    assert "It takes 3 s" in sentence
    held = Claim(
        "p.md", "Page 1 It takes {s} s", {"s": sheet | {"row": "b", "as": ".0f", "times": 2.4}}
    )
    assert held.text() == "Page 1 It takes 3 s"
    assert loose_numbers("p.md", [held]) == []
