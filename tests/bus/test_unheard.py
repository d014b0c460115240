"""An end without a notification: admission reads it from the journal, and waiting questions continue."""

from bus.transport.settings import BusSettings
from bus.wire.messages import QuestionAsked, RunFinished
from bus.wire.subjects import finished
from tests.bus.toys import answered, ask, ended, intake, working
from tests.bus.toys import end as last
from tests.bus.wires import Wire


async def test_lost_ends_block_no_question(own_settings: BusSettings, own_wire: Wire) -> None:
    over: RunFinished = answered()
    async with working(own_settings, intake, last) as worker:
        held, question = 0, QuestionAsked(question="?")
        while worker.intake.limit.has_room("interactive"):
            run_id = f"unheard-{held}"
            await own_wire.journal.write(finished(run_id), over)
            await own_wire.client.flush()
            await worker.client.flush()  # this end belongs to a run that has not begun
            await worker.intake.enter(run_id, question, 3600.0)
            held += 1
        assert held == worker.intake.limit.at_once
        assert (await ended(own_wire, await ask(own_wire, deadline_s=60.0))).outcome == "answered"
