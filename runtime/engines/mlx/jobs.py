"""A request on the device thread: a prompt to prefill, then a row of the batch or a verdict, which needs no decoding."""

import codecs
import heapq
import itertools
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import msgspec
import numpy as np

from bus.wire.errors import BadReply, TooLong
from prompts.vocabulary import PRIORITIES
from runtime.engines.engine import Ending, RequestRecord
from runtime.engines.mlx.batch import Row, Sampling, sample
from runtime.engines.mlx.grammar import Grammars, Guide
from runtime.engines.mlx.memory import WORTH_TOKENS, Prefixes, Tokens
from runtime.engines.mlx.model import LoadedModel
from runtime.engines.mlx.tickets import Done, Event, Ticket

type Head = Callable[[mx.array], mx.array]


class Forward:
    """The model as prefill needs it: the vocabulary's logits of the last position only.

    Most mlx-lm models have a body and a head that can be called separately; a trial run checks that this gives the model's
    own logits. If not, the last token takes a separate call.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self._head = _separate_head(model)

    def fill(self, tokens: mx.array, cache: list[Any]) -> None:
        """Put `tokens` into `cache`; mlx is lazy, so the logits are never computed."""
        self.model(tokens, cache=cache)

    def last(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        """Put `tokens` into `cache`; the logits after the last one, a row of one."""
        if self._head is not None:
            return self._head(self.model.model(tokens, cache=cache)[:, -1:, :])[:, -1, :]
        if tokens.shape[1] > 1:
            self.fill(tokens[:, :-1], cache)
        logits: mx.array = self.model(tokens[:, -1:], cache=cache)[:, -1, :]
        return logits


def _separate_head(model: Any) -> Head | None:
    body = getattr(model, "model", None)
    table = getattr(body, "embed_tokens", None)
    head: Head | None = getattr(model, "lm_head", None) or getattr(table, "as_linear", None)
    if not callable(body) or head is None:
        return None
    probe = mx.array([[0, 1, 2]])
    whole, apart = model(probe), head(body(probe))
    same = whole.shape == apart.shape and bool(mx.allclose(whole, apart, rtol=1e-2, atol=1e-2))
    return head if same else None


#: A prompt that cost this many tokens is cached for the next request with the same beginning.
SHARED_TOKENS = 64


@dataclass(slots=True, frozen=True)
class Tools:
    """The tools that all jobs share."""

    loaded: LoadedModel
    forward: Forward
    grammars: Grammars
    prefixes: Prefixes


@dataclass(slots=True, eq=False)
class Job:
    """One request. Prefills `tokens`, starting from the longest known prefix; `started` is None while it waits."""

    ticket: Ticket
    record: RequestRecord
    tokens: Tokens
    constant: int
    submitted: float = field(default_factory=time.monotonic)
    started: float | None = None
    cache: list[Any] | None = None
    computed: int = 0
    cached: int = 0
    replays: int = 0

    @property
    def remaining(self) -> int:
        return len(self.tokens) - self.computed

    @property
    def length(self) -> int:
        return len(self.tokens)

    def advance(self, tools: Tools, budget: int) -> tuple[int, Row | Event | None]:
        """Compute at most `budget` tokens, at least one. Returns how many, and the result, if there is one yet.

        Called until it returns a Row, or the request's last event.
        """
        prefixes, begin = tools.prefixes, self.computed
        if self.cache is None:
            self.cache, begin = prefixes.open(self.tokens)
            self.cached = begin
        end = min(begin + budget, len(self.tokens))
        if begin < self.constant < end and self.constant >= WORTH_TOKENS:
            end = self.constant
        chunk = mx.array(self.tokens[None, begin:end])
        logits = None
        if end < len(self.tokens):
            tools.forward.fill(chunk, self.cache)
        else:
            logits = tools.forward.last(chunk, self.cache)
        self.computed = end
        if end == self.constant and end >= WORTH_TOKENS:
            prefixes.keep(self.tokens[:end], self.cache, pinned=True)
        if logits is None:
            mx.async_eval([layer.state for layer in self.cache])  # type: ignore[no-untyped-call]
            return end - begin, None
        if end - self.cached >= SHARED_TOKENS:
            prefixes.keep(self.tokens, self.cache, pinned=False)
        return end - begin, self.finish(tools, logits)

    def finish(self, tools: Tools, logits: mx.array) -> Row | Event:
        """The result of the logits at the prompt's last position, a row of one."""
        raise NotImplementedError

    def restart(self) -> None:
        """Forget the device state and begin again; what was already shown stays shown."""
        self.cache, self.computed, self.replays = None, 0, self.replays + 1

    def release(self) -> None:
        self.cache = None

    def ending(self, ending: Ending) -> RequestRecord:
        now = time.monotonic()
        started = self.started or now
        return msgspec.structs.replace(
            self.record,
            ending=ending,
            tokens_in=len(self.tokens),
            tokens_cached=self.cached,
            tokens_prefilled=max(0, self.computed - self.cached),
            queue_s=started - self.submitted,
            prefill_s=now - started,
            replays=self.replays,
        )


