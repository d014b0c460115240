"""`groundwire check`: compare each sentence of a text with an index, a server's documents or given files."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from index.java import warm_up
from index.languages import LANGUAGES
from index.readers import Unreadable
from runtime.commands.embedder_options import embedder, embedder_options
from runtime.commands.filter_options import filter_options, taken_filter, taken_groups
from runtime.commands.options import (
    ASKED_INDEX,
    PATIENCE_S,
    SNAPSHOT,
    URL,
    Place,
    check_place,
    one_line_errors,
    read_settings,
)
from runtime.commands.progress import bars
from runtime.terminal import Bold, one_line, say, say_json

if TYPE_CHECKING:
    from actors.checking.claims import Claim
    from actors.checking.report import CheckedSentence, CheckReport
    from actors.checking.spans import Found
    from index.build_job import Tell
    from index.embedders.embedder import Embedder
    from index.filters import Filter
    from runtime.checked.file import CheckedFile

#: What `--fail-on` names, from the worst; each includes those before it.
_FINDINGS = ("contradicted", "unverified", "not_covered")
#: How many passages are read for a sentence.
_PASSAGES = 8
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True))
@ASKED_INDEX
@URL
@click.option(
    "--context", multiple=True, type=_FILE, help="Compare with this document in place of an index; repeatable."
)
@click.option("--language", type=click.Choice(LANGUAGES), help="Language of the text; detected by default.")
@filter_options
@SNAPSHOT
@embedder_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--sarif", type=click.Path(path_type=Path), help="Write the findings as SARIF 2.1.0 to this file.")
@click.option("--html", type=click.Path(path_type=Path), help="Write a page with both texts to this file.")
@click.option(
    "--fail-on",
    type=click.Choice(_FINDINGS),
    default="contradicted",
    show_default=True,
    help="Exit with 3 if a sentence is so, or worse.",
)
def check_command(
    file: Path,
    index: Place | None,
    url: str | None,
    context: tuple[Path, ...],
    language: str | None,
    name: str | None,
    embed_url: str | None,
    embed_model: str,
    as_json: bool,
    sarif: Path | None,
    html: Path | None,
    fail_on: str,
    **options: Any,
) -> int:
    """Compare each sentence of FILE, or of - for standard input, with your documents.

    Exits 0 if none contradicts them (see --fail-on), 3 if one does, 2 if something cannot be read. With --url a server compares;
    its key is read from GROUNDWIRE_KEY.
    """
    only, groups = taken_filter(options), taken_groups(options)
    if context:
        if index or url or only or groups is not None or name or embed_url:
            raise click.UsageError("--context takes the place of an index: leave out --index, --url and their options")
    else:
        check_place(index, url, None, groups)
    if url is not None and (name or embed_url):
        raise click.UsageError("--snapshot and the embedder are for an index; a server has its own")
    if isinstance(index, Path):
        warm_up.begin(index, brief=True)
    checked = _read(file)
    with one_line_errors(), bars() as tell:
        if context:
            report = _with_files(checked, context, tell)
        elif url is not None:
            report = _with_server(checked, url, language, only)
        else:
            assert index is not None, "either an index, a server or documents are compared with"
            with embedder(embed_url, embed_model) as vectors:
                report = _with_index(checked, index, name, vectors, tell, language=language, filter=only, groups=groups)
    _write(report, checked, sarif, html)
    if as_json:
        say_json(report)
    else:
        _print(report, checked)
    worst = _FINDINGS[: _FINDINGS.index(fail_on) + 1]
    return 3 if any(sentence.verdict in worst for sentence in report.sentences) else 0


def _read(file: Path) -> "CheckedFile":
    """Raises click.UsageError."""
    from runtime.checked.file import checked_file

    name, data = ("text.md", sys.stdin.buffer.read()) if str(file) == "-" else (str(file), file.read_bytes())
    try:
        return checked_file(name, data)
    except Unreadable as problem:
        raise click.UsageError(f"{name} cannot be read: {problem}") from None


def _with_files(file: "CheckedFile", paths: Sequence[Path], tell: "Tell") -> "CheckReport":
    """Raises click.UsageError."""
    from actors.checking.report import report_of
    from actors.checking.spans import Found
    from runtime.checked.file import passages_of

    try:
        found = Found([passage for path in paths for passage in passages_of(path)])
    except Unreadable as problem:
        raise click.UsageError(f"a --context cannot be read: {problem}") from None
    return report_of(_judged(file, lambda _: found, tell))


def _with_index(
    file: "CheckedFile",
    index: Place,
    snapshot: str | None,
    vectors: "Embedder | None",
    tell: "Tell",
    **options: Any,
) -> "CheckReport":
    """The slow imports happen here, during Java's start. Raises IndexProblem."""
    from actors.checking.report import report_of
    from actors.checking.spans import Found
    from index.search import class_archive
    from index.search.searcher import Searcher
    from runtime.engines.embedders import reranking
    from runtime.index_of import index_of
    from runtime.processes.hits import passage_of

    settings = read_settings(index=index).index
    reranker = reranking(settings, lambda line: say(line, err=True))
    searcher = Searcher.open(index_of(settings), snapshot, embedder=vectors, reranker=reranker)

    def find(claim: "Claim") -> Found:
        hits = searcher.search(claim.query, k=_PASSAGES, as_list=True, **options) if claim.states else []
        return Found([passage_of(hit) for hit in hits])

    try:
        return report_of(_judged(file, find, tell), searcher.snapshot)
    finally:
        searcher.close()
        if isinstance(index, Path):
            class_archive.make_behind(index)


