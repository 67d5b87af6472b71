"""Beltrami: learn from a handful of labels, using the shape of the data.

Public names stand in ``__init__.pyi`` and are loaded when they are first used, so that
``import beltrami`` is cheap.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
