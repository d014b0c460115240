"""The configuration of nats-server: the embedded one's, and the users of a server or cluster of your own.

A string is written in double quotes: nats-server reads no `$VARIABLE` and no comment there, and knows the escapes \\", \\\\, \\n,
\\r, \\t and \\xNN, not \\uNNNN.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from bus.transport.users import ACCOUNT, GUESTS, INSIDERS, INTEGRATION, LENT, Lent, User, inbox_prefix

#: Connections to the embedded server; a run costs none of its own.
MAX_CONNECTIONS = 4096
#: Subscriptions of one connection: an integration may hold one for each run that it waits for.
MAX_SUBSCRIPTIONS = 65_536

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def config(
    folder: Path, *, host: str, port: int, sync_always: bool = True, passwords: Mapping[str, str] | None = None
) -> str:
    """The embedded server's whole configuration; its streams are kept in `folder`. Without passwords any client may connect."""
    lines = [
        f"host: {quoted(host)}",
        f"port: {port}",
        "server_name: groundwire",
        *_limits(),
        "jetstream {",
        f"  store_dir: {quoted(str(folder))}",
        *(["  sync_interval: always"] if sync_always else []),
        "}",
    ]
    if passwords is not None:
        lines += _accounts(lambda user: quoted(passwords[user]))
    return "\n".join((*lines, ""))


def shared_config() -> str:
    """What the configuration of a server of your own, or of each of a cluster, has to hold."""
    lines = [
        "# Groundwire's part of a nats-server configuration: include it beside listen, jetstream, tls and cluster.",
        "# Each password is read from the server's environment, for example GROUNDWIRE_NATS_EDGE.",
        *_limits(),
        *_accounts(lambda user: f"$GROUNDWIRE_NATS_{user.upper()}"),
    ]
    return "\n".join((*lines, ""))


def _limits() -> tuple[str, ...]:
    return (
        "max_payload: 1048576",
        f"max_connections: {MAX_CONNECTIONS}",
        f"max_subscriptions: {MAX_SUBSCRIPTIONS}",
        "write_deadline: 10s",
        "# The v2 ack subject kills nats-py's read loop.",
        "feature_flags { js_ack_fc_v2: false }",
    )


def _accounts(password: Callable[[str], str]) -> list[str]:
    return [
        "accounts {",
        f"  {ACCOUNT} {{",
        "    jetstream: enabled",
        *_users(INSIDERS, password),
        "    exports: [",
        *(f"      {{ {_export(lent)}, accounts: [{GUESTS}] }}" for lent in LENT),
        "    ]",
        "  }",
        f"  {GUESTS} {{",
        *_users((INTEGRATION,), password),
        "    imports: [",
        *(f"      {{ {_import(lent)} }}" for lent in LENT),
        "    ]",
        "  }",
        "}",
    ]


def _users(users: Iterable[User], password: Callable[[str], str]) -> list[str]:
    lines = ["    users: ["]
    for user in users:
        lines += [
            f"      {{ user: {user.name}, password: {password(user.name)}, permissions: {{",
            f"        publish: {_list(user.publish)}",
            f"        subscribe: {_list((*user.subscribe, f'{inbox_prefix(user.name)}.>'))}",
            "      } }",
        ]
    return [*lines, "    ]"]


def _list(subjects: Iterable[str]) -> str:
    return "[" + ", ".join(map(quoted, subjects)) + "]"


def _export(lent: Lent) -> str:
    return f"{lent.kind}: {quoted(lent.subject)}" + (", response_type: stream" if lent.replies else "")


def _import(lent: Lent) -> str:
    to = f", to: {quoted(lent.name)}" if lent.name != lent.subject else ""
    return f"{lent.kind}: {{ account: {ACCOUNT}, subject: {quoted(lent.subject)} }}{to}"
