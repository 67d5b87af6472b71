"""How a basis is stored: it is flat, so its fields are the parts."""

from beltrami.core.store import Form, Parcel
from beltrami.solvers.model import Basis


def unpack_basis(parcel: Parcel) -> Basis:
    """Return the basis that was packed."""
    basis = Basis(**parcel.parts)
    if basis.values.shape != basis.vectors.shape[1:] or basis.residuals.shape != basis.values.shape:
        raise ValueError("values, vectors and residuals are not of one basis")
    return basis


EIGENBASIS: Form[Basis] = Form("eigenbasis", Parcel.of, unpack_basis)
"""How the store keeps a basis."""
