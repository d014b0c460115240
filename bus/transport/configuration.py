"""The configuration of our streams, and JetStream's information on one, as far as it is used.

Placement, compression, and replicas unless the settings name them, stay as they are.

In a cluster a stream's leader answers. One that was cut off from the others goes on for some seconds as if nothing was, while they
elect another; so it is believed only where it has heard from most of them lately. They wait at least four seconds for their leader
before they elect another (nats-server's minElectionTimeout), so until then there is none.
"""

from collections.abc import Mapping

import msgspec

from bus.transport.settings import BusSettings
from bus.wire.subjects import EVENTS, EVENTS_SUBJECTS, RUNS, RUNS_SUBJECTS

#: A configuration in the server's own words, as its API takes and gives it. Times are nanoseconds.
type Config = Mapping[str, object]

_STREAM: Config = {
    "storage": "file",
    "retention": "limits",
    "max_consumers": -1,
    "consumer_limits": None,
    "max_msgs": -1,
    "max_msg_size": 1_000_000,
    "allow_direct": True,
    "duplicate_window": 120 * 10**9,
    # Each of these lets others erase, forge or hold back records, or answers where an ack is awaited.
    "sealed": False,
    "no_ack": False,
    "allow_rollup_hdrs": False,
    "allow_msg_ttl": False,
    "allow_msg_schedules": False,
    "allow_msg_counter": False,
    "deny_delete": False,
    "deny_purge": False,
    "mirror": None,
    "sources": None,
    "republish": None,
    "subject_transform": None,
}


def streams(settings: BusSettings) -> dict[str, Config]:
    runs = {
        "subjects": RUNS_SUBJECTS,
        "discard": "new",
        "discard_new_per_subject": True,
        "max_msgs_per_subject": 1,
        "max_age": 0,  # whole runs leave, and not those that are pinned: see bus.journal.pruning
        "max_bytes": settings.runs_max_bytes,
    }
    events = {
        "subjects": EVENTS_SUBJECTS,
        "discard": "old",
        "discard_new_per_subject": False,
        "max_msgs_per_subject": -1,
        "max_age": round(settings.events_max_age_s * 1e9),
        "max_bytes": settings.events_max_bytes,
    }
    copies = {"num_replicas": settings.replicas} if settings.replicas else {}
    return {RUNS: {**_STREAM, **runs, **copies}, EVENTS: {**_STREAM, **events, **copies}}


def changed(found: Config, wanted: Config) -> dict[str, object] | None:
    """What to declare where a stream is not as wanted: what we have no opinion of stays as it is. None where it is."""
    if all(_plain(found.get(name)) == _plain(value) for name, value in wanted.items()):
        return None
    metadata = found.get("metadata")
    pairs = metadata.items() if isinstance(metadata, Mapping) else ()
    # The server writes its own again.
    own = {str(name): value for name, value in pairs if not str(name).startswith("_nats.")}
    return {name: value for name, value in {**found, **wanted, "metadata": own}.items() if value is not None}


def _plain(value: object) -> object:
    """A value for comparison: the server omits empty and false values, writes -1 for no limit, and orders no list."""
    if isinstance(value, list):
        return sorted(value) or None
    return None if not value or (isinstance(value, int) and value < 0) else value


#: How long ago a server must have been heard of by the leader, in nanoseconds: every two seconds where there is nothing to do.
LATELY_NS = 3_500_000_000


class ApiError(msgspec.Struct, frozen=True):
    err_code: int = 0
    description: str = ""


class Lost(msgspec.Struct, frozen=True):
    bytes: int = 0


class State(msgspec.Struct, frozen=True):
    """`lost`: damaged records, only where the request asks for `deleted_details`."""

    subjects: dict[str, int] | None = None
    last_seq: int = 0
    lost: Lost | None = None


class Replica(msgspec.Struct, frozen=True):
    """Another server that has the stream. `active`: how long ago it was heard of, in nanoseconds; 0 if it never was."""

    active: int = 0


class Replicas(msgspec.Struct, frozen=True):
    replicas: tuple[Replica, ...] | None = None


class ApiReply(msgspec.Struct, frozen=True):
    """What of a reply is read. `cluster`: of a stream in a cluster; `name`: of a consumer."""

    error: ApiError | None = None
    state: State = State()
    total: int = 0
    created: str = ""
    name: str = ""
    cluster: Replicas = Replicas()

    @property
    def has_majority(self) -> bool:
        """Whether the answering leader is with a majority of the stream's servers; a lone server is."""
        others = self.cluster.replicas or ()
        heard = sum(0 < each.active < LATELY_NS for each in others)
        return 2 * (heard + 1) > len(others) + 1
