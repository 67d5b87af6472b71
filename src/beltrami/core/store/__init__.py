"""What was computed once, kept on disk: keys by content, files of plain arrays, a folder.

Nothing here knows what it keeps. A room says by a `Form` how its noun becomes arrays and comes
back, and asks `recall`; whoever wants a store opens one around the work, with `remember`, or the
user's own with `remember_usually`.
"""

from beltrami.core.store.folder import Store
from beltrami.core.store.keys import NO_CONTENT, seed_content
from beltrami.core.store.parcels import Parcel
from beltrami.core.store.recalling import Form, forget, recall, remember, remember_usually

__all__ = [
    "NO_CONTENT",
    "Form",
    "Parcel",
    "Store",
    "forget",
    "recall",
    "remember",
    "remember_usually",
    "seed_content",
]
