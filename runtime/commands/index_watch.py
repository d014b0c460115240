"""`groundwire index watch`: keep an index up to date while its documents change."""

import signal
import sys
import threading
from pathlib import Path

import click

from index.build.watching import keep_up
from runtime.commands.embedder_options import embedder, embedder_options
from runtime.commands.options import INDEX_FOLDER, one_line_errors
from runtime.terminal import one_line, say


@click.command("watch")
@click.argument("paths", nargs=-1)
@INDEX_FOLDER
@embedder_options
@click.option("--end-with-stdin", is_flag=True, hidden=True, help="Exit when standard input closes.")
def watch_command(
    paths: tuple[str, ...], directory: Path, embed_url: str | None, embed_model: str, end_with_stdin: bool
) -> None:
    """Add PATHS to an index and keep it up to date while they change; without any, all folders that it was built from.

    Prints a line for each change; stop with Ctrl-C. Documents from elsewhere stay. When a folder is gone, it stops and the index
    keeps what it holds.
    """
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    if end_with_stdin:
        threading.Thread(target=_wait_for_end, args=(stop,), daemon=True).start()
    with one_line_errors():
        vectors = embedder(embed_url, embed_model)
        keep_up(directory, paths, lambda line: say(one_line(line)), stop, embedder=vectors)


def _wait_for_end(stop: threading.Event) -> None:
    sys.stdin.buffer.read()
    stop.set()
