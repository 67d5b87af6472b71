"""Hosts and ports: where a studio listens, and the names by which it may be asked for."""

import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import NamedTuple

_PLACE = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(\d{1,5}))?")
_USUAL_PORTS = {"http": 80, "https": 443}
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::"})


class Place(NamedTuple):
    """A host and a port, as a header names them."""

    host: str
    port: int


def read_place(text: str, scheme: str) -> Place | None:
    """Return what ``host:port`` names, or None where it is nothing of that form."""
    match = _PLACE.fullmatch(text.lower())
    if match is None:
        return None
    host = match[1].strip("[]")
    if is_address(host):
        host = str(ipaddress.ip_address(host))
    return Place(host, int(match[2] or _USUAL_PORTS[scheme]))


def read_origin(text: str) -> tuple[str, Place | None]:
    """Return the scheme and the place of an origin."""
    scheme, _, place = text.lower().partition("://")
    return scheme, read_place(place, scheme) if scheme in _USUAL_PORTS else None


def is_address(host: str) -> bool:
    """Return whether a host is an address in numbers."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host, by the address or the name that says so."""
    if not is_address(host):
        return host == "localhost"
    address = ipaddress.ip_address(host)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which a studio may be asked for over one connection.

    A name that anyone could let point to this machine is none of them. Over a connection within the
    machine they are those that say so; over one from outside every address in numbers will do, as
    it points nowhere else.

    Attributes
    ----------
    names : frozenset of str
        Hosts without a port.
    has_every_address : bool
        Whether any address in numbers will do.
    """

    names: frozenset[str]
    has_every_address: bool

    @classmethod
    def of(cls, local: str, host: str = "") -> "Names":
        """Return the names for a connection.

        - `local`: the address of this machine at which it arrived.
        - `host`: a name of this machine that the user gave.
        """
        names = _THIS_MACHINE | ({local.lower(), host.lower()} - _EVERY_ADDRESS)
        if local not in _THIS_MACHINE:
            machine = machine_name()
            first = machine.partition(".")[0]
            names |= {machine, first, f"{first}.local"}
        return cls(names, not is_loopback(local))

    def include(self, host: str) -> bool:
        """Return whether this is one of them."""
        return host in self.names or (self.has_every_address and is_address(host))


def machine_name() -> str:
    """Return what this machine calls itself."""
    return socket.gethostname().lower()


@dataclass(frozen=True, slots=True)
class Address:
    """Where a studio listens.

    Attributes
    ----------
    host : str
        As it was asked for.
    port : int
        The one that it got.
    """

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address by which this machine reaches it."""
        is_here = self.host == "localhost" or self.host in _EVERY_ADDRESS
        return self._spell("127.0.0.1" if is_here else self.host)

    @property
    def outside_url(self) -> str | None:
        """The address for other machines, where they may come."""
        if is_loopback(self.host):
            return None
        return self._spell(machine_name() if self.host in _EVERY_ADDRESS else self.host)

    def __str__(self) -> str:
        return self.url

    def _spell(self, host: str) -> str:
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
