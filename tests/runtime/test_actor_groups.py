"""How the actors are distributed over processes."""

import pytest

from actors.pipeline import ACTORS
from runtime.processes.actor_groups import actor_processes, spread
from runtime.settings import ActorsSettings, Settings, SettingsError, load

NAMES = ("intake", "middle", "done")


@pytest.mark.parametrize(
    ("processes", "groups"),
    [
        ("intake", [("intake",), ("middle", "done")]),
        ("done, intake; middle", [("done", "intake"), ("middle",)]),
        ("intake;middle;done;", [("intake",), ("middle",), ("done",)]),
        ("intake; intake, done", [("intake",), ("intake", "done"), ("middle",)]),
        ("*; *", [(), ()]),
        ("middle; *", [("middle",), ()]),
    ],
)
def test_every_actor_is_in_a_process(processes: str, groups: list[tuple[str, ...]]) -> None:
    assert spread(processes, NAMES) == groups


@pytest.mark.parametrize(
    ("processes", "remedy"), [("intak", "did you mean 'intake'"), ("xyz", "one of done, intake, middle")]
)
def test_an_unknown_actor_is_refused(processes: str, remedy: str) -> None:
    with pytest.raises(SettingsError, match=remedy):
        spread(processes, NAMES)


def test_default_is_one_process() -> None:
    assert actor_processes(Settings()) == {"actors": ()}
    settings = Settings(actors=ActorsSettings(processes="retrieve"))
    rest = tuple(actor.name for actor in ACTORS if actor.name != "retrieve")
    assert actor_processes(settings) == {"actors-1": ("retrieve",), "actors-2": rest}


def test_the_environment_may_say_it() -> None:
    assert load(environ={"GROUNDWIRE_ACTORS_PROCESSES": "*; *"}).actors.processes == "*; *"
