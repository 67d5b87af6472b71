"""The page's own modules as one script, so that a page needs no other file.

Names of modules enter; the text of one inline ``<script type="module">`` leaves.
"""

import re
from importlib.resources import files

_EXPORT = re.compile(r"^export (?=(?:class|const|function) (\w+))", re.MULTILINE)
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)


def read_asset(name: str) -> str:
    """Return the text of a file that travels with the page."""
    return files("beltrami.report.page").joinpath(name).read_text(encoding="utf-8")


def join_modules(*names: str) -> str:
    """Return modules of the page one after the other, as `join_texts` does."""
    return join_texts(*map(read_asset, names))


def join_texts(*modules: str) -> str:
    """Return modules one after the other, without the words that import and export.

    Each has a scope of its own, except the last; what one exports, those after it see by name.
    """
    *shared, last = (_IMPORT.sub("", module) for module in modules)
    return "".join(map(_enclose, shared)) + last


def _enclose(module: str) -> str:
    """Return a module as a function that is called at once and hands out what it exports."""
    names = ", ".join(_EXPORT.findall(module))
    return (
        f"const {{ {names} }} = (() => {{\n{_EXPORT.sub('', module)}return {{ {names} }};\n}})();\n"
    )
