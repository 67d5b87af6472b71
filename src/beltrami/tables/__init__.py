"""A user's table: a file or an object in, features, ids and labels out, and results written.

Names are loaded when they are first used: the options of a command are read before pyarrow is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