def _judged(file: "CheckedFile", find: "Callable[[Claim], Found]", tell: "Tell") -> Iterator["CheckedSentence"]:
    from actors.checking.verdicts import judged

    def results() -> Iterator["CheckedSentence"]:
        for done, claim in enumerate(file.claims, 1):
            yield judged(claim, find(claim))
            tell("check", done, len(file.claims))

    return file.placed(results())


def _with_server(file: "CheckedFile", url: str, language: str | None, only: "Filter | None") -> "CheckReport":
    from groundwire import client

    from actors.checking.report import CheckReport

    asked = None if only is None else msgspec.convert(msgspec.to_builtins(only), client.Filter)
    try:
        with client.BlockingClient(url, patience_s=PATIENCE_S) as server:
            reply = server.check(file.written, language=language, filter=asked)
    except client.GroundwireError as error:
        raise click.ClickException(one_line(str(error))) from None
    return msgspec.convert(msgspec.to_builtins(reply), CheckReport)


def _write(report: "CheckReport", file: "CheckedFile", sarif: Path | None, html: Path | None) -> None:
    if sarif is not None:
        from runtime.checked.sarif import sarif_of

        sarif.write_bytes(msgspec.json.format(msgspec.json.encode(sarif_of(report, file))) + b"\n")
    if html is not None:
        from runtime.checked.page import page_of

        html.write_text(page_of(report, file), encoding="utf-8")


def _print(report: "CheckReport", file: "CheckedFile") -> None:
    """The sentences that are not verified, with the words in dispute in bold, and how many there are of each kind."""
    for sentence in report.sentences:
        if sentence.verdict in ("verified", "no_claim"):
            continue
        page = file.page_of(sentence.start)
        place = f":{file.line_of(sentence.start)[0]}" if file.is_text else f", page {page}" if page else ""
        say(Bold(sentence.verdict.replace("_", " ")), f"  {one_line(file.name)}{place}")
        say("  ", *_bold(one_line(sentence.text), sentence.words))
        say(f"    {one_line(sentence.why)}")
        for span in sentence.spans:
            at = f", page {span.page}" if span.page is not None else ""
            say("    > ", *_bold(one_line(span.text)[:400], span.against))
            say(f"      {one_line(span.title)} ({one_line(span.source_id)}{at})")
    say(", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in report.counts.items()))


def _bold(text: str, words: str) -> list[str | Bold]:
    at = text.lower().find(words.lower()) if words else -1
    if at < 0 or len(text.lower()) != len(text):
        return [text]
    return [text[:at], Bold(text[at : at + len(words)]), text[at + len(words) :]]
