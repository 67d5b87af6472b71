"""Every public name states its parameters and returns in full."""

import inspect

import pytest
from numpydoc.validate import validate

import beltrami

# Undocumented, unknown or misordered parameters; missing summary, returns or descriptions.
WANTED = {"GL06", "GL07", "GL08", "SS03", "SS05", "PR01", "PR02", "PR03", "PR07", "RT01", "RT03"}


def public_objects():
    for name in sorted(beltrami.__all__):
        thing = getattr(beltrami, name)
        if not callable(thing):
            continue
        home = f"{thing.__module__}.{name}"
        # Nouns are made by the library and document their attributes.
        if not (inspect.isclass(thing) and hasattr(thing, "__dataclass_fields__")):
            yield home
        if inspect.isclass(thing):
            yield from (
                f"{home}.{method}"
                for method, value in vars(thing).items()
                if inspect.isfunction(value) and not method.startswith("_")
            )


# One-line verbs of rules, whose signature says it all.
BRIEF = (".reach", ".weigh")


@pytest.mark.filterwarnings("ignore:Widget\\..* is deprecated")  # looked at, of another's class
@pytest.mark.parametrize("path", list(public_objects()))
def test_public_docstring_is_complete(path):
    faults = [(code, text) for code, text in validate(path)["errors"] if code in WANTED]
    if path.endswith(BRIEF):
        faults = [fault for fault in faults if fault[0] not in ("PR01", "RT01")]
    assert not faults
