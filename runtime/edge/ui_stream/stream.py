"""One run as the AI SDK's UI message stream: a message of text, sources and data parts.

A client that joins a run gets its stream from the beginning, under the same message id: the SDK replaces the message it has.
"""

import mimetypes
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from aiohttp import web
from groundwire.wire import NearPassage, Reference
from msgspec.structs import replace

from bus.powers.events import Passages, ProgressEvent, Queued, Sources, StageEvent, VerdictEvent, Withheld
from bus.runs.run_record import RunRecord
from bus.wire.messages import same_fields
from bus.wire.settled import UnverifiedSentence
from index.source_paths import on_the_web, source_path
from runtime.edge.cited import absolute, base_of, cited
from runtime.edge.problems import Problem
from runtime.edge.relay import TextForm
from runtime.edge.sse import DONE, data_line
from runtime.edge.state import EDGE
from runtime.edge.ui_stream import schemas as ui

#: The SDK and proxies recognise the stream by this header.
UI_HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
#: The ids of the message's two texts: the answer, and the reason of its withdrawal.
ANSWER, WITHDRAWAL = "answer", "withdrawal"

#: Without the system's own table, which differs from machine to machine; with what Python's lacks.
_types = mimetypes.MimeTypes(filenames=())
for _ending, _type in (
    (".md", "text/markdown"),
    (".epub", "application/epub+zip"),
    (".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    (".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (".odt", "application/vnd.oasis.opendocument.text"),
):
    _types.add_type(_type, _ending)


class UiForm(TextForm[bytes]):
    """The chunks of one run."""

    def __init__(self, request: web.Request, run_id: str) -> None:
        super().__init__(run_id)
        self.base = base_of(request)
        self._runs = request.app[EDGE].runs
        self._has_text = False
        self._withheld = 0

    def begin(self) -> Iterator[bytes]:
        run_id = self.run.run_id
        yield data_line(ui.UiStart(message_id=run_id, message_metadata=ui.UiMetadata(run_id=run_id)))
        yield data_line(ui.UiStartStep())

    def text(self, number: int, tokens: list[str]) -> Iterator[bytes]:
        if not self._has_text:
            self._has_text = True
            yield data_line(ui.UiTextStart(id=ANSWER))
        yield data_line(ui.UiTextDelta(id=ANSWER, delta="".join(tokens)))

    def progress(self, number: int, event: ProgressEvent) -> Iterator[bytes]:
        yield data_line(self._progress(event))

    async def end(self) -> list[bytes]:
        self.run.check()
        record = await self._runs.record(self.run.run_id)
        return [*map(data_line, self._end(self._metadata(record), record.unverified if record else ())), DONE]

    def failed(self, problem: Problem) -> Iterator[bytes]:
        yield from map(data_line, self._failed(problem))
        yield DONE

    # ------------------------------------------------------------ chunks

    def _progress(self, event: ProgressEvent) -> ui.UiChunk:
        match event:
            case StageEvent():
                return ui.UiStage(id=f"{event.stage}.{event.lane}", data=event)
            case Sources():
                items = tuple(
                    replace(each, url=absolute(each.url or source_path(each.source_id), self.base))
                    for each in event.items
                )
                return ui.UiFound(data=replace(event, items=items))
            case Withheld():
                self._withheld += 1
                return ui.UiWithheld(id=f"withheld-{self._withheld}", data=event)
            case VerdictEvent():
                return ui.UiVerdict(id="verdict", data=event)
            case Queued():
                return ui.UiQueued(id="queued", data=event)

    def _end(self, metadata: ui.UiMetadata, unverified: Iterable[UnverifiedSentence]) -> Iterator[ui.UiChunk]:
        run = self.run
        sources = {each.n: each for each in cited(run.text, run.references, self.base)}
        if self._has_text:
            yield ui.UiTextEnd(id=ANSWER, citations=self._citations())
        for n, each in sorted(sources.items()):
            origin = ui.UiPlace(source_id=each.source_id, n=n, quote=each.quote)
            yield ui.UiSourceUrl(
                source_id=str(n), url=each.url, title=each.title, provider_metadata=ui.UiProvider(groundwire=origin)
            )
        yield from (_document(each) for each in run.references if not on_the_web(each.url))
        if run.withdrawn:
            yield ui.UiTextStart(id=WITHDRAWAL)
            yield ui.UiTextDelta(id=WITHDRAWAL, delta=run.withdrawn)
            yield ui.UiTextEnd(id=WITHDRAWAL)
        if run.passages:
            yield from self._passages(run.passages)
        if marked := tuple(self._unverified(each) for each in unverified):
            yield ui.UiUnverified(data=marked)
        yield ui.UiFinishStep()
        ended: ui.UiFinished = "content-filter" if run.withdrawn else "length" if metadata.cut == "length" else "stop"
        yield ui.UiFinish(finish_reason=ended, message_metadata=metadata)

    def _unverified(self, sentence: UnverifiedSentence) -> ui.UiUnverifiedSentence:
        start, end = (utf16_units(self.run.text[:at]) for at in (sentence.answer_start, sentence.answer_end))
        return ui.UiUnverifiedSentence(text=sentence.text, start_index=start, end_index=end, flags=sentence.flags)

    def _citations(self) -> tuple[ui.UiCitation, ...]:
        text = self.run.text
        return tuple(
            ui.UiCitation(
                source=ui.UiSource(id=str(each.n), url=each.url, title=each.title),
                start_index=utf16_units(text[: each.start]),
                end_index=utf16_units(text[: each.end]),
                cited_text=each.quote,
            )
            for each in cited(text, self.run.references, self.base)
        )

    def _passages(self, passages: tuple[NearPassage, ...]) -> Iterator[ui.UiChunk]:
        """The closest passages: as data, and as sources for a page that does not know that."""
        items = tuple(
            replace(
                each,
                url=absolute(each.url or source_path(each.source_id, each.source_start, each.source_end), self.base),
            )
            for each in passages
        )
        for n, each in enumerate(items, 1):
            yield ui.UiSourceUrl(
                source_id=f"closest-{n}",
                url=each.url,
                title=each.title or each.source_id,
                provider_metadata=ui.UiProvider(groundwire=ui.UiPlace(source_id=each.source_id)),
            )
        yield ui.UiPassages(id="passages", data=Passages(items=items))

    def _failed(self, problem: Problem) -> Iterator[ui.UiChunk]:
        if self._has_text:
            yield ui.UiTextEnd(id=ANSWER)
        if problem.code == "cancelled":
            yield ui.UiMessageMetadata(message_metadata=ui.UiMetadata(run_id=self.run.run_id, outcome="cancelled"))
            yield ui.UiAbort(reason=problem.detail)
            return
        metadata = ui.UiMetadata(run_id=self.run.run_id, outcome="failed", code=problem.code)
        yield ui.UiMessageMetadata(message_metadata=metadata)
        yield ui.UiError(error_text=problem.detail)

    def _metadata(self, record: RunRecord | None) -> ui.UiMetadata:
        same = same_fields(record, ui.UiMetadata) if record is not None else {"run_id": self.run.run_id}
        return ui.UiMetadata(**(same | {"withdrawn": bool(self.run.withdrawn)}))


def utf16_units(text: str) -> int:
    """The length of a text as JavaScript counts it."""
    return len(text) + sum(char > "\uffff" for char in text)


def _document(reference: Reference) -> ui.UiSourceDocument:
    media_type, _ = _types.guess_type(reference.source_id)
    return ui.UiSourceDocument(
        source_id=reference.source_id,
        media_type=media_type or "text/plain",
        title=reference.title or reference.source_id,
        filename=PurePosixPath(reference.source_id).name,
    )