class Text:
    """Decodes bytes to text, holding back half a character; bytes that belong to no character are dropped."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self.text = ""

    def add(self, tokens: list[int]) -> str:
        """The text that can be shown now; may be empty."""
        plain = [token for token in tokens if not self._tokenizer.is_special_token(token)]
        fresh = self._decoder.decode(self._tokenizer.decode_bytes(plain)) if plain else ""
        self.text += fresh
        return fresh


@dataclass(slots=True, eq=False)
class Generation(Job):
    """A reply in text or JSON. `forced`: the tokens that the grammar wrote, at the end of `tokens` and in `text`."""

    text: Text = field(kw_only=True)
    sampling: Sampling = field(kw_only=True)
    max_tokens: int = 1
    guide: Guide | None = None
    pristine: Guide | None = None  # a copy of the guide, for a replay
    forced: list[int] = field(default_factory=list)
    said: str = ""  # shown by an earlier attempt, at the end of the prompt
    generated: list[int] = field(default_factory=list)
    first_token: float | None = None

    @property
    def length(self) -> int:
        return len(self.tokens) + self.max_tokens

    @property
    def opening(self) -> str:
        """The text that can be shown before the first step, written by the grammar. Read it before the job is submitted."""
        return self.text.text

    def finish(self, tools: Tools, logits: mx.array) -> Row | Event:
        if self.guide is not None:
            if self.guide.finished:
                return self.last("stop")
            logits = tools.grammars.apply(logits, [self.guide])
        first = sample(logits, [self.sampling], [len(self.generated)])
        mx.async_eval(first)  # type: ignore[no-untyped-call]
        cache, self.cache = self.cache, None  # the batch's from now on: it copies what rows share
        assert cache is not None
        return Row(id(self), cache, first, self.sampling, len(self.generated), self.guide)

    def accept(self, tools: Tools, token: int) -> tuple[str, Event | None]:
        """Take the row's newest token. Returns the text to show, and the last event if the reply has ended."""
        if self.first_token is None:
            self.first_token = time.monotonic()
        if self.guide is not None and self.guide.failed:
            return "", BadReply(f"{self.record.prompt}: {self.guide.failed}; ask again")
        if token in tools.loaded.eos:
            return "", self.last("stop")
        self.generated.append(token)
        fresh = self.text.add([token])
        if self.guide is not None and self.guide.finished:
            return fresh, self.last("length" if self.guide.cut else "stop")
        if len(self.generated) >= self.max_tokens:
            return fresh, self.last("length")
        return fresh, None

    def last(self, ending: Ending) -> Event:
        record = self.ending(ending)
        if ending == "length" and self.guide is not None and not self.guide.finished:
            limit = self.max_tokens + len(self.forced)
            return TooLong(f"{self.record.prompt}: the reply was incomplete after {limit} tokens; raise max_tokens")
        return Done(self.said + self.text.text, record)

    def restart(self) -> None:
        """Restart with what was generated at the end of the prompt, so that it continues at the failed step."""
        Job.restart(self)
        prompt = self.tokens[: self.record.tokens_in]
        self.tokens = np.concatenate([prompt, np.array(self.generated, dtype=np.int32)])
        if self.pristine is not None:
            self.guide = self.pristine.copy()
            self.guide.take(self.generated)

    def ending(self, ending: Ending) -> RequestRecord:
        record = Job.ending(self, ending)
        first = self.first_token or time.monotonic()
        started = self.started or first
        return msgspec.structs.replace(
            record,
            tokens_in=self.record.tokens_in - len(self.forced),
            tokens_out=len(self.forced) + len(self.generated),
            tokens_forced=len(self.forced),
            prefill_s=first - started,
            decode_s=time.monotonic() - first,
        )


def probabilities(logits: mx.array, tokens: list[int]) -> list[float]:
    """Of each of `tokens` among them, in a row of one."""
    shares: Any = mx.softmax(logits[0, mx.array(tokens)].astype(mx.float32)).tolist()
    return list(shares)


@dataclass(slots=True, eq=False)
class Verdict(Job):
    """Chooses among `values` by the probability of the one token that distinguishes each."""

    values: list[str] = field(default_factory=list)
    deciding: list[int] = field(default_factory=list)  # one token per value, all different
    opening: str = ""

    def finish(self, tools: Tools, logits: mx.array) -> Row | Event:
        shares = probabilities(logits, self.deciding)
        best = max(range(len(shares)), key=shares.__getitem__)
        record = msgspec.structs.replace(self.ending("stop"), tokens_out=1, probability=shares[best])
        return Done(self.values[best], record)


class Waiting:
    """Requests without a row: by priority, then deadline, then arrival; an expired request is never started."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, int, Job]] = []
        self._order = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Job]:
        return (entry[3] for entry in self._heap)

    def put(self, job: Job) -> None:
        ticket = job.ticket
        rank = PRIORITIES.index(ticket.priority)
        heapq.heappush(self._heap, (rank, ticket.expires, next(self._order), job))

    def first(self) -> Job | None:
        return self._heap[0][3] if self._heap else None

    def pop(self) -> Job:
        return heapq.heappop(self._heap)[3]

    def take(self, tickets: Set[Ticket]) -> list[Job]:
        """Remove and return the requests with these tickets."""
        if out := [job for job in self if job.ticket in tickets]:
            self._heap = [entry for entry in self._heap if entry[3] not in out]
            heapq.heapify(self._heap)
        return out
