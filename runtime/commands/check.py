"""`groundwire check`: compare each sentence of a text with an index, a server's documents or given files."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from index.java import warm_up
from index.readers import Unreadable
from runtime.commands.filter_options import filter_options, for_server, taken_filter, taken_groups
from runtime.commands.index_options import opened
from runtime.commands.options import ASKED_INDEX, FILE, NEW_FILE, URL, Place, check_place, one_line_errors, server
from runtime.commands.progress import bars
from runtime.terminal import Bold, one_line, say, say_json

if TYPE_CHECKING:
    from actors.checking.report import CheckReport
    from bus.wire.parts import Passage
    from index.build_job import Tell
    from runtime.checked.file import CheckedFile

#: What `--fail-on` names, from the worst; each includes those before it.
_FINDINGS = ("contradicted", "unverified", "not_covered")


@click.command("check")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False, allow_dash=True))
@ASKED_INDEX
@URL
@click.option(
    "--context", multiple=True, type=FILE, help="Compare with this document in place of an index; repeatable."
)
@filter_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--sarif", type=NEW_FILE, help="Write the findings as SARIF 2.1.0 to this file.")
@click.option("--html", type=NEW_FILE, help="Write a page with both texts to this file.")
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
    if not context:
        check_place(index, url, None, groups)
    elif index or url or only or groups is not None:
        raise click.UsageError("--context takes the place of an index: leave out --index, --url and their options")
    if isinstance(index, Path):
        warm_up.begin(index, brief=True)
    with one_line_errors(), bars() as tell:
        checked = _read(file)
        if url is None:
            report = _compared(checked, index, context, tell, filter=only, groups=groups)
        else:
            from actors.checking.report import CheckReport

            with server(url) as client:
                found = client.check(checked.written, filter=for_server(only))
            report = msgspec.convert(msgspec.to_builtins(found), CheckReport)
    if sarif is not None:
        from runtime.checked.sarif import sarif_of

        sarif.write_bytes(msgspec.json.format(msgspec.json.encode(sarif_of(report, checked))) + b"\n")
    if html is not None:
        from runtime.checked.page import page_of

        html.write_text(page_of(report, checked), encoding="utf-8")
    if as_json:
        say_json(report)
    else:
        _print(report, checked)
    worst = _FINDINGS[: _FINDINGS.index(fail_on) + 1]
    if not any(sentence.verdict in worst for sentence in report.findings):
        return 0
    say(f"exit code 3: a sentence is {' or '.join(worst).replace('_', ' ')} (--fail-on {fail_on})", err=True)
    return 3


def _read(file: Path) -> "CheckedFile":
    """Raises click.UsageError."""
    from runtime.checked.file import checked_file

    name, data = ("text.md", sys.stdin.buffer.read()) if str(file) == "-" else (str(file), file.read_bytes())
    try:
        return checked_file(name, data)
    except Unreadable as problem:
        raise click.UsageError(f"{name} cannot be read: {problem}") from None


def _compared(
    file: "CheckedFile", index: Place | None, context: tuple[Path, ...], tell: "Tell", **options: Any
) -> "CheckReport":
    """What the index or, without one, the files of `context` say. Raises IndexProblem, click.UsageError."""
    with opened(index) if index else contextlib.nullcontext() as searcher:
        from actors.checking.report import report_of
        from actors.checking.spans import Found
        from actors.checking.thresholds import PASSAGES
        from actors.checking.verdicts import judged
        from runtime.checked.file import passages_of
        from runtime.processes.served import passage_of

        given: list[Passage] = []
        for path in context:
            try:
                given += passages_of(path)
            except Unreadable as problem:
                raise click.UsageError(f"a --context cannot be read: {problem} ({path})") from None
        found, results = Found(given), []
        for done, claim in enumerate(file.claims, 1):
            if searcher and claim.states:
                hits = searcher.search(claim.query, k=PASSAGES, as_list=True, **options)
                found = Found([passage_of(hit) for hit in hits])
            results.append(judged(claim, found))
            tell("check", done, len(file.claims))
        return report_of(results, searcher.snapshot if searcher else "")


def _print(report: "CheckReport", file: "CheckedFile") -> None:
    """The sentences that are not verified, with the words in dispute in bold, and how many there are of each kind."""
    for sentence in report.findings:
        page = file.page_of(sentence.start)
        place = f":{file.line_of(sentence.start)[0]}" if file.is_text else f", page {page}" if page else ""
        say(Bold(sentence.verdict.replace("_", " ")), f"  {one_line(file.name)}{place}")
        say("  ", *_bold(sentence.text, sentence.words))
        if sentence.spans:
            say(f"    {one_line(sentence.why)}")
        for span in sentence.spans:
            at = f", page {span.page}" if span.page is not None else ""
            say("    > ", *_bold(span.text, span.against))
            say(f"      {one_line(span.title)} ({one_line(span.source_id)}{at})")
    say(", ".join(f"{count} {verdict.replace('_', ' ')}" for verdict, count in report.counts.items()))


def _bold(text: str, words: str) -> tuple[str, Bold, str]:
    from actors.checking.report import disputed

    before, said, after = disputed(one_line(text)[:400], words)
    return before, Bold(said), after
