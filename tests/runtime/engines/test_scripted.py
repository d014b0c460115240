import msgspec
import pytest

from bus.wire.errors import NoReply, Unavailable
from prompts.contracts import PROMPTS
from runtime.engines.scripted.engine import ScriptedEngine
from tests.runtime.engines.sample import PLAIN, VARIABLES, collect, request


def test_samples_cover_every_prompt():
    assert [type(v) for v in VARIABLES] == list(PROMPTS)


@pytest.mark.parametrize("variables", VARIABLES, ids=lambda v: v.name)
async def test_default_script_answers_in_the_contract(variables):
    deltas, finished = await collect(ScriptedEngine(), request(variables))
    assert "".join(deltas) == finished.text
    if variables.reply_type() is not str:
        msgspec.json.decode(finished.text, type=variables.reply_type())


async def test_default_answer_has_sixty_tokens_and_a_citation():
    deltas, finished = await collect(ScriptedEngine(), request(PLAIN))
    assert len(deltas) == finished.tokens_out == 60
    assert finished.text.endswith("[1].")


@pytest.mark.parametrize(
    ("shown", "fresh"),
    [("", ["my ", "pieces"]), ("my ", ["pieces"]), ("my pi", ["eces"]), ("my pieces", [])],
)
async def test_what_was_shown_is_not_repeated(shown, fresh):
    engine = ScriptedEngine(lambda asked: ["my ", "pieces"])
    deltas, finished = await collect(engine, request(already_shown=shown))
    assert deltas == fresh
    assert finished.text == "my pieces"


async def test_one_prompt_can_be_overridden():
    engine = ScriptedEngine({"answer_simple": "no"})
    assert (await collect(engine, request(PLAIN)))[1].text == "no"
    assert (await collect(engine, request(VARIABLES[8])))[1].text != "no"


async def test_script_may_fail_and_deadlines_hold():
    def down(asked):
        raise Unavailable("the script is down; raise it")

    with pytest.raises(Unavailable):
        await collect(ScriptedEngine(down), request())
    with pytest.raises(NoReply):
        await collect(ScriptedEngine(), request(seconds=-1))
