"""The passwords of the embedded nats-server's users: made once, kept in a file that only its owner reads.

    <state folder>/nats-users.json      where the server listens, and each user's password

They stay the same from start to start, so that an integration keeps its password.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

from bus.transport.security import servers, without_user
from bus.transport.settings import BusSettings
from bus.transport.users import OPERATOR, USERS
from index.durable import replace_file
from runtime.settings import Settings

FILE = "nats-users.json"
DEFAULT_PORT = 4222


class Credentials(msgspec.Struct, frozen=True, kw_only=True):
    """What it takes to connect to one server: its address, and the password of each user."""

    url: str
    passwords: dict[str, str]

    def bus(self, settings: BusSettings, user: str) -> BusSettings:
        none = dict.fromkeys(("creds", "nkey_seed", "tls_ca", "tls_cert", "tls_key"), "")
        return msgspec.structs.replace(settings, url=self.url, user=user, password=self.passwords[user], **none)

    def url_of(self, user: str) -> str:
        where = urlsplit(self.url)
        return f"{where.scheme}://{quote(user, safe='')}:{quote(self.passwords[user], safe='')}@{where.netloc}"


def make(folder: Path, url: str) -> Credentials:
    """The credentials for the server of that state folder, written there; passwords that are there already are kept."""
    known: Mapping[str, str] = kept.passwords if (kept := read(folder)) is not None else {}
    passwords = {user.name: known.get(user.name) or secrets.token_hex(24) for user in USERS}
    made = Credentials(url=url, passwords=passwords)
    replace_file(folder / FILE, msgspec.json.format(msgspec.json.encode(made)), mode=0o600, durable=False)
    return made


def read(folder: Path) -> Credentials | None:
    """The credentials kept in that state folder; None when there are none."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Credentials)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def standing_folder(settings: Settings) -> Path:
    """The state folder of the server that `groundwire serve nats` runs."""
    return Path(settings.state).expanduser() / "nats"


def bus_at(folder: Path, url: str, settings: BusSettings) -> BusSettings:
    """The settings of the command line's connection to the server of that state folder."""
    kept = read(folder)
    if kept is None or kept.url != url:
        return msgspec.structs.replace(settings, url=url)
    return kept.bus(settings, OPERATOR.name)


def bus_as(settings: Settings, user: str) -> BusSettings:
    """The settings of a connection as that user.

    Where they name no user, the credentials of this machine's `groundwire serve nats` are used, and only for its address.
    """
    bus = settings.bus
    if bus.user or bus.creds or bus.nkey_seed or without_user(bus.url) != bus.url:
        return bus
    kept = read(standing_folder(settings))
    return kept.bus(bus, user) if kept is not None and _place(kept.url) == _place(bus.url) else bus


def _place(url: str) -> tuple[str, int]:
    where = urlsplit(servers(url)[0])
    host = where.hostname or "127.0.0.1"
    return ("127.0.0.1" if host == "localhost" else host), where.port or DEFAULT_PORT
