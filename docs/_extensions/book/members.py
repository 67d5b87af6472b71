"""What a class of the package offers by itself, without what scikit-learn adds to every class."""

import inspect
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from typing import Any


def own_methods(fullname: str) -> list[str]:
    """Return the public methods of a class that the package itself defines.

    Parameters
    ----------
    fullname : str
        Such as ``beltrami.Mbed``.

    Returns
    -------
    list of str
        ``fit`` and its kin first, then by name.
    """
    found = [name for name, value in _own(fullname) if _is_method(value)]
    return sorted(found, key=lambda name: (not name.startswith("fit"), name))


def own_properties(fullname: str) -> list[str]:
    """Return the public properties of a class that its docstring does not list already."""
    listed = inspect.getdoc(_object(fullname)) or ""
    kinds = (property, cached_property)
    return [
        name
        for name, value in _own(fullname)
        if isinstance(value, kinds) and f"\n{name} : " not in listed
    ]


def is_estimator(fullname: str) -> bool:
    """Whether a class takes scikit-learn's ``get_params`` and ``set_params``."""
    return hasattr(_object(fullname), "get_params")


def _object(fullname: str) -> Any:
    module, _, name = fullname.rpartition(".")
    return getattr(import_module(module), name)


def _own(fullname: str) -> list[tuple[str, Any]]:
    thing = _object(fullname)
    skipped = {field.name for field in fields(thing)} if is_dataclass(thing) else set()
    found: dict[str, Any] = {}
    for owner in thing.__mro__:
        if owner.__module__.partition(".")[0] == "beltrami":
            for name, value in vars(owner).items():
                if not name.startswith("_") and name not in skipped:
                    found.setdefault(name, value)
    return sorted(found.items())


def _is_method(value: Any) -> bool:
    # scikit-learn's set_fit_request and its kin are objects of another kind, and so left out.
    return inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)
