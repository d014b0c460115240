"""Every device on the bus answers status requests, over a real nats-server."""

import os

from bus.transport.connection import connect
from runtime.engines.records import DeviceView
from runtime.engines.watching import answer_views, views


async def test_all_devices_answer(bus_settings):
    owners = [await connect(bus_settings.url, name=f"device-{n}") for n in range(2)]
    for number, client in enumerate(owners):
        view = DeviceView(state="ready", model=f"model-{number}", waiting={"judge": number})
        await answer_views(client, lambda view=view: view)
        await client.flush()
    looker = await connect(bus_settings.url, name="top")
    seen = [watched for watched in await views(looker) if watched.view.model in ("model-0", "model-1")]
    assert len(seen) == 2
    assert {watched.process for watched in seen} == {os.getpid()}
    assert next(w for w in seen if w.view.model == "model-1").view.waiting == {"judge": 1}
    for client in (*owners, looker):
        await client.close()
