"""A connection ends quietly, also when the server is away."""

from pathlib import Path

from bus.connection import connect, disconnect, keep_trying
from tests.bus.wires import Server
from tests.polling import until


async def test_what_is_pending_for_a_server_that_died_is_let_go(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    client = await connect(server.url, name="test")
    keep_trying(client)
    heard = await client.subscribe("news")
    server.kill()
    await until(lambda: not client.is_connected)
    await client.publish("news", b"x")
    await disconnect(client)
    assert client.is_closed
    assert [message async for message in heard.messages] == []
    await disconnect(client)
