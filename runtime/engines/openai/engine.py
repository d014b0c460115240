"""The engine of any OpenAI-compatible server: a cloud model, or a local server that is not ours."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from bus.errors import BadReply, NoReply, Unavailable
from runtime.engines.engine import Delta, Finished, Rendered, Request
from runtime.engines.openai.schema import problem
from runtime.engines.openai.wire import Wire

START_S = 10.0
EMBED_S, EMBED_TEXTS = 60.0, 64
#: How many of the likeliest tokens are asked for when scoring; more is refused by some servers.
TOP_TOKENS = 10
CONTINUE = "Go on exactly where your last message stops. Repeat nothing of it."
AGAIN = "Your reply was not usable ({problem}). Reply again, with nothing but one JSON value that fits this JSON Schema: {schema}"


class OpenAIEngine:
    """`reasoning_effort` by prompt name, for reasoning models. `extra_body` goes into every chat request as it is."""

    name = "openai"
    needs_rendering = True

    def __init__(
        self,
        base_url: str,
        model: str = "",
        *,
        api_key: str = "",
        embedding_model: str = "",
        query_instruction: str = "",
        reasoning_effort: Mapping[str, str] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        attempts: int = 4,
    ) -> None:
        self.model = model
        self._wire = Wire(base_url, api_key, attempts=attempts)
        self._embedding_model = embedding_model
        self._query_instruction = query_instruction
        self._efforts = dict(reasoning_effort or {})
        self._extra = dict(extra_body or {})

    async def start(self) -> None:
        """Ask which models there are; without a model's name the first is taken. Raises: Unavailable."""
        await self._wire.open()
        deadline = asyncio.get_running_loop().time() + START_S
        try:
            models = await self._wire.models(deadline)
        except (NoReply, BadReply, Unavailable) as error:
            await self._wire.close()
            raise Unavailable(str(error)) from error
        if not self.model and not models:
            await self._wire.close()
            raise Unavailable("the server names no model; set inference.model")
        self.model = self.model or models[0]

    async def close(self) -> None:
        await self._wire.close()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        """A JSON reply comes as one delta, once it is known to fit: a server may ignore the schema."""
        rendered = _rendered(request)
        if asyncio.get_running_loop().time() >= request.deadline:
            raise NoReply(f"{request.variables.name} was asked after its deadline; allow the run more time")
        body = self._body(request, rendered)
        if rendered.schema is None:
            async for event in self._stream(request, body):
                yield event
            return
        body["response_format"] = _response_format(request.variables.name, rendered.schema)
        finished = await self._whole(request, body)
        wrong = _wrong(finished.text, rendered.schema)
        if wrong:
            told = AGAIN.format(problem=wrong, schema=json.dumps(rendered.schema, ensure_ascii=False))
            said = {"role": "assistant", "content": finished.text}
            body["messages"] = [*body["messages"], said, {"role": "user", "content": told}]
            finished = await self._whole(request, body)
            wrong = _wrong(finished.text, rendered.schema)
        if wrong:
            raise BadReply(
                f"{request.variables.name}: {wrong}; the server ignores response_format and the model the schema"
            )
        yield Delta(finished.text)
        yield finished

    async def score(self, request: Request, continuations: Sequence[str]) -> list[float]:
        """Of the first token only, as a chat API tells no more; what is not among the likeliest counts as just below them."""
        body = self._body(request, _rendered(request))
        body |= {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": TOP_TOKENS}
        reply = await self._wire.json("POST", "/chat/completions", request.deadline, body)
        try:
            top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            likely = [(str(entry["token"]), float(entry["logprob"])) for entry in top]
        except (KeyError, IndexError, TypeError) as error:
            raise BadReply(f"{self._wire.base_url} gives no log-probabilities; score with another engine") from error
        return [first_token_score(text, likely) for text in continuations]

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        lead = self._query_instruction if query else ""
        vectors: list[list[float]] = []
        for begin in range(0, len(texts), EMBED_TEXTS):
            part = [lead + text for text in texts[begin : begin + EMBED_TEXTS]]
            body = {"model": self._embedding_model or self.model, "input": part, "encoding_format": "float"}
            deadline = asyncio.get_running_loop().time() + EMBED_S
            vectors += _vectors(await self._wire.json("POST", "/embeddings", deadline, body), len(part))
        return vectors

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
        asked = request.rendered.reasoning_effort if request.rendered is not None else ""
        effort = asked or self._efforts.get(request.variables.name)
        if effort:
            # Reasoning models take no temperature, and their thinking counts against the limit under its new name.
            del body["temperature"]
            body |= {"reasoning_effort": effort, "max_completion_tokens": body.pop("max_tokens")}
        return body | self._extra

    async def _whole(self, request: Request, body: dict[str, Any]) -> Finished:
        async for event in self._stream(request, body):
            if isinstance(event, Finished):
                return event
        raise NoReply("the stream ended without an end; ask again")

    async def _stream(self, request: Request, body: dict[str, Any]) -> AsyncIterator[Delta | Finished]:
        loop = asyncio.get_running_loop()
        asked, first, pieces = loop.time(), 0.0, []
        body = body | {"stream": True, "stream_options": {"include_usage": True}}
        skip, reason, model = Repeated(request.already_shown), "stop", str(body["model"])
        usage: dict[str, Any] = {}
        async for event in self._wire.events("/chat/completions", request.deadline, body):
            usage = event.get("usage") or usage
            model = event.get("model") or model
            for choice in event.get("choices") or ():
                reason = choice.get("finish_reason") or reason
                fresh = skip.add((choice.get("delta") or {}).get("content") or "")
                if fresh:
                    first = first or loop.time()
                    pieces.append(fresh)
                    yield Delta(fresh)
        rest = skip.rest()
        if rest:
            pieces.append(rest)
            yield Delta(rest)
        details = usage.get("prompt_tokens_details") or {}
        yield Finished(
            text=request.already_shown + "".join(pieces),
            finish_reason="length" if reason == "length" else "stop",
            engine=self.name,
            model=model,
            tokens_in=usage.get("prompt_tokens") or 0,
            tokens_in_cached=details.get("cached_tokens") or 0,
            tokens_out=usage.get("completion_tokens") or len(pieces),
            prefill_s=(first or loop.time()) - asked,
            decode_s=loop.time() - first if first else 0.0,
        )


class Repeated:
    """Drops a beginning that says again what was already shown; the model was told not to, and may do it all the same."""

    def __init__(self, shown: str) -> None:
        self._shown, self._held = shown, ""

    def add(self, text: str) -> str:
        """What of `text` and what was held back can be shown now."""
        if not self._shown:
            return text
        self._held += text
        if self._held.startswith(self._shown):
            return self._open(self._held[len(self._shown) :])
        return "" if self._shown.startswith(self._held) else self._open(self._held)

    def rest(self) -> str:
        """At the end of the reply: a beginning that never became a repetition of the whole."""
        return self._open(self._held) if self._shown and self._held else ""

    def _open(self, text: str) -> str:
        self._shown = self._held = ""
        return text


def first_token_score(text: str, likely: Sequence[tuple[str, float]]) -> float:
    """The log-probability that the reply begins like `text`, from the likeliest first tokens."""
    begins = [log for token, log in likely if token.strip() and text.strip().startswith(token.strip())]
    if begins:
        return math.log(sum(map(math.exp, begins)))
    return min((log for _, log in likely), default=0.0) - 1.0


def _rendered(request: Request) -> Rendered:
    if request.rendered is None:
        raise ValueError(f"{request.variables.name} came to the openai engine without being rendered")
    return request.rendered


def _response_format(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": True}}


def _wrong(text: str, schema: dict[str, Any]) -> str:
    try:
        return problem(json.loads(text), schema)
    except json.JSONDecodeError as error:
        return f"the reply is no JSON ({error.msg})"


def _vectors(reply: Any, count: int) -> list[list[float]]:
    try:
        rows = [entry["embedding"] for entry in sorted(reply["data"], key=lambda entry: entry["index"])]
        norms = [math.sqrt(sum(x * x for x in row)) for row in rows]
        vectors = [[x / norm for x in row] for row, norm in zip(rows, norms, strict=True)]
    except (KeyError, TypeError, ZeroDivisionError) as error:
        raise BadReply("the server's embeddings cannot be read; check the embedding model") from error
    if len(vectors) != count:
        raise BadReply(f"the server gave {len(vectors)} embeddings for {count} texts; check the embedding model")
    return vectors
