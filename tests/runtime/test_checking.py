"""The replies of a container's health check, against a real nats-server."""

import msgspec

from bus.transport.connection import connect
from bus.transport.health import answer_health
from bus.transport.settings import BusSettings
from runtime.processes.checking import why_not_ready
from runtime.processes.nats_server import free_port


async def test_nats_is_ready_when_it_greets(bus_settings: BusSettings) -> None:
    assert await why_not_ready("nats", bus_settings) == ""
    several = msgspec.structs.replace(bus_settings, url=f"{bus_settings.url},nats://other.example.org:4222")
    assert await why_not_ready("nats", several) == ""
    nobody = msgspec.structs.replace(bus_settings, url=f"nats://127.0.0.1:{free_port()}")
    assert (await why_not_ready("nats", nobody)).startswith("nats: ")


async def test_check_reports_readiness(bus_settings: BusSettings) -> None:
    assert await why_not_ready("edge", bus_settings) == "edge: no answer"
    client = await connect(bus_settings, name="test-checking")
    state: dict[str, object] = {"ready": False, "detail": "opening"}
    await answer_health(client, "edge", lambda: state)
    await client.flush()
    assert await why_not_ready("edge", bus_settings) == "edge: opening"
    state["ready"] = True
    assert await why_not_ready("edge", bus_settings) == ""
    await client.close()
