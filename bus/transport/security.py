"""How a connection authenticates: name and password, a JWT, an nkey, a certificate."""

import ssl
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from bus.transport.settings import BusSettings
from bus.transport.users import inbox_prefix
from bus.wire.errors import Unavailable


def without_user(url: str) -> str:
    """The address without the user and the password in it, as it may be shown."""
    return ",".join(map(_bare, servers(url)))


def servers(url: str) -> list[str]:
    """The addresses of the servers that a setting names, separated by commas: the first is tried first."""
    return [each.strip() for each in url.split(",") if each.strip()]


def _bare(url: str) -> str:
    scheme, found, rest = url.partition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def connect_options(settings: BusSettings, user: str) -> dict[str, Any]:
    """nats-py's options for a connection of that user of Groundwire's. Raises Unavailable for a file that cannot be used."""
    options: dict[str, Any] = {
        "servers": [_bare(each) for each in servers(settings.url)],
        "dont_randomize": True,
        "inbox_prefix": inbox_prefix(user),
    }
    if context := _tls(settings):
        options["tls"] = context
    if settings.creds:
        options["user_credentials"] = _file("bus.creds", settings.creds)
    elif settings.nkey_seed:
        options["nkeys_seed"] = _file("bus.nkey_seed", settings.nkey_seed)
    elif settings.user:
        options |= {"user": settings.user, "password": settings.password}
    else:
        name, found, password = urlsplit(servers(settings.url)[0]).netloc.rpartition("@")[0].partition(":")
        if found:  # nats-py takes both as they are written, percent signs included
            options |= {"user": unquote(name), "password": unquote(password)}
        elif name:
            options["token"] = unquote(name)
    return options


def _tls(settings: BusSettings) -> ssl.SSLContext | None:
    if not (settings.tls_ca or settings.tls_cert):
        return None
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca or None)
        if settings.tls_cert:
            context.load_cert_chain(settings.tls_cert, settings.tls_key or None)
    except OSError as error:  # ssl's own errors are among them
        named = ", ".join(filter(None, (settings.tls_ca, settings.tls_cert, settings.tls_key)))
        raise Unavailable(
            f"bus.tls_ca, bus.tls_cert or bus.tls_key cannot be used ({error}); look at {named}"
        ) from None
    return context


def _file(setting: str, path: str) -> str:
    """The path of a file with a key. Raises Unavailable."""
    if find_spec("nkeys") is None:  # nats-py imports it at the first signature, and has no words for its absence
        raise Unavailable(f"{setting} needs the package nkeys; install groundwire[nkeys]")
    place = Path(path).expanduser()
    if not place.is_file():
        raise Unavailable(f"{setting} names {path}, which is not a file")
    return str(place)
