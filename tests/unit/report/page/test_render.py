"""The page says what it was given, escapes all of it, and loads nothing from anywhere."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from tests.support.fake_pages import fake_page, fake_work, filled_page, hostile_page

from beltrami.core.errors import InvalidInputError
from beltrami.report.page import ClassRow, Island, Question, RowView, render, save_page
from beltrami.report.page.scripts import join_modules, read_asset


class Elements(HTMLParser):
    """Tags with their attributes, and all text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_nothing_a_user_names_becomes_markup():
    plain = Elements(render(filled_page(work=fake_work())))
    hostile = Elements(render(hostile_page()))
    allowed = {tag for tag, _ in plain.tags}
    assert {tag for tag, _ in hostile.tags} <= allowed
    pictures = [attrs["src"] for tag, attrs in hostile.tags if tag == "img"]
    assert all(one.startswith("data:image/png;base64,") for one in pictures)
    assert not [a for _, attrs in hostile.tags for a in attrs if a.startswith("on")]
    assert hostile.text.count("</script><img src=x") >= 10


def test_the_page_loads_nothing():
    html = render(fake_page(100, 3))
    loads = (
        r"""(?:\b(?:src|href|action|data)\s*=\s*["']?|url\(\s*["']?|@import|\bimport\s*\(?["'])"""
    )
    targets = re.findall(loads + r"([^\s\"')>]*)", html)
    assert targets
    assert [t for t in targets if not t.startswith(("#", "{"))] == []
    assert not re.search(r"\b(?:fetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon)", html)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not a place


def test_the_policy_forbids_the_network():
    policies = [
        attrs["content"]
        for tag, attrs in Elements(render(fake_page(20, 2))).tags
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    (policy,) = policies
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "style-src": "'unsafe-inline'",
        "script-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize(
    "page", [fake_page(100, 3), fake_page(50, 30), fake_page(60, 2, positions=None), hostile_page()]
)
def test_names_are_unique_and_every_reference_has_its_target(page):
    tags = Elements(render(page)).tags
    names = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(names) == len(set(names))
    for tag, attrs in tags:
        for key in ("aria-labelledby", "aria-describedby", "href"):
            if key in attrs:
                assert attrs[key].lstrip("#") in names, (tag, attrs)


def test_every_plot_has_a_text_in_its_place():
    tags = Elements(render(fake_page(100, 3))).tags
    plots = [attrs for _, attrs in tags if attrs.get("role") == "img"]
    assert len(plots) == 1 + 3 + 2  # the map, a range for each class, two charts
    assert all(attrs.get("aria-label") for attrs in plots)
    for tag, attrs in tags:
        if tag == "svg":
            assert attrs.get("role") == "img" or attrs.get("aria-hidden") == "true"


def test_the_page_holds_what_it_was_given():
    page = fake_page(300, 3)
    text = Elements(render(page)).text
    for words in (page.headline, *page.warnings, *page.classes, *page.facts.values()):
        assert words in text
    assert all(one.name in text and one.note in text for one in page.candidates)
    assert all(one.reason in text for one in page.questions)


def test_tables_show_what_their_rows_are():
    page = filled_page()
    for shown in (page, replace(page, positions=None)):
        elements = Elements(render(shown))
        assert elements.text.count("what it is") == 2
        n_named = len(page.questions) + len(page.issues)
        n_named += sum(len(one.examples) for one in page.islands)
        assert elements.text.count("the words of a row") == n_named
        assert elements.text.count("higher than 99 % of rows") == n_named
        assert "and 4 more" in elements.text
        assert elements.text.count("Pictures are of 100 rows.") == 1
        pictures = [attrs for tag, attrs in elements.tags if tag == "img"]
        assert pictures
        assert all(one["src"].startswith("data:image/png;base64,") for one in pictures)
        assert all(one["alt"].startswith("picture of ") for one in pictures)
    assert "what it is" not in Elements(render(fake_page(100, 3))).text


def test_long_tables_are_cut_and_the_number_is_stated():
    rows = tuple(ClassRow(f"kind {i}", 1, 1, 1, (0.1, 0.2, 0.3)) for i in range(1234))
    questions = tuple(Question(f"q{i}", "why", 1, "", 0.5) for i in range(51))
    islands = tuple(Island(3, ("a",), 0) for _ in range(21))
    text = Elements(
        render(fake_page(50, 2, class_rows=rows, questions=questions, islands=islands))
    ).text
    assert "The first 50 of 1,234 classes." in text
    assert "kind 49" in text
    assert "kind 50 " not in text
    assert "The first 50 of 51 rows to label." in text
    assert "The first 20 of 21 islands." in text


def test_empty_parts_say_so():
    nothing = np.zeros(0)
    page = fake_page(
        30,
        2,
        class_rows=(),
        reliability=(),
        coverage=nothing,
        risk=nothing,
        candidates=(),
        questions=(),
        issues=(),
        islands=(),
        warnings=(),
        facts={},
        positions=None,
        counts={"rows": 30, "given": 4, "labelled": 26},
    )
    text = Elements(render(page)).text
    for words in (
        "There are no classes yet.",
        "too few labels to hold some of them out",
        "No row is waiting for a label.",
        "No label you gave looks wrong.",
        "Every row is reached by some label.",
    ):
        assert words in text
    assert "Methods tried" not in text
    assert "Before you trust this" not in text


def test_unreached_rows_without_an_island_are_owned_up_to():
    page = fake_page(300, 2, islands=())
    assert "No label reaches 5 rows" in Elements(render(page)).text


