"""Where the edge listens: the addresses behind `edge.host`, and whether a key is needed there.

This module decides by address, not by name, whether a host is loopback; the process then listens on those addresses.
"""

import ipaddress
import socket
import time
from pathlib import Path

from bus.wire.errors import Unavailable
from runtime.keys import KeyFile, KeysProblem
from runtime.loopback import is_loopback
from runtime.processes.state_folder import state_home
from runtime.settings import Settings


def key_file(settings: Settings) -> KeyFile:
    """The file of the keys. Raises Unavailable when there is no home folder to hold it."""
    named = settings.access.keys
    return KeyFile(Path(named).absolute() if named else state_home(settings) / "keys.json")


def addresses_of(settings: Settings) -> tuple[str, ...]:
    """The addresses behind `edge.host`; empty is every address. Blocks while a name is looked up. Raises Unavailable."""
    host = settings.edge.host.strip()
    try:
        found = socket.getaddrinfo(
            host.strip("[]") or "0.0.0.0", None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no name of a host"
        raise Unavailable(
            f"cannot listen on {host!r} ({why}); choose an address of this machine with --host or edge.host"
        ) from None
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def url_of(addresses: tuple[str, ...], port: int) -> str:
    """Where this machine itself finds the edge."""
    first = ipaddress.ip_address(addresses[0].partition("%")[0])
    if first.is_unspecified:
        return f"http://localhost:{port}"
    return f"http://[{first}]:{port}" if first.version == 6 else f"http://{first}:{port}"


def needs_key(settings: Settings, addresses: tuple[str, ...]) -> bool:
    return settings.access.required or not all(is_loopback(address) for address in addresses)


def check_key(settings: Settings, addresses: tuple[str, ...]) -> None:
    """Raises Unavailable when a key is needed and there is none."""
    if not needs_key(settings, addresses):
        return
    try:
        keys = key_file(settings).read().keys
    except KeysProblem as problem:
        raise Unavailable(str(problem)) from None
    if not any(key.expires_at is None or key.expires_at > time.time() for key in keys):
        raise Unavailable(
            f"a key is needed to serve on {settings.edge.host or 'every address'} and there is none; make one with "
            "`groundwire keys add NAME`, or serve this machine alone with --host 127.0.0.1"
        )
