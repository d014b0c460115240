"""`groundwire nats`: how to connect to NATS, and the users of a server of your own."""

from pathlib import Path

import click

from bus.transport.users import INTEGRATION, USERS
from runtime.commands.options import CONFIG, INDEX_PLACE, Place, read_settings
from runtime.processes.nats_config import shared_config
from runtime.processes.nats_users import read, standing_folder
from runtime.processes.state_folder import state_folder
from runtime.terminal import say


@click.group("nats")
def nats_group() -> None:
    """Connect to NATS, or bring a server of your own."""


@nats_group.command("url")
@click.argument("user", type=click.Choice([user.name for user in USERS]), default=INTEGRATION.name)
@click.option("--index", type=INDEX_PLACE, help="The index that `groundwire up` serves.")
@CONFIG
def url_command(user: str, index: Place | None, config: Path | None) -> None:
    """Print the address of the embedded server with the name and password of a user (by default `integration`).

    Without --index, of the server that `groundwire serve nats` runs.
    """
    settings = read_settings(config, index=index)
    folder = state_folder(settings) if index is not None else standing_folder(settings)
    kept = read(folder)
    if kept is None:
        start = f"groundwire up --index {index}" if index is not None else "groundwire serve nats"
        raise click.UsageError(f"no nats-server has run there yet; start it with `{start}`")
    say(kept.url_of(user))


@nats_group.command("config")
def config_command() -> None:
    """Print the accounts, users and permissions for a nats-server or cluster of your own."""
    say(shared_config(), nl=False)
