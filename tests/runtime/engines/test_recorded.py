import msgspec
import pytest

from bus.errors import BadReply
from runtime.engines.recorded.engine import RecordedEngine, Recording
from runtime.engines.scripted.engine import ScriptedEngine
from tests.runtime.engines.sample import PLAIN, VARIABLES, collect, request


async def test_replays_every_prompt_from_structs_and_from_json():
    live = ScriptedEngine()
    texts = {v.name: (await collect(live, request(v)))[1].text for v in VARIABLES}
    as_structs = [Recording(name=v.name, variables=v, text=texts[v.name]) for v in VARIABLES]
    as_json = [Recording(name=v.name, variables=msgspec.to_builtins(v), text=texts[v.name]) for v in VARIABLES]
    for records in (as_structs, as_json):
        engine = RecordedEngine(records)
        for v in VARIABLES:
            deltas, finished = await collect(engine, request(v))
            assert finished.text == "".join(deltas) == texts[v.name]


async def test_missing_key_is_named():
    engine = RecordedEngine([Recording(name="answer_report", variables=PLAIN, text="other prompt")])
    with pytest.raises(BadReply, match=r"no reply recorded for answer_simple .*original_query"):
        await collect(engine, request(PLAIN))


async def test_the_later_of_two_records_counts():
    records = [Recording(name=PLAIN.name, variables=PLAIN, text=text) for text in ("first", "second")]
    assert (await collect(RecordedEngine(records), request()))[1].text == "second"
