"""The clients' own surroundings: Node comes with the suite."""

from tests.clients.installed import output_of, python_of


async def test_node_comes_as_a_wheel() -> None:
    node = python_of("node").parent / "node"
    assert (await output_of(node, "-p", "6 * 7")).strip() == "42"
