"""The worker's consumers as FastStream declares them: the one place that knows FastStream."""

from collections.abc import Sequence

from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, NatsMessage, PullSub
from faststream.nats.subscriber.usecases import PullStreamSubscriber
from nats.aio.client import Client
from nats.aio.msg import Msg

from bus.delivery.pulling import Pull
from bus.delivery.subscribing import FETCH_S, INBOX, Bound, connected
from bus.transport.health import Watch
from bus.transport.settings import BusSettings
from bus.wire.subjects import RUNS


class Broker(NatsBroker):
    """FastStream's broker over a connection that is opened as every other one is."""

    def __init__(self, settings: BusSettings) -> None:
        super().__init__(logger=None, apply_types=False, serializer=None, graceful_timeout=5.0)
        self._settings = settings

    async def _connect(self) -> Client:
        client = await connected(self._settings)
        self.config.connect(client)
        return client

    async def pull(self, bounds: Sequence[Bound], watch: Watch) -> dict[str, Pull]:
        for bound in bounds:
            self.subscriber(
                bound.subject,
                durable=bound.name,
                stream=JStream(RUNS, declare=False),
                pull_sub=PullSub(batch_size=1, timeout=FETCH_S),
                config=bound.config,
                ack_policy=AckPolicy.MANUAL,
                no_reply=True,
                inbox_prefix=INBOX,
                decoder=_undecoded,
            )(bound.deliver)
        await self.start()
        pulls: dict[str, Pull] = {}
        by_name = {each.name: each for each in bounds}
        for subscriber in self.subscribers:  # in no order
            if isinstance(subscriber, PullStreamSubscriber) and (given := subscriber.subscription) is not None:
                bound = by_name[str(subscriber.extra_options["durable"])]
                subscriber.subscription = pulls[bound.name] = pull = bound.pull_of(given, watch)
                # FastStream has begun to fetch from the given one, which gets nothing any more.
                given._sub._pending_queue.put_nowait(pull.unserved())
        return pulls


async def _undecoded(msg: NatsMessage) -> Msg:
    """Pass on nats-py's own message: bodies are decoded later by their type, so that "1" stays text."""
    return msg.raw_message
