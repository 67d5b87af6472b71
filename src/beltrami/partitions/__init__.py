"""Rows in partitions, more than memory holds: representatives learn, every partition is answered.

Names are loaded when they are first used: a command on a small table loads none of this.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
