"""The book is whole: every name has a page and an example, every page is listed, links lead on."""

import ast
import re
import sys
from importlib import import_module
from inspect import isclass
from pathlib import Path

import pytest
from numpydoc.docscrape import FunctionDoc

import beltrami
from beltrami.core import errors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))

from book.blocks import AGREED, blocks_of, fences_of  # noqa: E402
from book.gather import gather  # noqa: E402
from book.outputs import places_of  # noqa: E402
from book.places import place_of, rewritten  # noqa: E402

NAMES = sorted(set(beltrami.__all__) - {"__version__"})
PAGES = sorted(DOCS.rglob("*.md"))
LINKING = [*PAGES, *(ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING"))]


def called(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    examples = FunctionDoc(getattr(beltrami, name))["Examples"]
    assert any(line.lstrip().startswith(">>>") for line in examples)


def test_the_reference_lists_every_public_name_once():
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    listed = re.findall(r"^   (\w+)$", text, flags=re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(NAMES) <= set(listed)


def test_what_the_reference_lists_below_the_public_names_is_where_it_says():
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    listed = re.findall(r"^   ((?:\w+\.)+\w+)$", text, flags=re.MULTILINE)
    assert len(listed) > 5
    for one in listed:
        module, _, name = one.rpartition(".")
        assert hasattr(import_module(f"beltrami.{module}"), name), one


def test_the_reference_lists_every_error_and_warning():
    text = (DOCS / "reference" / "index.md").read_text("utf-8")
    both = (errors.BeltramiError, errors.BeltramiWarning)
    known = [one for one in vars(errors).values() if isclass(one) and issubclass(one, both)]
    listed = re.findall(r"^   (\w+)$", text, flags=re.MULTILINE)
    assert {one.__name__ for one in known} <= set(listed)


@pytest.mark.slow
def test_the_example_of_the_readme_has_sound_types(tmp_path, monkeypatch):
    from mypy import api

    blocks = fences_of((ROOT / "README.md").read_text("utf-8"))
    (source,) = [block.source for block in blocks if block.language == "python"]
    example = tmp_path / "example.py"
    example.write_text(source, encoding="utf-8")
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    said, wrong, code = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(example)])
    assert code == 0, said + wrong


def listed_in_toctrees(text):
    for block in fences_of(text):
        if block.language == "{toctree}":
            lines = [line.strip() for line in block.source.splitlines()]
            entries = (line for line in lines if line and not line.startswith(":"))
            yield from (re.sub(r"^.*<(.*)>$", r"\1", entry) for entry in entries)


def test_every_page_is_reachable(tmp_path):
    gather(ROOT, tmp_path)
    every = {
        path.relative_to(tmp_path).as_posix().removesuffix(".md") for path in tmp_path.rglob("*.md")
    }
    every = {name for name in every if not name.startswith("files/")}
    reached, waiting = {"index"}, ["index"]
    while waiting:
        page = waiting.pop()
        folder = page.rpartition("/")[0]
        for entry in listed_in_toctrees((tmp_path / f"{page}.md").read_text("utf-8")):
            there = f"{folder}/{entry}" if folder else entry
            pattern = re.compile(re.escape(there).replace(r"\*", "[^/]*"))
            fresh = {name for name in every if pattern.fullmatch(name)} - reached
            reached |= fresh
            waiting += fresh
    assert every - reached == set()


@pytest.mark.parametrize("page", LINKING, ids=called)
def test_relative_links_lead_to_files(page):
    assert not rewritten(page.read_text("utf-8"), called(page), ROOT).faults


def run_blocks(page):
    name = place_of(called(page)).removesuffix(".md")
    return name, blocks_of(page.read_text("utf-8"), name)


def python_of(page):
    return [block for block in run_blocks(page)[1] if block.language == "python"]


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=called)
def test_python_of_pages_compiles(page):
    for block in python_of(page):
        compile(block.source, f"{page}:{block.line}", "exec")


def prints(source):
    """Say whether a piece of code prints by its own words, and not into a file."""
    return any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "print"
        and all(keyword.arg != "file" for keyword in node.keywords)
        for node in ast.walk(ast.parse(source))
    )


@pytest.mark.parametrize("page", PAGES, ids=called)
def test_what_a_block_prints_stands_beneath_it(page):
    """Written by ``python docs/_extensions/book/outputs.py PAGE``; the build compares it."""
    name = place_of(called(page)).removesuffix(".md")
    bare = [place.block for place in places_of(page.read_text("utf-8"), name) if not place.printed]
    python = [block for block in bare if block.language == "python" and not block.is_hidden]
    assert not [block.line for block in python if prints(block.source)]


def private_names(source):
    """Yield what a piece of code takes from the package and is no public name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (
                name.name
                for name in node.names
                if re.match(r"beltrami\w*\.", name.name) or name.name == "beltrami_papers"
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("beltrami"):
            taken = {f"{node.module}.{name.name}" for name in node.names}
            yield from taken - {f"beltrami.{name}" for name in beltrami.__all__}
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"bt", "beltrami"}:
            yield from {f"bt.{node.attr}"} - {f"bt.{name}" for name in beltrami.__all__}


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "README.md", *sorted((DOCS / "gallery").glob("*.py"))], ids=called
)
def test_pages_use_public_names_only(page):
    text = page.read_text("utf-8")
    sources = [text] if page.suffix == ".py" else [block.source for block in python_of(page)]
    assert not [name for source in sources for name in private_names(source)]


@pytest.mark.parametrize(
    "source",
    [
        "import beltrami.graph as g",
        "from beltrami.graph.model import Graph",
        "from beltrami import KnnGraph, core",
        "import beltrami as bt; bt.core.progress",
        "from beltrami_papers.preparation import word_counts",
    ],
)
def test_a_name_that_is_not_public_is_seen(source):
    assert len(list(private_names(source))) == 1


@pytest.mark.parametrize("page", [page for page in PAGES if run_blocks(page)[1]], ids=called)
def test_pages_use_the_agreed_languages_only(page):
    others = {block.language for block in fences_of(page.read_text("utf-8"))} - set(AGREED)
    assert not {language for language in others if not language.startswith("{")}
