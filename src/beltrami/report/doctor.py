"""What an installation has: versions, threads, memory, devices, and what is missing."""

import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from beltrami.core.machine.device import describe_choice
from beltrami.core.machine.memory import available_bytes, budget_bytes
from beltrami.core.machine.threads import usable_cpus
from beltrami.core.store import Store
from beltrami.core.store.folder import in_mib

_NEEDED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "faiss-cpu",
    "threadpoolctl",
    "matplotlib",
    "typer",
    "pyarrow",
    "jinja2",
    "lazy-loader",
    "markupsafe",
    "pillow",
    "starlette",
    "uvicorn",
    "h11",
    "websockets",
)
_OPTIONAL = {
    "pandas": ("results as DataFrames", "pandas"),
    "polars": ("polars tables as input", "polars"),
    "torch": ("a graphics card", '"beltrami[gpu]"'),
    "model2vec": ("vectors of texts by a model", '"beltrami[text]"'),
    "dask": ("partitions on many machines", '"beltrami[cluster]"'),
    "distributed": ("partitions on many machines", '"beltrami[cluster]"'),
    "anywidget": ("the map in a notebook", '"beltrami[widget]"'),
    "traitlets": ("the map in a notebook", '"beltrami[widget]"'),
}
"""What for, and what pip installs, by library."""


def describe_installation() -> dict[str, str]:
    """Return what this installation has."""
    from beltrami import __version__

    facts = {
        "beltrami": __version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "processors": f"{usable_cpus()} usable",
        "memory": f"{available_bytes() / 2**30:.1f} GiB available, "
        f"{budget_bytes() / 2**30:.1f} GiB for one dense matrix",
        "device": describe_choice(),
    }
    for name in _NEEDED:
        facts[name] = _version(name) or f"MISSING: pip install {name}"
    for name, (use, wanted) in _OPTIONAL.items():
        facts[name] = _version(name) or f"not installed ({use}): pip install {wanted}"
    browsers = ("chromium", "chromium-browser", "google-chrome", "firefox")
    browser = next((name for name in browsers if shutil.which(name)), None)
    facts["browser"] = browser or "none found; reports open in any browser elsewhere"
    is_terminal = sys.stderr.isatty()
    facts["terminal"] = "yes, a progress line" if is_terminal else "no, a line for each stage"
    return facts


def describe_store(store: Store | None) -> dict[str, Any]:
    """Return what is kept between commands: folder, limit and entries, the last used first."""
    if store is None:
        return {"folder": None, "limit_bytes": 0, "bytes": 0, "entries": []}
    entries = store.entries()[::-1]
    return {
        "folder": str(store.folder),
        "limit_bytes": store.limit_bytes,
        "bytes": sum(one.n_bytes for one in entries),
        "entries": [
            {
                "holds": entry.noun,
                "bytes": entry.n_bytes,
                "used": entry.used,
                "file": str(entry.path),
            }
            for entry in entries
        ],
    }


def store_lines(facts: dict[str, Any], now: float) -> list[str]:
    """Return what `describe_store` found, for a person."""
    if facts["folder"] is None:
        return ["nothing is kept between commands: BELTRAMI_CACHE or BELTRAMI_CACHE_GIB says so"]
    return [
        f"folder   {facts['folder']}  (BELTRAMI_CACHE)",
        f"limit    {facts['limit_bytes'] / 2**30:.3g} GiB  (BELTRAMI_CACHE_GIB)",
        f"entries  {len(facts['entries'])}, {in_mib(facts['bytes'])}",
        *(
            f"{in_mib(one['bytes']):>10}  {one['holds']:<10}  used {_age(now - one['used'])} ago"
            for one in facts["entries"]
        ),
    ]


def _age(seconds: float) -> str:
    """Return an age in its largest unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)):
        count = int(seconds // length)
        if count:
            return f"{count} {unit}" + ("s" if count > 1 else "")
    return "a moment"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
