import pytest
from book.places import links_of, place_of, rewritten


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("README.md", "project/readme.md"),
        ("docs/guides/text.md", "guides/text.md"),
        ("docs/decisions/README.md", "decisions/index.md"),
        ("benchmarks/results/few_labels.md", "contests/few_labels.md"),
        ("docs/gallery/plot_moons.py", "gallery/plot_moons.rst"),
        ("docs/gallery/GALLERY_HEADER.rst", "gallery/index.rst"),
        ("docs/conf.py", None),
        ("docs/_static/book.css", None),
        ("src/beltrami/__init__.py", None),
    ],
)
def test_every_file_has_one_place_in_the_book(path, place):
    assert place_of(path) == place


@pytest.fixture
def tree(tmp_path):
    for name in (
        "README.md",
        "LICENSE",
        "docs/guides/text.md",
        "docs/decisions/README.md",
        "benchmarks/results/few.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


def test_links_lead_to_the_same_page_in_the_book(tree):
    page = "[a](../../benchmarks/results/few.md#top) [b](../decisions) ![c](https://x.org/y.png)\n"
    found = rewritten(page, "docs/guides/text.md", tree)
    assert found.text == (
        "[a](../contests/few.md#top) [b](../decisions/index.md) ![c](https://x.org/y.png)\n"
    )
    assert not found.faults


def test_links_of_pages_from_elsewhere_are_seen_from_their_new_place(tree):
    found = rewritten("[g](docs/guides/text.md) [l](LICENSE)", "README.md", tree)
    assert found.text == "[g](../guides/text.md) [l](../files/LICENSE)"
    assert found.files == ["LICENSE"]


def test_a_link_to_nothing_is_a_fault_with_its_line(tree):
    found = rewritten("\n[g](docs/none.md)", "README.md", tree)
    assert found.faults == ["README.md:2: the link 'docs/none.md' leads to no file"]


def test_fences_and_code_are_no_links_and_the_text_of_a_link_may_run_on():
    text = "[`a`](b.md) `x[0](y)`\n```text\n[c](d.md)\n```\n[e](f.md)"
    assert [link.target for link in links_of("[one\nlink](x.md)")] == ["x.md"]
    assert [(link.line, link.target) for link in links_of(text)] == [(1, "b.md"), (5, "f.md")]
