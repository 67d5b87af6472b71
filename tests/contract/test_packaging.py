"""What the source imports is what pyproject.toml declares, and nothing else is declared."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import beltrami
from beltrami.report import doctor

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OURS = {"beltrami", "beltrami_papers"}


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~ \[;]", line)[0].lower() for line in requirements}


def imported_modules(*, optional: bool) -> Iterator[str]:
    """Yield other packages' modules; optional imports stand in a ``try`` that can do without."""
    for path in (ROOT / "src").rglob("*.py"):
        yield from _imported(path, optional=optional)


def _imported(path: Path, *, optional: bool) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    tried = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.Try) and "ImportError" in map(_exception, block.handlers)
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if (node in tried) != optional:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def _exception(handler: ast.ExceptHandler) -> str:
    return "" if handler.type is None else ast.unparse(handler.type)


def distributions(*, optional: bool) -> set[str]:
    known = packages_distributions()
    modules = set(imported_modules(optional=optional)) - set(sys.stdlib_module_names) - OURS
    return {name.lower() for module in modules for name in known.get(module, [module])}


BY_UVICORN = {"websockets"}
"""What uvicorn imports where it is there, and cannot speak with pages without."""


EXTRAS = names_of([*chain(*PYPROJECT["project"]["optional-dependencies"].values())]) - OURS
"""What only an extra brings."""

BY_CALLERS = {"pandas", "polars"}
"""What is imported to answer a frame of that kind: it is there where the caller has one."""

BY_HAND = {"torch"}
"""Gigabytes, so that `make test-device` tests it, where it is."""


def test_every_import_is_declared_and_every_declaration_imported():
    declared = names_of(PYPROJECT["project"]["dependencies"])
    imported = distributions(optional=False) - EXTRAS
    assert imported - BY_CALLERS == declared - BY_UVICORN
    assert names_of(PYPROJECT["dependency-groups"]["test"]) >= BY_CALLERS & imported


def test_what_is_imported_where_it_is_there_is_tested():
    optional = distributions(optional=True) - names_of(PYPROJECT["project"]["dependencies"])
    assert (optional | EXTRAS) - BY_HAND <= names_of(PYPROJECT["dependency-groups"]["test"])


def test_what_only_an_extra_brings_is_imported_in_the_room_that_does_without():
    """The widget is loaded where `beltrami.notebook` has found the extra, others when asked."""
    lines = (
        path.relative_to(ROOT / "src" / "beltrami").as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if re.search(rf"^\s*(import|from) ({'|'.join(EXTRAS)})\b", path.read_text(), re.MULTILINE)
    )
    rooms = {
        "core/machine/device.py",
        "core/machine/torch_backend.py",
        "notebook/__init__.py",
        "notebook/widget.py",
        "partitions/crews/cluster.py",
        "partitions/crews/opening.py",
        "tables/features/texts.py",
    }
    assert set(lines) == rooms


def test_the_doctor_looks_for_what_is_declared_and_nothing_else(monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda _: None)
    found = doctor.describe_installation()
    del found["device"]  # it may have been asked for
    missing = {one for one, said in found.items() if said == f"MISSING: pip install {one}"}
    assert missing == names_of(PYPROJECT["project"]["dependencies"])
    absent = {
        one: said.rpartition("): pip install ")[2]
        for one, said in found.items()
        if said.startswith("not installed (")
    }
    assert absent == {one: one for one in BY_CALLERS} | {
        one: f'"beltrami[{extra}]"'
        for extra, lines in PYPROJECT["project"]["optional-dependencies"].items()
        for one in names_of(lines) - OURS
    }


def test_frames_are_imported_only_where_the_caller_has_one():
    lines = (
        path.relative_to(ROOT / "src" / "beltrami").as_posix()
        for path in (ROOT / "src").rglob("*.py")
        if set(_imported(path, optional=False)) & BY_CALLERS
    )
    assert set(lines) == {"labelling/frames.py"}


def test_the_source_distribution_names_its_files_from_the_root():
    include = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all(pattern.startswith("/") and (ROOT / pattern[1:]).exists() for pattern in include)


def test_the_version_is_the_same_wherever_it_stands():
    version = re.escape(beltrami.__version__)
    assert re.search(rf"(?m)^version: {version}$", (ROOT / "CITATION.cff").read_text())
    newest = re.search(r"(?m)^## (.+)$", (ROOT / "CHANGELOG.md").read_text())
    assert newest is not None
    assert re.match(rf"{version} \(", newest[1])
