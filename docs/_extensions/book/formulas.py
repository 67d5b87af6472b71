"""Sphinx extension: formulas as MathML, which browsers draw by themselves, without network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

log = logging.getLogger(__name__)


def formula(text: str, *, is_apart: bool) -> str:
    """Return a formula of LaTeX as MathML.

    Parameters
    ----------
    text : str
        LaTeX; several lines are aligned at ``&``.
    is_apart : bool
        Whether it stands on a line of its own.

    Returns
    -------
    str
        A ``math`` element.
    """
    has_lines = "\\\\" in text and "\\begin" not in text
    inside = f"\\begin{{aligned}}{text}\\end{{aligned}}" if has_lines else text
    return convert(inside, display="block" if is_apart else "inline")


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    self.body.append(_tried(node, is_apart=False))
    raise nodes.SkipNode


def visit_apart(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, with its number where it has one."""
    for name in node.get("ids", []):
        self.body.append(f'<span id="{name}"></span>')
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    self.body.append(f'<div class="math">{number}{_tried(node, is_apart=True)}</div>\n')
    raise nodes.SkipNode


def _tried(node: nodes.Element, *, is_apart: bool) -> str:
    try:
        return formula(node.astext(), is_apart=is_apart)
    except Exception as error:  # noqa: BLE001
        log.warning("a formula is not understood: %s (%r)", node.astext(), error, location=node)
        return ""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_apart, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
