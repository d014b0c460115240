"""What our streams and consumers are configured as, and what another client has changed of it.

Any client that may declare a stream may change ours: one that subscribes with FastStream and names the stream sets back all that
it does not name. So what Groundwire has declared carries a mark, a digest of it. A configuration whose mark does not fit is not
ours and is set back; one whose mark fits is another process's, with other settings, and stays. What we have no opinion of stays
as it is: placement, compression, and replicas unless the settings name them.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping

from nats.js.api import ConsumerConfig

from bus.transport.settings import BusSettings
from bus.wire.subjects import EVENTS, EVENTS_SUBJECTS, RUNS, RUNS_SUBJECTS

#: A configuration in the server's own words, as its API takes and gives it. Times are nanoseconds.
type Config = Mapping[str, object]

MARK = "groundwire"

#: What the server never takes back once it is set.
LASTING = (
    "storage",
    "sealed",
    "allow_msg_ttl",
    "allow_msg_schedules",
    "allow_msg_counter",
    "deny_delete",
    "deny_purge",
)

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


#: What of a consumer is ours, by nats-py's names; not where it begins, since one that was lost begins later.
_CONSUMER = ("filter_subject", "filter_subjects", "ack_wait", "backoff", "max_deliver", "max_ack_pending", "headers_only",
             "inactive_threshold", "rate_limit_bps")  # fmt: skip


def streams(settings: BusSettings) -> dict[str, Config]:
    """Both streams, by name."""
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


def changed(found: Config, wanted: Config) -> list[str]:
    """The fields that say something else than wanted, as `name VALUE`; none where the mark fits what was found."""
    if _mark_in(found) == _mark(found, wanted):
        return []
    return [
        f"{name} {found.get(name)!r:.80}" for name, value in wanted.items() if _said(found.get(name)) != _said(value)
    ]


def is_as_marked(found: Config, wanted: Config) -> bool:
    """Whether what was found is what was wanted, by its mark and in each field."""
    return _mark_in(found) == _mark(wanted, wanted) == _mark(found, wanted)


def marked(wanted: Config, found: Config | None = None) -> dict[str, object]:
    """What to declare: what is wanted, with its mark; and what we have no opinion of, as it was found."""
    config = {name: value for name, value in {**(found or {}), **wanted}.items() if value is not None}
    return {**config, "metadata": {**_kept(found or {}), MARK: _mark(wanted, wanted)}}


def marked_consumer(config: ConsumerConfig) -> ConsumerConfig:
    """The same with its mark."""
    return config.evolve(metadata={MARK: _mark(config.as_dict(), _CONSUMER)})


def changed_consumer(found: ConsumerConfig, wanted: ConsumerConfig) -> tuple[list[str], ConsumerConfig]:
    """As `changed`, and what to declare so that it is as wanted."""
    ours = {name: value for name, value in wanted.as_dict().items() if name in _CONSUMER}
    back = found.evolve(**{name: getattr(wanted, name) for name in (*_CONSUMER, "metadata")})
    return changed(found.as_dict(), dict.fromkeys(_CONSUMER) | ours), back


def _said(value: object) -> object:
    """The server leaves out what is empty or false, says -1 where there is no limit, and orders nothing."""
    if isinstance(value, list):
        return sorted(value) or None
    return None if not value or (isinstance(value, int) and value < 0) else value


def _mark(found: Config, names: Iterable[str]) -> str:
    said = {name: _said(found.get(name)) for name in names}
    return hashlib.blake2b(json.dumps(said, sort_keys=True).encode(), digest_size=8).hexdigest()


def _mark_in(found: Config) -> object:
    metadata = found.get("metadata")
    return metadata.get(MARK) if isinstance(metadata, Mapping) else None


def _kept(found: Config) -> dict[str, object]:
    """The metadata of others; the server writes its own again."""
    metadata = found.get("metadata")
    pairs = metadata.items() if isinstance(metadata, Mapping) else ()
    return {str(name): value for name, value in pairs if not str(name).startswith("_nats.")}
