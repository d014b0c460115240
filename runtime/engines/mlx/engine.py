"""The engine for a local model: the asyncio side; the device has its own thread."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from bus.wire.errors import Busy, Failure, NoReply, Unavailable
from bus.wire.messages import same_fields
from runtime.engines.engine import Delta, DeviceView, Finished, Request, Wiring
from runtime.engines.mlx.settings import DEFAULT_MODEL, DeviceSettings
from runtime.engines.mlx.tickets import Done, Ticket, deliver
from runtime.settings import InferenceSettings

if TYPE_CHECKING:
    from runtime.engines.mlx.device_thread import Device
    from runtime.engines.mlx.model import LoadedModel
    from runtime.engines.mlx.prepare import Preparation

#: How often the running step's age is checked, in seconds.
WATCH_S = 1.0


class MlxEngine:
    """The device's thread reports through `wiring`: a record once per request, however it ended, and `on_broken` when the device
    hangs or has failed for good; restart the process then. `loader`: in place of `model.load`.
    """

    name = "mlx"
    needs_rendering = True
    owns_device = True

    def __init__(
        self,
        settings: DeviceSettings,
        wiring: Wiring | None = None,
        loader: "Callable[[DeviceSettings], LoadedModel] | None" = None,
    ) -> None:
        self.settings = settings
        self.model = settings.model
        self.device: Device | None = None
        self._wiring, self._loader = wiring or Wiring(), loader
        self._preparation: Preparation | None = None
        self._preparing = ThreadPoolExecutor(1, thread_name_prefix="prepare")
        self._open: set[Ticket] = set()
        self._watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Raises: Unavailable with the remedy."""
        try:
            from runtime.engines.mlx.device_thread import Device
            from runtime.engines.mlx.prepare import Preparation
        except ImportError as error:
            raise Unavailable(f"the mlx engine lacks {error.name}; install groundwire[mlx]") from error
        device = Device(self.settings, self._wiring.warm(), self._wiring.on_record, self._loader)
        self.device = device
        device.start()
        await asyncio.wrap_future(device.ready)
        self.model = device.tools.loaded.name
        self._preparation = Preparation(device.tools, device.encoder, self.settings, self._wiring.render)
        self._watch = asyncio.create_task(self._watch_device(device), name="watch device")

    async def close(self) -> None:
        """End requests in flight with Unavailable, without waiting for a device that hangs."""
        if self._watch is not None:
            self._watch.cancel()
        self._preparing.shutdown(wait=True)
        self._preparation = None
        if self.device is not None:
            self.device.stop()
            if self.device.state != "stuck":
                await asyncio.to_thread(self.device.join, self.settings.hang_s)

    def view(self) -> DeviceView:
        return DeviceView(state="closed") if self.device is None else self.device.view()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        loop, ticket = asyncio.get_running_loop(), Ticket(request.priority, request.deadline)
        self._ready(ticket)
        assert self._preparation is not None
        prepare = self._preparation.generation  # tokenises and compiles
        job = await loop.run_in_executor(self._preparing, prepare, request, ticket)
        device = self._ready(ticket)
        self._open.add(ticket)
        # One timer for each request, not for each token.
        late = NoReply("the device did not answer before the deadline; allow more time")
        timer = loop.call_at(request.deadline, ticket.events.put_nowait, late)
        device.submit(job)
        opening = job.opening
        try:
            while True:
                event = await ticket.events.get()
                if isinstance(event, Failure):
                    raise event
                if opening:
                    yield Delta(opening)
                    opening = ""
                if isinstance(event, str):
                    yield Delta(event)
                elif isinstance(event, Done):
                    if event.record.operation == "verdict":
                        yield Delta(event.text)
                    yield _finished(event)
                    return
        finally:
            timer.cancel()
            if not ticket.closed.is_set():
                device.cancel(ticket)
            self._open = {other for other in self._open if not other.closed.is_set()}

    def _ready(self, ticket: Ticket) -> "Device":
        """The device. Raises: Unavailable when there is none, or when it cannot start the request soon."""
        device = self.device
        if device is None or device.state != "ready":
            raise Unavailable("the mlx engine is not ready; wait until it has started")
        if device.waiting() >= self.settings.max_waiting:
            raise Busy(f"the device is busy for about {device.wait_s(ticket.priority):.0f} s; ask again later")
        return device

    async def _watch_device(self, device: "Device") -> None:
        """Report once when the device hangs or has failed; a live thread proves nothing."""
        while True:
            await asyncio.sleep(WATCH_S)
            age_s = device.view().step_age_s
            if device.state == "failed":
                why = "the device failed repeatedly; restart the process"
            elif age_s > self.settings.hang_s:
                device.state = "stuck"
                why = f"a step on the device has run for {age_s:.0f} s; restart the process"
            else:
                continue
            deliver([(ticket, Unavailable(why)) for ticket in self._open if not ticket.closed.is_set()])
            self._wiring.on_broken(why)
            return


def make(settings: InferenceSettings, wiring: Wiring) -> MlxEngine:
    model = settings.model or DEFAULT_MODEL
    device = DeviceSettings(model=model, max_rows=settings.max_rows)
    return MlxEngine(device, wiring)


def _finished(event: Done) -> Finished:
    record = event.record
    return Finished(
        **same_fields(record, Finished),
        text=event.text,
        finish_reason="length" if record.ending == "length" else "stop",
        tokens_in_cached=record.tokens_cached,
    )
