"""Settings of the book. ``make docs`` builds it; ``docs/_extensions/build_book.py`` is how."""

import logging
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

from book.members import is_estimator, own_methods, own_properties  # noqa: E402

import beltrami  # noqa: E402

logging.getLogger("faiss").setLevel(logging.WARNING)  # it tells how it was loaded

project = "Beltrami"
author = "The Beltrami developers"
copyright = author  # noqa: A001
version = release = beltrami.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "book.executed_blocks",
    "book.formulas",
]
templates_path = [str(HERE / "_templates")]
exclude_patterns = ["executed", "files", "gallery/*.ipynb", "gallery/*.py"]
default_role = "code"  # names between single backticks in docstrings
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|scipy|matplotlib|pandas)\..*")]
suppress_warnings = [
    "ref.citation",  # a paper may be in the bibliography without being cited
    "config.cache",  # functions for templates cannot be kept between builds
]

# Code of pages. Pages under reproductions, contests, decisions and project come from elsewhere in
# the repository and quote code that is not meant to run here; book.blocks has the list.
package_folder = str(HERE.parent / "src" / "beltrami")

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autosummary_generate = True
autosummary_context = {
    "own_methods": own_methods,
    "own_properties": own_properties,
    "is_estimator": is_estimator,
}
autodoc_typehints = "none"  # numpydoc says types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10_000,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "notebook_images": False,
    "reset_modules": (
        "matplotlib",
        "book.warnings_in_words.show_in_words",
        "book.colours.show_apart",
    ),
}

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"Beltrami {version}"
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005a8c", "color-brand-content": "#005a8c"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ee", "color-brand-content": "#7cc4ee"},
}
copybutton_selector = "div.highlight:not(.printed *) pre"
