"""One process and nats-server answer a single question, with the same stages and users as several processes."""

import asyncio
import signal
import sys
from pathlib import Path

import msgspec
import psutil
import pytest

from bus.wire.errors import Unavailable
from bus.wire.messages import QuestionAsked
from index.build.ingest import bring_in
from runtime.processes import role_tasks
from runtime.processes.role_tasks import RoleTasks
from runtime.processes.roles import Role, roles_over
from runtime.processes.stack import stack_for
from runtime.processes.state_folder import state_folder
from runtime.processes.supervisor import NatsProcess
from runtime.settings import IndexSettings, InferenceSettings, Settings
from tests.commands import begun
from tests.polling import until

MOST: tuple[Role, ...] = ("search", "inference", "actors")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("lone")
    (folder / "refunds.md").write_text("# Refunds\n\nRefunds are paid within 14 days of the return.\n")
    bring_in(folder / "index", [str(folder / "refunds.md")], only=True)
    return Settings(state=str(folder / "state"), index=IndexSettings(dir=str(folder / "index"), threads=1))


async def test_second_question_waits_for_a_stack_of_its_own(settings: Settings) -> None:
    """The first one's stops with its answer, in the middle of the second question."""
    said: list[str] = []

    async def second() -> str:
        async with stack_for(settings, say=said.append, alone=True) as runs:
            submitted = await runs.submit(QuestionAsked(question="When are refunds paid?", deadline_s=60.0))
            assert [line async for _, line in runs.events(submitted.run_id)]
            record = await runs.record(submitted.run_id)
        return "" if record is None else record.answer

    async with stack_for(settings, say=lambda line: None, alone=True):
        asking = asyncio.create_task(second())
        await until(lambda: any("waiting for another question" in line for line in said))
        assert not asking.done()
    assert "14 days" in await asking


async def test_single_question_runs_in_this_process(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    users: dict[str, str] = {}
    start = RoleTasks.start

    def noted(self: RoleTasks, role: Role, settings: Settings) -> None:
        users[role] = settings.bus.user
        start(self, role, settings)

    monkeypatch.setattr(RoleTasks, "start", noted)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # or the class archive is made behind it
    before = set(psutil.Process().children(recursive=True))
    async with stack_for(settings, say=lambda line: None, alone=True) as runs:
        started = {each.name() for each in set(psutil.Process().children(recursive=True)) - before}
        submitted = await runs.submit(QuestionAsked(question="When are refunds paid?", deadline_s=60.0))
        lines = [line async for _, line in runs.events(submitted.run_id)]
        record = await runs.record(submitted.run_id)
        recorded = [each.message for each in await runs.journal.run(submitted.run_id)]
    assert users == {role: role for role in ("search", "actors")}, "each as the user that its process would be"
    assert started <= {"nats-server", Path(sys.executable).name, "python3.12", "python3", "python"}
    assert sum(name == "nats-server" for name in started) == 1
    assert record is not None
    assert record.outcome == "answered"
    assert "14 days" in record.answer
    assert lines[-1] == b'{"type":"DONE"}'
    assert {type(each).__name__ for each in recorded} >= {"QuestionAsked", "PassagesReady", "RunFinished"}
    assert set(psutil.Process().children(recursive=True)) <= before, "nothing is left"


async def test_unopenable_index_is_reported_alike(settings: Settings, tmp_path: Path) -> None:
    empty = Settings(state=str(tmp_path / "state"), index=IndexSettings(dir=str(tmp_path / "none")))
    with pytest.raises(Unavailable, match="none"):
        async with stack_for(empty, say=lambda line: None, alone=True):
            pass


async def test_failed_role_is_restarted_and_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = asyncio.Event()
    tries: list[int] = []

    async def serve(settings: Settings, stop: asyncio.Event) -> None:
        tries.append(len(tries))
        if len(tries) == 1:
            raise ZeroDivisionError
        served.set()
        await stop.wait()

    monkeypatch.setattr("runtime.processes.search.serve", serve)
    tasks = RoleTasks(["search"], Settings(), tmp_path / "roles.log", lambda why: None)
    tasks.start("search", Settings())
    await asyncio.wait_for(served.wait(), 30)
    await tasks.stop()
    log = (tmp_path / "roles.log").read_text()
    assert "search: a bug" in log
    assert "ZeroDivisionError" in log
    assert (tmp_path / "roles.log").stat().st_mode & 0o077 == 0


async def test_ctrl_c_during_the_start_leaves_nothing(settings: Settings, tmp_path: Path) -> None:
    state = state_folder(msgspec.structs.replace(settings, state=str(tmp_path)))
    asking = await begun(tmp_path, "ask", "--index", settings.index.dir, "When are refunds paid?")
    await until((state / "nats.pid").exists)
    noted = msgspec.json.decode((state / "nats.pid").read_bytes(), type=NatsProcess)
    asking.send_signal(signal.SIGINT)
    shown, said = await asyncio.wait_for(asking.communicate(), 60)
    assert (asking.returncode, shown, said.decode().split()) == (1, b"", ["stopped"])
    await until(lambda: not psutil.pid_exists(noted.pid))


@pytest.mark.parametrize(
    ("inference", "here"),
    [
        ("extractive", {"search", "inference", "actors"}),
        ("mlx", {"search", "actors"}),
        ("openai", {"search", "actors"}),
    ],
)
def test_a_model_keeps_its_process(inference: str, here: set[str]) -> None:
    settings = Settings(inference=InferenceSettings(engine=inference))
    assert {role for role in MOST if role_tasks.fits(settings, role)} == here


@pytest.mark.parametrize(("inference", "has"), [("extractive", False), ("openai", True), ("mlx", True)])
def test_inference_process_needs_a_model(inference: str, has: bool) -> None:
    settings = Settings(inference=InferenceSettings(engine=inference))
    assert ("inference" in roles_over(settings)) == has
