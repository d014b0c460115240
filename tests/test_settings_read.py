"""Every setting does something: each key of the settings and of a profile is read somewhere in the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from prompts.profiles import AgentOverride, Profile, Retrieval, Scope
from runtime import settings

ROOT = Path(__file__).parent.parent
HOUSE = ("actors", "bus", "index", "prompts", "runtime")


def sources() -> Iterator[Path]:
    for folder in HOUSE:
        yield from (ROOT / folder).rglob("*.py")


@pytest.fixture(scope="module")
def attributes() -> set[str]:
    """Every name that the code reads of some object."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in sources())
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in nodes if isinstance(node.ctx, ast.Load)}


@pytest.mark.parametrize(
    "struct",
    [settings.Settings, *settings.sections().values(), Profile, Retrieval, Scope, AgentOverride],
    ids=lambda struct: struct.__name__,
)
def test_every_key_is_read(struct: type[msgspec.Struct], attributes: set[str]) -> None:
    names = {field.name for field in msgspec.structs.fields(struct)}
    unread = sorted(names - attributes)
    assert not unread, f"nothing reads {', '.join(unread)} of {struct.__name__}"


#: Modules other than runtime/settings.py that read the environment, with the reason.
MAY_TOUCH_THE_ENVIRONMENT = {
    "runtime/client-library/groundwire/client/client.py": "the key, for programs, which have no settings of ours",
    "index/reading/pool.py": "it is handed on to the reading processes, with one thread for BLAS",
    "runtime/terminal.py": "whether `uv run` started the program, which printed commands repeat",
    "index/java/jvm.py": "JAVA_HOME, the threads of BLAS, which libraries read there, and the user's cache folder",
}


def test_one_module_reads_the_environment() -> None:
    touching = {
        str(path.relative_to(ROOT))
        for path in sources()
        if any(word in path.read_text(encoding="utf-8") for word in ("os.environ", "getenv", "envvar="))
    }
    assert touching - MAY_TOUCH_THE_ENVIRONMENT.keys() == {"runtime/settings.py"}
