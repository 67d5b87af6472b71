"""The tree keeps its promises: sizes, import weight, citations, the public surface."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import beltrami

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
PUBLIC_API = Path(__file__).with_name("public_api.txt")


def test_modules_have_at_most_400_lines():
    packages = {path.relative_to(SOURCE).parts[0] for path in MODULES}
    assert packages == {"beltrami", "beltrami_papers"}
    long = {path.name: n for path in MODULES if (n := len(path.read_text().splitlines())) > 400}
    assert not long


def test_functions_have_at_most_60_lines_besides_their_docstring():
    long = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                size = node.end_lineno - body[0].lineno + 1 if body else 0
                if size > 60:
                    long.append(f"{path.relative_to(SOURCE)}: {node.name} ({size})")
    assert not long


def class_definitions():
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node


def estimators_of(classes):
    """Return the classes with BaseEstimator among their ancestors, near or far."""
    parents = {
        one.name: {re.match(r"[\w.]*?(\w+)(\[|$)", ast.unparse(base))[1] for base in one.bases}
        for one in classes
    }
    reached = {"BaseEstimator"}
    while more := {name for name, bases in parents.items() if bases & reached} - reached:
        reached |= more
    return reached


def test_constructors_only_store_their_arguments():
    classes = [node for node in class_definitions() if node.bases]
    estimators = estimators_of(classes)
    public = {name: getattr(beltrami, name) for name in beltrami.__all__}
    ours = {name for name, thing in public.items() if hasattr(thing, "get_params")}
    assert len(ours) > 20
    assert ours <= estimators
    offenders = []
    for node in classes:
        for item in node.body if node.name in estimators else ():
            if isinstance(item, ast.FunctionDef) and item.name == "__init__":
                offenders += [
                    f"{node.name}: {text}"
                    for text in map(ast.unparse, item.body)
                    if not re.fullmatch(r"self\.(\w+) = \1", text)
                ]
    assert not offenders


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, beltrami; "
        "print([m for m in ('numba', 'faiss', 'matplotlib', 'typer', 'sklearn', 'scipy') "
        "if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert loaded == "[]"


def test_every_citation_is_in_the_bibliography():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text()))
    cited = {
        key for path in MODULES for key in re.findall(r"\[([A-Za-z]+[0-9]{2})\]_", path.read_text())
    }
    assert cited, "no citation found; the pattern must be wrong"
    assert cited <= known


def test_public_names_exist_and_are_documented():
    for name in beltrami.__all__:
        thing = getattr(beltrami, name)
        assert name == "__version__" or inspect.getdoc(thing)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match=r"attribute '?nonsense"):
        beltrami.nonsense  # noqa: B018


def public_api() -> str:
    lines = []
    for name in sorted(beltrami.__all__):
        thing = getattr(beltrami, name)
        if inspect.isclass(thing) and issubclass(thing, Exception):
            lines.append(name)
        elif callable(thing):
            lines.append(f"{name}{inspect.signature(thing)}")
            if inspect.isclass(thing):
                own = (base for base in thing.__mro__ if base.__module__.startswith("beltrami"))
                methods = {m for base in own for m in vars(base) if not m.startswith("_")}
                lines += [f"    .{method}" for method in sorted(methods)]
    return "\n".join(lines) + "\n"


def test_public_signatures_are_those_of_the_snapshot():
    """A change of the API is a visible diff; running this file as a script writes the new one."""
    assert public_api() == PUBLIC_API.read_text()


if __name__ == "__main__":
    PUBLIC_API.write_text(public_api())
