"""`groundwire serve ROLE`: one process of the stack."""

import os
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

import click

from runtime.commands.common import read_settings
from runtime.processes.nats_server import NoServer, write_config
from runtime.processes.nats_server import command as nats_command
from runtime.processes.roles import ROLES, Role, run
from runtime.processes.supervisor import state_home


@click.command("serve")
@click.argument("role", type=click.Choice(["nats", *ROLES]))
@click.option("--config", type=click.Path(path_type=Path), help="groundwire.toml to read.")
@click.option("--only", multiple=True, metavar="ACTOR", help="Run only this actor (repeat for more); for `actors`.")
@click.pass_context
def serve_command(ctx: click.Context, role: str, config: Path | None, only: tuple[str, ...]) -> None:
    """Run one process of the stack until it is stopped: nats, search, inference, actors or edge."""
    if role == "nats":
        _become_nats(read_settings(config).bus.url)
    if only:
        from actors.pipeline import ACTORS

        names = {a.name for a in ACTORS}
        for name in only:
            if name not in names:
                raise click.UsageError(f"no actor is called {name!r}; there are {', '.join(sorted(names))}")
    ctx.exit(run(cast(Role, role), read_settings(config), only=only))


def _become_nats(url: str) -> None:
    """Replace this process by nats-server, listening where the settings say."""
    where = urlsplit(url)
    config = write_config(state_home() / "nats", port=where.port or 4222, host=where.hostname or "127.0.0.1")
    try:
        command = nats_command(config)
    except NoServer as problem:
        raise click.ClickException(str(problem)) from None
    os.execv(command[0], command)
