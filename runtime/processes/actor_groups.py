"""Group the actors into processes, by the setting `actors.processes`."""

from collections.abc import Mapping, Sequence

from index.languages.toml_check import nearest
from runtime.settings import Settings, SettingsError

ALL = "*"


def actor_processes(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """Each actor process's name and the actors it runs; empty means all of them. Raises SettingsError."""
    if not settings.actors.processes.strip():
        return {"actors": ()}
    from actors.pipeline import ACTORS

    groups = spread(settings.actors.processes, [actor.name for actor in ACTORS])
    return {f"actors-{n}": group for n, group in enumerate(groups, start=1)}


def spread(processes: str, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The groups in the setting, and one more of the actors that are in none. Raises SettingsError."""
    groups: list[tuple[str, ...]] = []
    for part in processes.split(";"):
        group = tuple(name for each in part.split(",") if (name := each.strip()))
        if group == (ALL,):
            groups.append(())
        elif group:
            for name in group:
                if name not in names:
                    raise SettingsError(f"actors.processes: no actor is called {name!r}{nearest(name, names)}")
            groups.append(group)
    rest = tuple(name for name in names if not any(name in group for group in groups))
    return groups if () in groups or not rest else [*groups, rest]
