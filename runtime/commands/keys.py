"""`groundwire keys`: make, list and revoke the keys of the HTTP side."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import click
from rich.table import Table

from bus.wire.errors import Unavailable
from bus.wire.subjects import BadId
from runtime.commands.consoles import plain_console
from runtime.commands.options import CONFIG, one_line_errors, read_settings, usage_errors
from runtime.keys import EVERY_GROUP, PREFIX, SCOPES, Key, KeyFile, KeysProblem, Scope, check_group, expiry, rate_of
from runtime.processes.listening import key_file
from runtime.terminal import say


@click.group("keys")
def keys_group() -> None:
    """Make, list and revoke the keys of the HTTP side; a running edge reads every change within a second."""


@keys_group.command("add")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    default="ask,search,read",
    show_default=True,
    help=f"What it may do, separated by commas: {', '.join(SCOPES)}.",
)
@click.option(
    "--group", "groups", multiple=True, help="Also the documents of this group; repeatable, or `*` for all documents."
)
@click.option("--expires", help="When it expires: 90d, 12h, or the day 2026-12-31.  [default: never]")
@click.option("--rate", default="", help="Most requests: 5/s, 100/m or 1000/h.  [default: access.rate]")
@click.option("--concurrency", type=click.IntRange(0), default=0, help="Most at a time.  [default: access.concurrency]")
@CONFIG
def add(
    name: str,
    scopes: str,
    groups: tuple[str, ...],
    expires: str | None,
    rate: str,
    concurrency: int,
    config: Path | None,
) -> None:
    """Make a key and print it; it is shown only now. Its runs belong to NAME, also under a later key of this name."""
    now = time.time()
    with usage_errors(ValueError, BadId):
        found = _scopes(scopes)
        if rate:
            rate_of(rate)
        with _keys(config) as file:
            token = file.add(
                name,
                found,
                now=now,
                groups=_groups(groups, found),
                expires_at=expiry(expires, now) if expires else None,
                rate=rate.strip(),
                concurrency=concurrency,
            )
    say(token)
    say("Keep it now: it is not shown again. Send it as `Authorization: Bearer …`.", err=True)


@keys_group.command("list")
@CONFIG
def list_keys(config: Path | None) -> None:
    """List the keys, with what each may do; the keys themselves are not kept."""
    with _keys(config) as file:
        keys = file.read().keys
    if not keys:
        say("there are no keys; make one with `groundwire keys add NAME`", err=True)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "begins", "scopes", "groups", "made", "expires", "limits"):
        table.add_column(heading, no_wrap=heading in {"name", "begins", "made"}, overflow="fold")
    for key in keys:
        table.add_row(*_row(key, time.time()))
    plain_console().print(table)


@keys_group.command("revoke")
@click.argument("name")
@CONFIG
def revoke(name: str, config: Path | None) -> None:
    """Revoke the key NAME; what it has open is cut within a second."""
    with _keys(config) as file:
        file.revoke(name)
    say(f"revoked {name}", err=True)


@contextmanager
def _keys(config: Path | None) -> Iterator[KeyFile]:
    """The file of the keys. Raises click.ClickException."""
    with one_line_errors(KeysProblem, Unavailable):
        yield key_file(read_settings(config))


def _scopes(text: str) -> tuple[Scope, ...]:
    """Raises ValueError."""
    named = dict.fromkeys(each.strip() for each in text.split(",") if each.strip())
    if not named:
        raise ValueError(f"--scope names nothing; choose of {', '.join(SCOPES)}")
    for each in named:
        if each not in SCOPES:
            raise ValueError(f"--scope: {each[:40]!r} is no scope; choose of {', '.join(SCOPES)}")
    return tuple(cast("Scope", each) for each in named)


def _groups(named: tuple[str, ...], scopes: tuple[Scope, ...]) -> tuple[str, ...] | None:
    """None for every document: `*`, or `admin` without a group, which reads every run anyway. Raises BadId."""
    found = tuple(dict.fromkeys(check_group(name) for name in named))
    return None if EVERY_GROUP in found or ("admin" in scopes and not found) else found


def _row(key: Key, now: float) -> tuple[str, ...]:
    expires = "never" if key.expires_at is None else _day(key.expires_at)
    if key.expires_at is not None and key.expires_at <= now:
        expires = f"expired {expires}"
    limits = [key.rate, f"{key.concurrency} at a time" if key.concurrency else ""]
    return (
        key.name,
        f"{PREFIX}{key.id}_",
        ",".join(key.scopes),
        EVERY_GROUP if key.groups is None else ",".join(key.groups) or "—",
        _day(key.created_at)[:10],
        expires,
        ", ".join(filter(None, limits)) or "—",
    )


def _day(epoch_s: int) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M")
