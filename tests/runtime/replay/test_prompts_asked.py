"""The prompts of a recorded run, made again from its records."""

from pathlib import Path

from actors.pipeline import pipeline
from prompts.library import Library
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.journal_traces import read_run
from runtime.replay.prompts_asked import prompts_asked
from runtime.replay.steps import steps_of
from tests.whole import whole


async def test_every_prompt_of_a_run_is_rendered_again(tmp_path: Path) -> None:
    async with whole(tmp_path, ExtractiveEngine()) as stack:
        _, record = await stack.ask("When are refunds paid after the return?")
        trace = await read_run(stack.journal, record.run_id)
    asked, library = [], Library()
    for step in steps_of(trace, pipeline()).done:
        found = await prompts_asked(trace, step)
        for ask in step.stage.asks if step.stage else ():
            prompt = found[ask.prompt, ask.variables]
            asked.append(ask.prompt)
            assert prompt.version == library.version(ask.prompt)
            assert ask.version in ("", prompt.version)
            assert prompt.system
    assert {"classify_intent", "classify_query"} < {*asked}
    answering = next(step for step in steps_of(trace, pipeline()).done if step.name.startswith("answer_"))
    prompt = next(iter((await prompts_asked(trace, answering)).values()))
    assert "When are refunds paid after the return?" in prompt.user
    assert "14 days" in prompt.user
