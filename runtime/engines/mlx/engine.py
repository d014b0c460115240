"""The engine for a local model: the asyncio side; the device has its own thread."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import msgspec

from bus.wire.errors import Busy, Failure, Unavailable
from bus.wire.messages import same_fields
from prompts.files import Rendered
from runtime.engines.engine import Delta, DeviceView, Finished, Request, RequestRecord, Wiring
from runtime.engines.mlx.settings import DEFAULT_MODEL, DeviceSettings
from runtime.engines.mlx.tickets import Done, Ticket, deliver
from runtime.settings import InferenceSettings

if TYPE_CHECKING:
    from runtime.engines.mlx.device_thread import Device, Loader
    from runtime.engines.mlx.jobs import Job
    from runtime.engines.mlx.prepare import Encoder, Preparation, Render

#: How often the running step's age is checked, in seconds.
WATCH_S = 1.0


class MlxEngine:
    """`model`: a folder or a hub id. `warm`: prompts whose constant part is prefilled at start. `render` renders shortened
    variables.

    `on_record` is called on the loop once per request, however it ended. `on_broken` is called once, with a line to log,
    when the device hangs or has failed for good: restart the process then.
    """

    name = "mlx"
    needs_rendering = True
    owns_device = True

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        *,
        settings: DeviceSettings | None = None,
        warm: Sequence[Rendered] = (),
        render: "Render | None" = None,
        on_record: Callable[[RequestRecord], None] = lambda record: None,
        on_broken: Callable[[str], None] = lambda why: None,
        loader: "Loader | None" = None,
    ) -> None:
        self.settings = msgspec.structs.replace(settings or DeviceSettings(), model=model)
        self.model = model
        self._warm, self._render, self._on_record, self._on_broken = warm, render, on_record, on_broken
        self._loader = loader
        self._device: Device | None = None
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
        options: dict[str, Any] = {"loader": self._loader} if self._loader else {}
        device = Device(self.settings, warm=self._warm, on_record=self._on_record, **options)
        self._device = device
        device.start()
        await asyncio.wrap_future(device.ready)
        self.model = device.tools.loaded.name
        self._preparation = Preparation(device.tools, device.encoder, self.settings, self._render)
        self._watch = asyncio.create_task(self._watch_device(device), name="watch device")

    async def close(self) -> None:
        """End requests in flight with Unavailable, without waiting for a device that hangs."""
        if self._watch is not None:
            self._watch.cancel()
        self._preparing.shutdown(wait=True)
        self._preparation = None
        if self._device is not None:
            self._device.stop()
            if self._device.state != "stuck":
                await asyncio.to_thread(self._device.join, self.settings.hang_s)

    @property
    def encoder(self) -> "Encoder":
        """The model's tokenizer with its chat template. Raises: Unavailable before the start."""
        return self._started().encoder

    @property
    def folder(self) -> str:
        """The model's folder on this machine. Raises: Unavailable before the start."""
        return self._started().tools.loaded.folder

    @property
    def kv_token_bytes(self) -> int:
        """Bytes of cache per token of a row. Raises: Unavailable before the start."""
        return self._started().tools.loaded.kv_token_bytes

    @property
    def device_name(self) -> str:
        """The chip's name. Raises: Unavailable before the start."""
        return self._started().tools.loaded.device_name

    def view(self) -> DeviceView:
        """The device's current state."""
        return DeviceView(state="closed", model=self.model) if self._device is None else self._device.view()

    async def generate(self, request: Request) -> AsyncIterator[Delta | Finished]:
        ticket = Ticket(request.request_id, request.priority, request.deadline)
        job = await self._prepare(ticket, lambda preparation: preparation.generation(request, ticket))
        self._submit(ticket, job)
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
            self._let_go(ticket)

    async def cancelled(self, request_id: str) -> None:
        """Wait until the device has released every request of this id."""
        for ticket in [t for t in self._open if t.request_id == request_id]:
            await ticket.closed.wait()

    async def _prepare[J](self, ticket: Ticket, make: "Callable[[Preparation], J]") -> J:
        """Tokenise and compile on the preparation thread. Raises: BadReply, or Unavailable when closed or too busy."""
        self._open_device(ticket)
        preparation = self._preparation
        assert preparation is not None
        return await asyncio.get_running_loop().run_in_executor(self._preparing, make, preparation)

    def _started(self) -> "Device":
        if self._device is None or self._device.state != "ready":
            raise Unavailable("the mlx engine is not ready; wait until it has started")
        return self._device

    def _submit(self, ticket: Ticket, job: "Job") -> None:
        device = self._open_device(ticket)
        self._open.add(ticket)
        ticket.start_timer()
        device.submit(job)

    def _open_device(self, ticket: Ticket) -> "Device":
        """The device. Raises: Unavailable when there is none, or when it cannot start the request soon."""
        device = self._started()
        wait_s = device.wait_s(ticket.priority)
        if device.waiting() >= self.settings.max_waiting or 0 < self.settings.refuse_after_s < wait_s:
            raise Busy(f"the device is busy for about {wait_s:.0f} s; ask again later or use another device")
        return device

    def _let_go(self, ticket: Ticket) -> None:
        if not ticket.closed.is_set() and self._device is not None:
            self._device.cancel(ticket)
        ticket.stop_timer()
        self._open = {other for other in self._open if not other.closed.is_set()}

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
            self._on_broken(why)
            return


def make(settings: InferenceSettings, wiring: Wiring) -> MlxEngine:
    return MlxEngine(
        settings.model or DEFAULT_MODEL,
        settings=DeviceSettings(max_rows=settings.max_rows, refuse_after_s=settings.refuse_after_s),
        warm=wiring.warm(),
        render=wiring.render,
        on_record=wiring.on_record,
        on_broken=wiring.on_broken,
    )


def _finished(event: Done) -> Finished:
    record = event.record
    return Finished(
        **same_fields(record, Finished),
        text=event.text,
        finish_reason="length" if record.ending == "length" else "stop",
        tokens_in_cached=record.tokens_cached,
    )
