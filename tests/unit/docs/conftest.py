"""The book's machinery is no part of the package; its tests find it in docs/_extensions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "docs" / "_extensions"))
