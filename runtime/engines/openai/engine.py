"""The engine for any OpenAI-compatible server: a cloud model, or a local server."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from bus.wire.errors import BadReply, ContentRefused, ContentStopped, NoReply, TooLong, Unavailable
from index.source_paths import without_surrogates
from prompts.files import Rendered
from prompts.thinking import without_thinking
from runtime.engines.engine import Delta, Finished, Request, Wiring
from runtime.engines.limits import fitted, misfit
from runtime.engines.openai.wire import SILENT_S, Usage, Wire
from runtime.settings import InferenceSettings

START_S = 10.0
#: How a reply that a filter ended is finished; some servers add why.
FILTERED = ("content_filter", "refusal")
#: A text, which stays, or a comma before the end of an object or array, which many models write.
_COMMA = re.compile(r"""("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])""", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
CONTINUE = "Go on exactly where your last message stops. Repeat nothing of it."
#: So much of an unusable reply is sent back to the model.
SAID_CHARS = 2000
AGAIN = "Your reply was not usable ({problem}). Reply again, with nothing but one JSON value that fits this JSON Schema: {schema}"


class OpenAIEngine:
    """Sends prompts as chat completions; each request is sent at most `attempts` times."""

    name = "openai"
    needs_rendering = True
    owns_device = False

    def __init__(self, base_url: str, model: str = "", *, api_key: str = "", attempts: int = 4) -> None:
        self.model = model
        self.away = ""  #: why the server cannot be used now; empty while it can
        self._wire = Wire(base_url, api_key, attempts=attempts)

    async def start(self) -> None:
        """List the server's models; without a configured model the first is used. Raises: Unavailable."""
        deadline = asyncio.get_running_loop().time() + START_S
        try:
            models = await self._wire.models(deadline)
        except (NoReply, BadReply, Unavailable) as error:
            await self._wire.close()
            raise Unavailable(str(error)) from error
        if not self.model and not models:
            await self._wire.close()
            raise Unavailable("the server lists no model; set inference.model")
        self.model = self.model or models[0]

    async def close(self) -> None:
        await self._wire.close()

    def unlisted(self) -> str:
        """Which models the server lists where it lists some, but not this one; else empty. A tag `:latest` may be left out."""
        names = self._wire.names
        if not names or {self.model, f"{self.model}:latest"} & set(names):
            return ""
        return f"{self._wire.name} does not list {self.model!r}, but {self._wire.first_names()}"

    async def look_after(self) -> None:
        """Keep `away` true, for ever: a server that is heard of anyway is not asked."""
        loop = asyncio.get_running_loop()
        while True:
            heard = loop.time() - self._wire.heard_at < SILENT_S
            self.away = "" if heard else await self._wire.problem()
            await asyncio.sleep(SILENT_S)

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        """Yield a JSON reply as one delta once it is known to fit, since a server may ignore the schema."""
        rendered = request.rendered
        assert rendered is not None, "this engine needs rendering"
        if asyncio.get_running_loop().time() >= request.deadline:
            raise NoReply(f"{request.variables.name} was asked after its deadline; allow the run more time")
        body = self._body(request, rendered)
        if rendered.schema is None:
            async for event in self._stream(request, body):
                yield event
            return
        shape = {"name": request.variables.name, "schema": rendered.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
        finished, wrong = _fitted(await self._whole(request, body), rendered.schema)
        if wrong:
            told = AGAIN.format(problem=wrong, schema=json.dumps(rendered.schema, ensure_ascii=False))
            said = {"role": "assistant", "content": finished.text[:SAID_CHARS] or "(nothing)"}
            body["messages"] = [*body["messages"], said, {"role": "user", "content": told}]
            first, (finished, wrong) = finished, _fitted(await self._whole(request, body), rendered.schema)
            finished = msgspec.structs.replace(
                finished,
                calls=2,
                tokens_in=first.tokens_in + finished.tokens_in,
                tokens_out=first.tokens_out + finished.tokens_out,
            )
        if wrong:
            raise _unusable(request.variables.name, finished, wrong)
        yield Delta(finished.text)
        yield finished

    def _body(self, request: Request, rendered: Rendered) -> dict[str, Any]:
        messages = [{"role": "system", "content": rendered.system}] if rendered.system else []
        messages.append({"role": "user", "content": rendered.user})
        if request.already_shown:
            messages.append({"role": "assistant", "content": request.already_shown})
            messages.append({"role": "user", "content": CONTINUE})
        body: dict[str, Any] = {
            "model": rendered.model or self.model,
            "messages": messages,
            "temperature": rendered.temperature,
            "max_tokens": rendered.max_tokens,
            "seed": request.seed,
        }
        if rendered.reasoning_effort:
            body["reasoning_effort"] = rendered.reasoning_effort
        return body

    async def _whole(self, request: Request, body: dict[str, Any]) -> Finished:
        async for event in self._stream(request, body):
            if isinstance(event, Finished):  # a reasoning model may think before its JSON, and many fence it
                text = without_thinking(event.text).strip()
                fenced = _FENCED.fullmatch(text)
                return msgspec.structs.replace(event, text=fenced[1] if fenced else text)
        raise NoReply("the stream ended without a finish reason; ask again")

    async def _stream(self, request: Request, body: dict[str, Any]) -> AsyncIterator[Delta | Finished]:
        loop = asyncio.get_running_loop()
        asked, first = loop.time(), 0.0
        pieces: list[str] = []
        body = body | {"stream_options": {"include_usage": True}}
        skip, reason, model = Repeated(request.already_shown), "stop", str(body["model"])
        usage: Usage | None = None
        whole = "response_format" in body
        async for chunk in self._wire.chat(request.deadline, body):
            usage, model = chunk.usage or usage, chunk.model or model
            for choice in chunk.choices or ():
                reason = choice.finish_reason or reason
                if reason.startswith(FILTERED) or (choice.delta and choice.delta.refusal):
                    kind = ContentStopped if not whole and (pieces or request.already_shown) else ContentRefused
                    raise kind(f"{request.variables.name}: the model refuses the content, or its server's filter does")
                fresh = skip.add(without_surrogates(choice.delta.content or "") if choice.delta else "")
                if fresh:
                    first = first or loop.time()
                    pieces.append(fresh)
                    yield Delta(fresh)
        rest = skip.rest()
        if rest:
            pieces.append(rest)
            yield Delta(rest)
        text = request.already_shown + "".join(pieces)
        if reason == "length" and not whole and not without_thinking(text).strip():
            raise TooLong(f"{request.variables.name}: the model thinks until its tokens are used up; raise max_tokens")
        cached = usage and usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens
        yield Finished(
            text=text,
            finish_reason="length" if reason == "length" else "stop",
            engine=self.name,
            model=model,
            tokens_in=(usage and usage.prompt_tokens) or 0,
            tokens_in_cached=cached or 0,
            tokens_out=(usage and usage.completion_tokens) or len(pieces),
            prefill_s=(first or loop.time()) - asked,
            decode_s=loop.time() - first if first else 0.0,
        )


def make(settings: InferenceSettings, wiring: Wiring) -> OpenAIEngine:
    return OpenAIEngine(settings.base_url, settings.model, api_key=settings.api_key)


class Repeated:
    """Drops a beginning that repeats what was already shown, which a model may write although the prompt forbids it."""

    def __init__(self, shown: str) -> None:
        self._shown, self._held = shown, ""

    def add(self, text: str) -> str:
        """The part of `text` and of what was held back that can be shown now."""
        if not self._shown:
            return text
        self._held += text
        if self._held.startswith(self._shown):
            return self._open(self._held[len(self._shown) :])
        return "" if self._shown.startswith(self._held) else self._open(self._held)

    def rest(self) -> str:
        """At the end of the reply, the text held back that turned out to be no full repetition."""
        return self._open(self._held) if self._shown and self._held else ""

    def _open(self, text: str) -> str:
        self._shown = self._held = ""
        return text


def _unusable(name: str, finished: Finished, wrong: str) -> BadReply:
    failure = BadReply(f"{name}: {wrong}; the server ignores response_format; use one that enforces JSON Schema")
    if finished.finish_reason == "length":
        failure = TooLong(f"{name}: the reply ends at its {finished.tokens_out} tokens; raise max_tokens")
    failure.calls = finished.calls
    return failure


def _fitted(finished: Finished, schema: dict[str, Any]) -> tuple[Finished, str]:
    """The reply within the limits of its schema, and what is still wrong with it; empty if it fits."""
    try:
        try:
            value = json.loads(finished.text)
        except json.JSONDecodeError:
            finished = msgspec.structs.replace(finished, text=_COMMA.sub(lambda found: found[1] or "", finished.text))
            value = json.loads(finished.text)
        fit, cut = fitted(value, schema)
        wrong = misfit(fit, schema)
        if wrong or fit == value:
            return finished, wrong
    except json.JSONDecodeError as error:
        return finished, f"the reply is not JSON ({error.msg})"
    except RecursionError:
        return finished, "the reply is nested too deeply"
    return msgspec.structs.replace(finished, text=json.dumps(fit, ensure_ascii=False), cut=", ".join(cut)), ""
