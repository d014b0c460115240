"""The events of a response's stream, each with its number: a pure function of the run's events, so that a client that resumes gets
the same bytes under the same numbers.

created · in_progress · output_item.added · content_part.added · output_text.delta, a token each · annotation.added · the four
that are done, innermost first · completed, incomplete (which a withdrawn, a cut and a cancelled one are) or failed.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal

import msgspec

from runtime.edge.openai.responses_schemas import (
    OutputMessage,
    OutputText,
    Response,
    ResponseCitation,
    ResponseStatus,
)
from runtime.edge.problems import Problem
from runtime.edge.relay import TextForm
from runtime.edge.sse import DONE


class ResponseEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """One event of a response's stream; they count from 0."""

    type: ClassVar[str]
    sequence_number: int


class ResponseCreated(ResponseEvent, frozen=True, kw_only=True, tag="response.created"):
    response: Response


class ResponseInProgress(ResponseEvent, frozen=True, kw_only=True, tag="response.in_progress"):
    response: Response


class ResponseCompleted(ResponseEvent, frozen=True, kw_only=True, tag="response.completed"):
    response: Response


class ResponseIncomplete(ResponseEvent, frozen=True, kw_only=True, tag="response.incomplete"):
    response: Response


class ResponseFailed(ResponseEvent, frozen=True, kw_only=True, tag="response.failed"):
    response: Response


class OutputItemAdded(ResponseEvent, frozen=True, kw_only=True, tag="response.output_item.added"):
    item: OutputMessage
    output_index: Literal[0] = 0


class OutputItemDone(ResponseEvent, frozen=True, kw_only=True, tag="response.output_item.done"):
    item: OutputMessage
    output_index: Literal[0] = 0


class OfText(ResponseEvent, frozen=True, kw_only=True):
    """Base of the events of the text."""

    item_id: str
    output_index: Literal[0] = 0
    content_index: Literal[0] = 0


class ContentPartAdded(OfText, frozen=True, kw_only=True, tag="response.content_part.added"):
    part: OutputText


class ContentPartDone(OfText, frozen=True, kw_only=True, tag="response.content_part.done"):
    part: OutputText


class OutputTextDelta(OfText, frozen=True, kw_only=True, tag="response.output_text.delta"):
    delta: str
    logprobs: tuple[()] = ()


class OutputTextDone(OfText, frozen=True, kw_only=True, tag="response.output_text.done"):
    text: str
    logprobs: tuple[()] = ()


class AnnotationAdded(OfText, frozen=True, kw_only=True, tag="response.output_text.annotation.added"):
    annotation: ResponseCitation
    annotation_index: int


class StreamError(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    code: str
    message: str
    param: str | None = None


class ResponseErrored(ResponseEvent, frozen=True, kw_only=True, tag="error"):
    """An error, in the form of Open Responses (`error`) and of OpenAI (the other fields)."""

    error: StreamError
    code: str
    message: str
    param: str | None = None


#: Every event there may be, for /openapi.json.
EVENTS: tuple[type[ResponseEvent], ...] = tuple(
    leaf for kind in ResponseEvent.__subclasses__() for leaf in (kind.__subclasses__() or [kind])
)
_LAST: dict[ResponseStatus, type[ResponseCompleted | ResponseIncomplete]] = {
    "completed": ResponseCompleted,
    "incomplete": ResponseIncomplete,
    "cancelled": ResponseIncomplete,
}
_encode = msgspec.json.Encoder().encode


class ResponseEvents(TextForm[bytes]):
    """The events of one response. Those up to number `after` are counted but left out."""

    def __init__(self, run_id: str, begun: Response, item_id: str, after: int) -> None:
        super().__init__(run_id)
        self.begun = begun
        self.item_id = item_id
        self.after = after
        self._tokens: list[str] = []
        self._number = 0

    @property
    def written(self) -> str:
        return "".join(self._tokens)

    def begin(self) -> Iterator[bytes]:
        for event in (ResponseCreated, ResponseInProgress):
            yield self._written(event(sequence_number=self._number, response=self.begun))

    def text(self, number: int, tokens: list[str]) -> Iterator[bytes]:
        """A delta for each token; before the first, the item and its part."""
        return (self._written(event) for token in tokens for event in self._delta(token))

    def closing(self, final: Response, part: OutputText) -> Iterator[bytes]:
        """After the last delta. `final`: the response as it has ended. `part`: all the text."""
        yield from map(self._written, self._closing(final, part))
        yield DONE

    def failed(self, problem: Problem) -> Iterator[bytes]:
        """The stream ends before the response does: read on from the last number."""
        yield self._written(self._error(problem.code, problem.detail))

    def _delta(self, token: str) -> Iterator[ResponseEvent]:
        if not self._tokens:
            item = OutputMessage(id=self.item_id, status="in_progress")
            yield OutputItemAdded(sequence_number=self._number, item=item)
            yield ContentPartAdded(sequence_number=self._number, item_id=self.item_id, part=OutputText())
        self._tokens.append(token)
        yield OutputTextDelta(sequence_number=self._number, item_id=self.item_id, delta=token)

    def _closing(self, final: Response, part: OutputText) -> Iterator[ResponseEvent]:
        if final.status == "failed":  # what it had begun stays as it is
            assert final.error is not None
            yield self._error(final.error.code, final.error.message)
            yield ResponseFailed(sequence_number=self._number, response=final)
            return
        if self._tokens:
            for n, annotation in enumerate(part.annotations):
                yield AnnotationAdded(
                    sequence_number=self._number, item_id=self.item_id, annotation=annotation, annotation_index=n
                )
            yield OutputTextDone(sequence_number=self._number, item_id=self.item_id, text=part.text)
            yield ContentPartDone(sequence_number=self._number, item_id=self.item_id, part=part)
            status: Literal["completed", "incomplete"] = "completed" if final.status == "completed" else "incomplete"
            item = OutputMessage(id=self.item_id, status=status, content=(part,))
            yield OutputItemDone(sequence_number=self._number, item=item)
        yield _LAST[final.status](sequence_number=self._number, response=final)

    def _error(self, code: str, message: str) -> ResponseErrored:
        error = StreamError(type="server_error", code=code, message=message)
        return ResponseErrored(sequence_number=self._number, error=error, code=code, message=message)

    def _written(self, event: ResponseEvent) -> bytes:
        self._number = event.sequence_number + 1
        if event.sequence_number <= self.after:
            return b""
        return b"event: %s\ndata: %s\n\n" % (str(type(event).__struct_config__.tag).encode(), _encode(event))
