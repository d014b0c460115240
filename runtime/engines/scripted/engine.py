"""The engine for tests and benchmarks: a function gives the replies, at once and always the same.

    ScriptedEngine()                                          # a valid reply to every prompt
    ScriptedEngine({"verify_answer": '{"contradictions": []}'})   # another reply to one prompt
    ScriptedEngine(lambda request: ["my ", "pieces"])         # any function of the request

A script that raises a Failure makes the engine fail with it.
"""

import asyncio
import itertools
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from bus.wire.errors import NoReply
from prompts import contracts as c
from runtime.engines.engine import Delta, Finished, Request, Wiring
from runtime.settings import InferenceSettings

#: A whole reply, streamed word by word if it is prose, or the pieces to stream.
Script = Callable[[Request], str | Iterable[str]]


class ScriptedEngine:
    """`replies`: a function of the request, or texts by prompt name over the default script."""

    name, model = "scripted", "script"
    needs_rendering = False
    owns_device = False

    def __init__(self, replies: Script | Mapping[str, str] | None = None) -> None:
        self._script = _script_of(replies)
        self.requests: list[Request] = []  # all requests in order, for tests to read

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        self.requests.append(request)
        reply = self._script(request)
        if isinstance(reply, str):
            reply = words(reply) if request.variables.reply_type() is str else [reply]
        for event in play(request, reply, engine=self.name, model=self.model):
            yield event


def make(settings: InferenceSettings, wiring: Wiring) -> ScriptedEngine:
    return ScriptedEngine()


def _script_of(replies: Script | Mapping[str, str] | None) -> Script:
    if replies is None:
        return default_script
    if callable(replies):
        return replies
    told = dict(replies)
    return lambda request: told.get(request.variables.name) or default_script(request)


def default_script(request: Request) -> str:
    """A valid reply to any of the fourteen prompts; quotations are from the first passage."""
    reply = DEFAULTS[request.variables.name](request.variables)
    return reply if isinstance(reply, str) else json.dumps(msgspec.to_builtins(reply), ensure_ascii=False)


def answer(evidence: Sequence[c.Evidence], size: int = 60) -> str:
    """`size` words, the first evidence repeated and its citation at the end: a sentence that the gate passes."""
    said = evidence[0].text.replace(".", "").split() if evidence else []
    words = itertools.cycle(said or ["nothing"])
    return " ".join(itertools.islice(words, size - 1)) + " [1]."


def _structured(variables: c.AnswerStructured | c.AnswerHint) -> c.StructuredAnswer:
    sources = tuple(e.source_id for e in variables.contexts[:1])
    return c.StructuredAnswer(summary=answer(variables.contexts), details=(), citations=sources)


def _relevance(v: c.JudgeRelevance) -> c.Relevance:
    extracts = tuple(
        c.Extract(source_file=chunk.source_file, excerpt=chunk.content[:200], relevance="high")
        for chunk in v.retrieved_chunks[:1]
    )
    return c.Relevance(
        sub_query_id=v.sub_query_id,
        sub_query_statement=v.sub_query_statement,
        relevant_extracts=extracts,
        sub_answer="Found.",
        confidence="high",
        missing_aspects=(),
    )


def _decomposition(v: c.DecomposeQuery) -> c.Decomposition:
    count = 1 if v.query_type == "simple" else 3
    subs = (c.SubQuery(id=f"sq_{n}", statement=v.original_query, focus=f"facet {n}") for n in range(1, count + 1))
    return c.Decomposition(sub_queries=tuple(subs), reasoning="Split by facet.")


DEFAULTS: dict[str, Callable[..., str | c.Part]] = {
    "classify_intent": lambda v: c.Intent(
        intent="in_scope", confidence="high", category="general", reasoning="A question.", suggested_response=""
    ),
    "rewrite_query": lambda v: c.RewrittenQuery(
        original_query=v.current_query, rewritten_query=v.current_query, needs_rewrite=False, rewrite_reason="Complete."
    ),
    "classify_query": lambda v: c.QueryClass(
        query_type="simple", confidence="high", reasoning="One fact.", suggested_search_term=v.original_query
    ),
    "decompose_query": _decomposition,
    "judge_relevance": _relevance,
    "judge_sufficiency": lambda v: c.Sufficiency(
        is_sufficient=True,
        confidence="high",
        missing_critical_aspects=(),
        reasoning="Enough.",
        additional_sub_queries=(),
    ),
    "select_evidence": lambda v: c.EvidencePick(
        spans=tuple(
            c.PickedSpan(passage=n, text=chunk.content[:200]) for n, chunk in enumerate(v.retrieved_chunks[:3], 1)
        )
    ),
    "answer_simple": lambda v: answer(v.retrieved_chunks),
    "answer_report": lambda v: answer(v.evidence),
    "answer_synthesis": lambda v: c.Synthesis(
        answer=answer(v.evidence), used_citations=(1,), confidence="high", refused=False, refuse_reason=""
    ),
    "answer_structured": _structured,
    "answer_hint": _structured,
    "verify_answer": lambda v: c.Verdict(contradictions=()),
    "guard_language": lambda v: v.text,
}


def play(request: Request, pieces: Iterable[str], *, engine: str, model: str) -> Iterator[Delta | Finished]:
    """Yield the deltas of `pieces` after what was already shown, then the Finished with the whole text.

    Raises: NoReply past the deadline.
    """
    if asyncio.get_running_loop().time() > request.deadline:
        raise NoReply(f"{request.variables.name} was asked after its deadline; allow the run more time")
    shown, text, count = request.already_shown, "", 0
    reason: Literal["stop", "length"] = "stop"
    for piece in pieces:
        if request.max_tokens and count == request.max_tokens and request.variables.reply_type() is str:
            reason = "length"
            break
        start = len(text)
        text += piece
        count += 1
        fresh = piece if start >= len(shown) else text[len(shown) :]
        if fresh:
            yield Delta(fresh)
    yield Finished(text=text, finish_reason=reason, engine=engine, model=model, tokens_out=count)


def words(text: str) -> list[str]:
    """`text` split before every word without loss: 'a b' -> ['a', ' b']."""
    return re.findall(r"\s*\S+|\s+$", text)
