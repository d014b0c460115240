"""The whole pipeline on a real model, tiny and random: it answers nonsense, every stage parses it, and the gate withholds it."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from groundwire.wire import Context, ContextMetadata

from bus.runs.runs import Runs
from bus.wire.messages import QuestionAsked
from prompts import contracts
from runtime.engines.engine import Delta, Finished, Request, Wiring
from runtime.engines.mlx.engine import MlxEngine
from runtime.engines.mlx.settings import DeviceSettings
from runtime.engines.rendering import Renderer
from tests.runtime.engines.tiny import TEXTS, build
from tests.whole import whole

CONTEXTS = tuple(
    Context(content=text, metadata=ContextMetadata(source_id=name, title=name))
    for name, text in (
        ("refunds", "Refunds are paid within 14 days. The buyer must return the goods unused."),
        ("shipping", "Shipping costs 3,000 won. Orders above 50,000 won are shipped free of charge."),
    )
)


#: Enough of a random answer to be withheld.
PROSE_TOKENS = 60


#: Occurs in the question that goes through all the lanes.
COMPLEX = "shipping"


class Steered:
    """The model with its decisions taken for it, so that every stage is passed: each reply is made and parsed all the same."""

    name = "mlx"
    needs_rendering = True
    owns_device = False

    def __init__(self, engine: MlxEngine) -> None:
        self.engine = engine
        self.model = engine.model

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        variables = request.variables
        if request.rendered is not None and request.rendered.schema is None:
            short = msgspec.structs.replace(request.rendered, max_tokens=PROSE_TOKENS)
            request = msgspec.structs.replace(request, rendered=short)
        async for part in self.engine.generate(request):
            if isinstance(part, Finished):
                yield msgspec.structs.replace(part, text=self._steer(request, part.text))
            elif variables.reply_type() is str:
                yield part

    @staticmethod
    def _steer(request: Request, text: str) -> str:
        variables = request.variables
        if variables.reply_type() is str:
            return text
        reply = msgspec.json.decode(text, type=variables.reply_type())
        if isinstance(variables, contracts.ClassifyIntent):
            reply = msgspec.structs.replace(reply, intent="in_scope")
        elif isinstance(variables, contracts.ClassifyQuery):
            kind = "complex" if COMPLEX in variables.original_query else "simple"
            reply = msgspec.structs.replace(reply, query_type=kind)
        elif isinstance(variables, contracts.RewriteQuery):
            reply = msgspec.structs.replace(reply, needs_rewrite=False)
        elif isinstance(variables, contracts.JudgeRelevance):
            chunk = variables.retrieved_chunks[0]
            extract = contracts.Extract(source_file=chunk.source_file, excerpt=chunk.content, relevance="high")
            reply = msgspec.structs.replace(reply, relevant_extracts=(extract,))
        elif isinstance(variables, contracts.JudgeSufficiency):
            more = contracts.AddedSubQuery(id="sq_add_1", statement="shipping costs", focus="cost", reason="missing")
            reply = msgspec.structs.replace(reply, is_sufficient=False, additional_sub_queries=(more,))
        elif isinstance(variables, contracts.SelectEvidence):
            spans = (contracts.PickedSpan(passage=1, text=variables.retrieved_chunks[0].content),)
            reply = msgspec.structs.replace(reply, spans=spans)
        elif isinstance(variables, contracts.AnswerSynthesis):
            reply = msgspec.structs.replace(reply, refused=False)
        return msgspec.json.encode(reply).decode()


@pytest.fixture(scope="module")
async def steered(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Steered]:
    folder: Path = tmp_path_factory.mktemp("tiny")
    renderer = Renderer()
    systems = [each.system for each in renderer.constants()]  # learnt as words, they are fewer tokens
    await asyncio.to_thread(build, folder, vocab=4096, texts=[*TEXTS, *systems])
    wiring = Wiring(warm=renderer.constants, render=lambda variables: renderer.render(variables, "general"))
    engine = MlxEngine(DeviceSettings(model=str(folder)), wiring)
    await engine.start()
    yield Steered(engine)
    await engine.close()


@pytest.fixture(scope="module")
async def runs(tmp_path_factory: pytest.TempPathFactory, steered: Steered) -> AsyncIterator[Runs]:
    async with whole(tmp_path_factory.mktemp("whole"), steered, cache_entries=0) as run:
        yield run.runs


#: In prose through all the lanes, and in JSON.
STAGES = {"report": "answer_report", "synthesis": "answer_synthesis"}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("style", STAGES)
async def test_every_stage_parses_model_output(runs: Runs, style: str) -> None:
    asked = msgspec.convert(
        {
            "question": "How long do refunds take" + (f", and what does {COMPLEX} cost?" if style == "report" else "?"),
            "conversation_history": [{"role": "user", "content": "Tell me about refunds."}],
            "contexts": msgspec.to_builtins(CONTEXTS),
            "style": style,
            "deadline_s": 600,
        },
        QuestionAsked,
    )
    submitted = await runs.submit(asked, uuid.uuid4().hex)
    lines = [line async for _, line in runs.events(submitted.run_id)]
    assert lines[-1] == b'{"type":"DONE"}'
    assert lines.count(lines[-1]) == 1
    record = await runs.record(submitted.run_id)
    assert record is not None
    assert [stage.fallback for stage in record.stages if stage.fallback] == []
    passed = {stage.stage for stage in record.stages}
    assert passed >= {"rewrite_query", "classify_query", "retrieve", "select_evidence", STAGES[style]}
    if style == "report":
        assert passed >= {"decompose_query", "judge_relevance", "judge_sufficiency"}
        assert record.rounds == 2
    # The text of a random model must not become an answer.
    assert record.outcome in ("closest", "refused")
    assert record.reason in ("grounding_failed", "citations_invalid", "model_refused")
