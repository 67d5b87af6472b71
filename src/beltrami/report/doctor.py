"""What an installation has: versions, threads, memory, devices, and what is missing."""

import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version

from beltrami.core.memory import available_bytes, budget_bytes
from beltrami.core.threads import usable_cpus

_NEEDED = (
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "faiss-cpu",
    "pyarrow",
    "pillow",
    "matplotlib",
    "jinja2",
    "rich",
    "typer",
    "threadpoolctl",
)
_OPTIONAL = {
    "pandas": "results as DataFrames",
    "polars": "polars tables as input",
}


def describe_installation() -> dict[str, str]:
    """Return what this installation has."""
    from beltrami import __version__

    facts = {
        "beltrami": __version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "processors": f"{usable_cpus()} usable",
        "memory": f"{available_bytes() / 2**30:.1f} GiB available, "
        f"{budget_bytes() / 2**30:.1f} GiB for one dense matrix",
        "device": "the processor; no other is used in this version",
    }
    for name in _NEEDED:
        facts[name] = _version(name) or f"MISSING: pip install {name}"
    for name, use in _OPTIONAL.items():
        facts[name] = _version(name) or f"not installed ({use}): pip install {name}"
    browsers = ("chromium", "chromium-browser", "google-chrome", "firefox")
    browser = next((name for name in browsers if shutil.which(name)), None)
    facts["browser"] = browser or "none found; reports open in any browser elsewhere"
    is_terminal = sys.stderr.isatty()
    facts["terminal"] = "yes, a progress line" if is_terminal else "no, a line for each stage"
    return facts


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