def test_a_page_of_no_rows_is_a_page():
    page = fake_page(30, 2)
    none = {name: getattr(page, name)[:0] for name in ("ids", "codes", "given", "source")}
    html = render(
        replace(page, **none, confidence=page.confidence[:0], positions=page.positions[:0])
    )
    assert '<script type="application/json" id="data">null</script>' in html


def test_a_sampled_map_says_so():
    text = Elements(render(fake_page(70_000, 3))).text
    assert "60,000 of 70,000 rows drawn, chosen at random; all given labels are drawn." in text
    assert "rows drawn" not in Elements(render(fake_page(100, 3))).text


def test_rows_without_a_place_are_counted():
    page = fake_page(60, 2)
    page.positions[3] = np.nan
    assert "1 row has no place on the map." in Elements(render(page)).text


def test_sixty_thousand_rows_stay_below_five_megabytes():
    n = 60_000
    ids = np.array([f"document-{i:08d}" for i in range(n)], dtype=object)
    words = "how the words of a document go on " * 4
    html = render(fake_page(n, 3, ids=ids, previews=lambda rows: [words] * len(rows)))
    assert len(html.encode()) < 5_000_000
    data = re.search(r'id="data">(.*?)</script>', html, re.S).group(1)
    assert json.loads(data)["n"] == n


def test_a_megabyte_of_pictures_and_long_texts_stay_below_five_megabytes():
    n = 60_000
    ids = np.array([f"folder/picture-{i:08d}.png" for i in range(n)], dtype=object)
    view = RowView("&" * 320, (("&" * 80, "&" * 80, "higher than 99 % of rows"),) * 6, 4)
    page = fake_page(n, 3, n_given=40, ids=ids, previews=lambda rows: ["words " * 30] * len(rows))
    named = [str(row) for row in ids[:200]]
    page = replace(
        page,
        questions=tuple(replace(page.questions[0], id=name) for name in named[:50]),
        issues=tuple(replace(page.issues[0], id=name) for name in named[50:100]),
        islands=tuple(Island(9, tuple(named[100 + 5 * i : 105 + 5 * i]), 0) for i in range(20)),
        views=dict.fromkeys(named, view),
        pictures=dict.fromkeys(map(str, ids[:400]), "A" * 2500),
    )
    html = render(page)
    assert 4_000_000 < len(html.encode()) < 5_000_000
    data = re.search(r'id="data">(.*?)</script>', html, re.S).group(1)
    assert json.loads(data)["n"] > 30_000


def test_many_classes_are_said_to_share_colours():
    assert "the 12 colours come round again" in Elements(render(fake_page(100, 13))).text
    assert "come round again" not in Elements(render(fake_page(100, 12))).text


def test_the_same_page_gives_the_same_bytes():
    assert render(fake_page(500, 3)) == render(fake_page(500, 3))


def test_a_page_is_saved_whole(tmp_path):
    page = fake_page(30, 2, ids=np.array(["half a pair \ud800"] * 30, dtype=object))
    path = save_page(page, tmp_path / "new" / "report.html")
    assert path.read_text(encoding="utf-8") == render(page)
    assert [item.name for item in path.parent.iterdir()] == ["report.html"]


def test_scripts_and_styles_travel_with_the_package():
    folder = files("beltrami.report.page")
    size = 0
    for name in ("page.html.jinja", "base.css", "page.css", "page.js", "map.js"):
        text = folder.joinpath(name).read_text(encoding="utf-8")
        assert name.endswith("jinja") or "</" not in text
        size += len(text.encode()) if name.endswith(".js") else 0
    assert size < 100_000


def test_colours_are_named_once_for_report_and_studio():
    base = read_asset("base.css")
    studio = files("beltrami.studio_server").joinpath("page", "studio.css").read_text("utf-8")
    named = re.findall(r"^\s*(--[\w-]+):", base, re.MULTILINE)
    assert {"--ground", "--ink", "--accent", "--sans"} <= set(named)
    for style in (read_asset("page.css"), studio):
        assert "light-dark(" not in style
        assert set(re.findall(r"var\((--[\w-]+)\)", style)) <= set(named)
    assert base in render(fake_page(30, 2))


def test_modules_become_one_script_without_the_words_that_join_them():
    script = join_modules("map.js", "page.js")
    assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
    exported = re.findall(r"^export \w+ (\w+)", read_asset("map.js"), re.MULTILINE)
    assert "PointMap" in exported
    (wanted,) = re.findall(r'^import \{ (.*) \} from "./map.js";$', read_asset("page.js"), re.M)
    assert set(wanted.split(", ")) <= set(exported)
    names = ", ".join(exported)
    assert script.startswith(f"const {{ {names} }} = (() => {{\n")
    assert script.count(f"return {{ {names} }};\n}})();\n") == 1
    assert render(fake_page(20, 2)).count(script) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"codes": np.zeros(9, dtype=int)}, r"codes has shape \(9,\) and must have \(10,\)"),
        ({"positions": np.zeros((10, 3))}, r"positions has shape \(10, 3\)"),
        ({"codes": np.full(10, 2)}, "10 entries of codes lie outside -1 to 1"),
        ({"given": np.full(10, -2)}, "10 entries of given lie outside"),
        ({"source": np.full(10, 4, dtype=np.uint8)}, "outside 0 to 3"),
        ({"coverage": np.zeros(3)}, "one curve"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change, words):
    with pytest.raises(InvalidInputError, match=words):
        fake_page(10, 2, **change)
