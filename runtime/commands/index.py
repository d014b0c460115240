"""`groundwire index`: build an index from documents, keep it up to date and inspect it."""

import shlex
import signal
import sys
import threading
from pathlib import Path

import click
import msgspec
from rich.table import Table

from index.build.ingest import bring_in, take_out
from index.build.opening import Index
from index.build.watching import keep_up
from index.documents.report import MAX_LISTED, Report
from index.model import counts_line
from index.search import class_archive
from runtime.commands.consoles import plain_console
from runtime.commands.index_bucket import pull_command, push_command
from runtime.commands.index_options import embedder, embedder_options, rules_of, source_options
from runtime.commands.index_show import show_command
from runtime.commands.options import INDEX_ANYWHERE, INDEX_FOLDER, SNAPSHOT, one_line_errors
from runtime.commands.progress import bars
from runtime.terminal import one_line, program, say, say_json


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


_SHOWN_SKIPS = 20


@click.group("index")
def index_group() -> None:
    """Build an index from documents, keep it up to date and inspect it.

    \b
    Exit codes: 0 done, also where some files could not be read (the report counts them by reason); 1 an error; 2 usage error.
    """


def _brings_in(name: str, meaning: str, *, only: bool) -> None:
    """Declare a command that reads PATHS. `only`: the index then holds nothing else."""

    @index_group.command(name, help=meaning)
    @click.argument("paths", nargs=-1, required=True)
    @INDEX_ANYWHERE
    @source_options
    @embedder_options
    @click.option(
        "--stdin-name",
        default="stdin.jsonl",
        show_default=True,
        help="File name of what '-' reads; its ending says the format.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
    def command(
        paths: tuple[str, ...],
        index: Index,
        include: tuple[str, ...],
        exclude: tuple[str, ...],
        base_url: str | None,
        embed_url: str | None,
        embed_model: str,
        stdin_name: str,
        as_json: bool,
    ) -> None:
        rules = rules_of(include, exclude, base_url)
        try:
            with one_line_errors(), bars() as tell:
                report = bring_in(
                    index,
                    list(paths),
                    only=only,
                    rules=rules,
                    embedder=embedder(embed_url, embed_model),
                    progress=tell,
                    stdin=sys.stdin.buffer,
                    stdin_name=stdin_name,
                )
        except KeyboardInterrupt:
            say("what was read so far is kept: the same command goes on from there", err=True)
            raise
        _print_report(report, as_json)
        if index.folder is not None:
            class_archive.make_behind(index.folder)
            if only and not as_json:
                say(f'now ask: {program()} ask --index {shlex.quote(str(index.folder))} "…"')


_brings_in(
    "build",
    """Build an index of PATHS: folders, files, globs, archives (.zip, .tar, .tar.gz), or '-' for stdin.

    A second run reads only changed files and removes missing ones, so the index holds exactly PATHS. A document's id is its path
    in the folder. What cannot be read is reported; the rest is still indexed.
    """,
    only=True,
)
_brings_in("add", "Add PATHS to an index, or reread them; the rest stays.", only=False)


@index_group.command("remove")
@click.argument("source_ids", nargs=-1, required=True)
@INDEX_ANYWHERE
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def remove_command(source_ids: tuple[str, ...], index: Index, as_json: bool) -> None:
    """Remove documents by SOURCE_ID; an unknown id removes nothing."""
    with one_line_errors(), bars() as tell:
        report = take_out(index, source_ids, tell)
    _print_report(report, as_json)


@index_group.command("list")
@INDEX_ANYWHERE
@SNAPSHOT
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per document.")
def list_command(index: Index, name: str | None, as_json: bool) -> None:
    """List the documents of an index."""
    with one_line_errors():
        entries = sorted(index.entries(name), key=lambda entry: entry.source_id)
    for entry in entries:
        if as_json:
            row = {"source_id": entry.source_id, "title": entry.title, "url": entry.url, "passages": entry.count,
                   "characters": entry.characters, "origin": entry.origin, "formerly": entry.formerly,
                   "groups": entry.groups}  # fmt: skip
            say_json(row)
        else:
            seen = "" if entry.groups is None else f"\t{', '.join(entry.groups) or '(nobody)'}"
            say(f"{entry.source_id}\t{entry.count}\t{one_line(entry.title)}{seen}")


@index_group.command("stats")
@INDEX_ANYWHERE
@SNAPSHOT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def stats_command(index: Index, name: str | None, as_json: bool) -> None:
    """Print an index's contents and size."""
    with one_line_errors():
        found = index.stats(name)
    if as_json:
        say_json(found)
        return
    table = Table(show_header=False, box=None)
    for key, value in msgspec.to_builtins(found).items():
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        table.add_row(key, ", ".join(shown) if isinstance(shown, list) else str(shown))
    plain_console().print(table)


@index_group.command("verify")
@INDEX_ANYWHERE
@SNAPSHOT
def verify_command(index: Index, name: str | None) -> None:
    """Check every file and passage of a snapshot; exits 1 on any fault."""
    with one_line_errors():
        problems = index.verify(name)
        found = index.stats(name) if not problems else None
        held = name or (found.snapshot if found is not None else index.newest())
    for problem in problems[:_SHOWN_SKIPS]:
        say(one_line(problem), err=True)
    if problems:
        raise click.ClickException(f"{len(problems)} faults in {held}; build the index again")
    say(f"{held} has no faults")
    if found is not None and found.groups:
        say(f"documents by group: {counts_line(found.groups)}")


index_group.add_command(show_command)
index_group.add_command(watch_command)
index_group.add_command(push_command)
index_group.add_command(pull_command)


def _print_report(report: Report, as_json: bool) -> None:
    if report.note:
        say(report.note, err=True)
    if as_json:
        say_json(report)
    else:
        languages = ", ".join(f"{name} {count}" for name, count in sorted(report.languages.items()) if count)
        say(
            f"{report.snapshot}: {report.documents} documents ({report.added} added, {report.changed} changed,"
            f" {report.moved} moved, {report.removed} removed), {report.passages} passages ({languages});"
            f" {report.files} files read, {report.unchanged_files} unchanged, {report.skipped_count} skipped,"
            f" {sum(report.left_out.values())} left out; {report.megabytes:.1f} MB in {report.seconds:.1f} s"
        )
        if report.left_out:
            say(f"left out: {', '.join(f'{count} {one_line(why)}' for why, count in report.left_out.items())}")
        if report.groups:
            say(f"documents by group: {counts_line(report.groups)}")
        for line in report.access[:_SHOWN_SKIPS]:
            say(one_line(line), err=True)
        _print_skipped(report)


def _print_skipped(report: Report) -> None:
    """A line for each reason, with one of its files: first those that could not be read, then by count."""
    one_of = {skip.reason: skip for skip in reversed(report.skipped)}
    ranked = sorted(one_of, key=lambda reason: (not one_of[reason].failed, -report.reasons[reason]))
    for reason in ranked[:_SHOWN_SKIPS]:
        count, name = report.reasons[reason], one_of[reason].name
        example = name if count == 1 else f"{count} files, such as {name}"
        say(one_line(f"skipped {example}: {reason}"), err=True)
    more = report.skipped_count - sum(report.reasons[reason] for reason in ranked[:_SHOWN_SKIPS])
    if more:
        say(f"and {more} more for other reasons", err=True)
    if report.skipped_count > len(ranked[:_SHOWN_SKIPS]):
        say(f"skipped.json in the index and the page of documents name them, up to {MAX_LISTED:,}", err=True)
