"""`groundwire index push` and `pull`: an index travels between machines over NATS, which the rest of the group does without."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bus.transport.users import OPERATOR
from bus.wire.errors import Failure
from index.build_job import Tell
from runtime.bucket import KEEP
from runtime.commands.options import CONFIG, INDEX_FOLDER, one_line_errors, over_bucket, read_settings
from runtime.commands.progress import bars
from runtime.processes.nats_users import bus_as
from runtime.settings import Settings
from runtime.terminal import say

if TYPE_CHECKING:
    from bus.journal.bucket import Bucket

#: The bucket where neither the command nor the settings name one.
BUCKET = "index"
_BUCKET = click.option("--bucket", help=f"Name of the bucket; by default of the setting index.bucket, or {BUCKET!r}.")


@click.command("push")
@INDEX_FOLDER
@_BUCKET
@click.option(
    "--replicas", type=click.IntRange(1, 5), help="Servers of the cluster that keep it; by default bus.replicas."
)
@click.option("--keep", type=click.IntRange(min=1), default=KEEP, show_default=True, help="Snapshots that stay in it.")
@click.option("--resend", is_flag=True, help="Send what is there, too, which mends what is damaged.")
@CONFIG
def push_command(
    directory: Path, bucket: str | None, replicas: int | None, keep: int, resend: bool, config: Path | None
) -> None:
    """Send an index's current snapshot to a bucket on NATS, for `serve search --bucket` on other machines.

    Only what the bucket has not yet is sent. A push that was killed goes on where it was when it is repeated.
    """
    from runtime.bucket.push import push

    settings = over_bucket(read_settings(config), bucket)
    copies = replicas if replicas is not None else settings.bus.replicas
    done = _over(settings, lambda to, tell: push(to, directory, tell, keep=keep, replicas=copies, resend=resend))
    say(
        f"{done.snapshot} is in the bucket {settings.index.bucket or BUCKET}: {done.sent_files} of {done.files} files sent,"
        f" {done.sent_bytes / 1e6:.1f} of {done.size_bytes / 1e6:.1f} MB; {done.removed} older snapshots removed"
    )


@click.command("pull")
@INDEX_FOLDER
@_BUCKET
@click.option("--repair", is_flag=True, help="Read what the folder has, and fetch what is damaged again.")
@CONFIG
def pull_command(directory: Path, bucket: str | None, repair: bool, config: Path | None) -> None:
    """Fetch the current snapshot of a bucket into a folder; only what the folder has not yet is fetched.

    It replaces the index in that folder.
    """
    from runtime.bucket.pull import pull

    settings = over_bucket(read_settings(config), bucket)
    done = _over(settings, lambda bucket, tell: pull(bucket, directory, tell, distrust=repair))
    if done.size_bytes:
        say(
            f"{done.snapshot} is in {directory}: {done.fetched_bytes / 1e6:.1f} of {done.size_bytes / 1e6:.1f} MB fetched"
        )
    else:
        say(f"{done.snapshot} is in {directory} already")


def _over[T](settings: Settings, work: Callable[["Bucket", Tell], Awaitable[T]]) -> T:
    """What this returns, called with a bucket and what shows how far it is. Raises click.ClickException."""
    from bus.journal.bucket import Bucket
    from bus.transport.connection import connect, keep_trying

    async def run(tell: Tell) -> T:
        client = await connect(bus_as(settings, OPERATOR.name), name="groundwire-bucket", patience_s=3.0)
        keep_trying(client)
        try:
            return await work(Bucket(client, settings.index.bucket or BUCKET), tell)
        finally:
            await client.close()

    with one_line_errors(Failure), bars() as tell:
        return asyncio.run(run(tell))
