"""Calls of a model and tokens for one answer, by profile, with an engine that replies as a competent model would.

    uv run --group dev python -m tests.bench.bench_calls
    uv run --group dev python -m tests.bench.bench_calls 0.9     # under profiles with retrieval.sure_from = 0.9

Each question is new, over a few pages. Tokens are estimated as a quarter of the UTF-8 bytes of the rendered prompt and the reply.
"""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from actors.question.profile import PROFILES
from actors.question.resolved import RULES
from runtime.engines.engine import Delta, Finished, Request
from runtime.engines.scripted.engine import default_script, play, words
from tests.whole import whole

REFUNDS = "Within how many days of the return are refunds paid?"
ASKED = (
    ("general", "simple", REFUNDS),
    ("general", "complex", "Are refunds paid within days of the return, and is the shipping fee refunded?"),
    ("library", "simple", REFUNDS),
    ("support", "simple", "배송비 3,000원은 환불되나요?"),
    ("myopia", "simple", "儿童每天应在户外活动多久？"),
    ("myopia", "complex", "儿童每天应在户外活动多久，低浓度阿托品滴眼液每晚使用几次？"),
    ("tutor", "simple", "Combien coûte un jour de retard à la bibliothèque ?"),
)


def sentences(evidence: Sequence[Any]) -> list[str]:
    """The sentences of the evidence in other words, as far as the gate lets them pass, each with its citation."""
    found = []
    for span in evidence:
        for text in span.text.replace("。", ". ").split(". "):
            if text.strip(" ."):
                found.append(f"{text.strip(' .')}, {text.strip(' .')} [{span.n}].")
    return found[:3]


def report(evidence: Sequence[Any]) -> str:
    said = sentences(evidence) or ["Nothing was found."]
    one, two, three = (said * 3)[:3]
    quote = evidence[0].text.replace("。", ". ").split(". ")[0].strip(" .")
    arguments = "\n".join(
        f"### Facet {n}\n{text}\n> “{quote}” [1] {evidence[0].title}"
        for n, text in zip("ABC", (one, two, three), strict=True)
    )
    return f"## TL;DR\n{one}\n## Conclusion\n{two} {three}\n## Arguments\n{arguments}\nSource: {evidence[0].title}"


class Competent:
    """Classifies as the bench says; answers in several sentences; everything else as the default script."""

    name, model, needs_rendering, owns_device = "scripted", "competent", True, False
    complex = False

    async def start(self) -> None: ...
    async def close(self) -> None: ...

    def reply(self, request: Request) -> str:
        name, v = request.variables.name, request.variables
        if name == "classify_query":
            kind = "complex" if self.complex else "simple"
            return json.dumps({**json.loads(default_script(request)), "query_type": kind})
        if name == "answer_simple":
            return " ".join(sentences(v.retrieved_chunks))  # type: ignore[attr-defined]
        if name == "answer_report":
            return report(v.evidence)  # type: ignore[attr-defined]
        return default_script(request)

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        text = self.reply(request)
        pieces = words(text) if request.variables.reply_type() is str else [text]
        assert request.rendered is not None
        asked = len((request.rendered.system + request.rendered.user).encode()) // 4
        for event in play(request, pieces, engine=self.name, model=self.model):
            counted = {"tokens_in": asked, "tokens_out": len(text.encode()) // 4}
            yield replace(event, **counted) if isinstance(event, Finished) else event


def more_sure(folder: Path, sure_from: str) -> None:
    """Use profiles that leave the evidence to the rules above a probability."""
    for profile, _, _ in ASKED:
        text = f'extends = "{profile}"\n[retrieval]\nsure_from = {float(sure_from)}\n'
        (folder / f"{profile}.toml").write_text(text, encoding="utf-8")
    PROFILES.use(str(folder))


async def main() -> None:
    engine = Competent()
    print("| profile | question | calls | verifier | tokens in | tokens out | outcome |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profiles:
        if sys.argv[1:]:
            more_sure(Path(profiles), sys.argv[1])
        async with whole(Path(folder), engine, cache_entries=0) as run:
            for profile, kind, question in ASKED:
                engine.complex = kind == "complex"
                _, record = await run.ask(question, profile=profile)
                stages = [each.stage for each in await run.journal.run(record.run_id) if each.stage is not None]
                asks = [ask.prompt for stage in stages for ask in stage.asks if ask.engine != RULES]
                counts = f"{len(asks)} | {asks.count('verify_answer')} | {record.tokens_in} | {record.tokens_out}"
                print(f"| `{profile}` | {kind} | {counts} | {record.outcome} |")


if __name__ == "__main__":
    asyncio.run(main())
