"""The widget's module and style sheet: whole, small, and of our own alone."""

import re

from beltrami.notebook.front import script, styles


def test_the_module_exports_what_a_host_runs_and_imports_nothing():
    text = script()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert re.findall(r"^export .*$", text, re.MULTILINE) == ["export default { render };"]
    assert len(text.encode()) < 100_000


def test_nothing_is_loaded_and_no_cell_becomes_markup():
    words = script().replace("http://www.w3.org/2000/svg", "")
    assert "http" not in words
    for danger in ("innerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert danger not in words


def test_every_rule_is_the_widgets_own_and_has_the_studios_colours():
    sheet = re.sub(r"/\*.*?\*/", "", styles(), flags=re.DOTALL)
    selectors = re.findall(r"^([^{}\s][^{}]*)\{", sheet, re.MULTILINE)
    assert len(selectors) > 40
    assert all(
        part.strip().startswith(".beltrami")
        for one in selectors
        for part in re.split(r",(?![^(]*\))", one)
    )
    assert "--accent: light-dark(#0072b2, #56b4e9)" in sheet
    assert ":root" not in sheet
