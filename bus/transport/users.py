"""Permissions on the bus: one user for each kind of process, with the subjects that it may publish and read.

This table is the one source of the embedded server's configuration and of the one for a server of your own
(`groundwire nats config`). Permissions name subjects, but not where a request's reply goes: a user that may ask JetStream for
something may have its answer delivered to any subject of the account, a record's or an order to the server among them. So
users outside Groundwire have a second account: a reply stays in it, and of the first account they get only the subjects that are
lent by name.
"""

import msgspec

from bus.wire.subjects import (
    ACCESS,
    ADMITTED,
    ASK,
    ASK_RUN,
    CANCEL,
    CHAT,
    CLIENT_EVENTS,
    EVENTS,
    EVENTS_SUBJECTS,
    GET_RUN,
    INDEX,
    JOURNAL,
    RECORD,
    RESPONSE,
    RUNS,
    SEARCH,
    SOURCES,
    VERDICT,
)

#: The account of the streams and of Groundwire's own processes, and that of everybody else.
ACCOUNT = "GROUNDWIRE"
GUESTS = "INTEGRATIONS"

#: Where an integration reads back the events that it missed: a direct get of EVENTS.
READ_EVENTS = "gw.events"

#: Where nats-server reports the end of a stream, and of a consumer of RUNS.
LOSSES = ("$JS.EVENT.ADVISORY.STREAM.DELETED.*", f"$JS.EVENT.ADVISORY.CONSUMER.DELETED.{RUNS}.*")

_ASKED = "gw.question_asked.*"
_INBOXES = "_INBOX.>"
#: Where nats-server takes the reply to a request of another account.
_REPLIES_OUT = "_R_.>"


class User(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects that one user may publish to and subscribe to, its inbox aside."""

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...] = ()


class Lent(msgspec.Struct, frozen=True, kw_only=True):
    """A subject of Groundwire's account that the integrations' account sees as `name`.

    `kind`: `service` for requests, with `replies` if there are several to one request; `stream` for messages to read.
    """

    kind: str
    subject: str
    name: str
    replies: bool = False


def inbox_prefix(user: str) -> str:
    """What a user's reply subjects begin with: none of the others may read them.

    In the integrations' account there are no others, so that a client needs no setting.
    """
    return "_INBOX" if user == INTEGRATION.name else f"_INBOX.{user}"


#: For readers of a stream from a position on, with a consumer without a name.
_READING = tuple(
    f"$JS.API.{request}"
    for name in (RUNS, EVENTS)
    for request in (
        f"STREAM.INFO.{name}",
        f"DIRECT.GET.{name}",
        f"CONSUMER.CREATE.{name}",
        f"CONSUMER.MSG.NEXT.{name}.*",
    )
)

#: The command line and the supervisor: everything.
OPERATOR = User(name="operator", publish=(">",), subscribe=(">",))

#: They write the journal and the events, look after both streams, and answer the requests of integrations.
ACTORS = User(
    name="actors",
    publish=("gw.>", "$JS.API.>", "$JS.ACK.>", _INBOXES, _REPLIES_OUT),
    subscribe=("gw.>", f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{RUNS}.*", *LOSSES),
)

#: For readers of an object store: the last message of one of its subjects, and of no other stream's.
_BUCKETS = ("$JS.API.DIRECT.GET.*.$O.*.C.*", "$JS.API.DIRECT.GET.*.$O.*.M.*")

#: These two only answer: a reply goes to an inbox and nowhere else. Each may ask for its own health.
SEARCHING = User(
    name="search",
    publish=(*_BUCKETS, "gw.health.search", _INBOXES),
    subscribe=(SEARCH, INDEX, SOURCES, "gw.health.search", "gw.metrics.search"),
)
INFERENCE = User(
    name="inference",
    publish=("gw.health.inference", _INBOXES),
    subscribe=(ASK, f"{ASK}.stop", "gw.health.inference", "gw.metrics.inference"),
)

#: It asks, cancels and reads. It cannot write records or events of the pipeline.
EDGE = User(
    name="edge",
    publish=(
        _ASKED,
        *(f"gw.{kept}.*.*" for kept in (ACCESS, CHAT, RESPONSE, VERDICT)),
        "gw.run_finished.*.main",
        f"{CANCEL}.*",
        SEARCH,
        INDEX,
        SOURCES,
        JOURNAL,
        "gw.health.*",
        "gw.metrics.*",
        _INBOXES,
        *_READING,
    ),
    subscribe=(
        *EVENTS_SUBJECTS,
        _ASKED,
        f"{ADMITTED}.*",
        f"{RECORD}.*",
        "gw.run_finished.*.*",
        "gw.health.edge",
        "gw.metrics.edge",
    ),
)

INSIDERS = (OPERATOR, ACTORS, SEARCHING, INFERENCE, EDGE)

#: A service that asks over NATS instead of HTTP.
INTEGRATION = User(
    name="integration",
    publish=(_ASKED, f"{CANCEL}.*", READ_EVENTS, ASK_RUN, GET_RUN),
    subscribe=CLIENT_EVENTS,
)

LENT = (
    Lent(kind="service", subject=_ASKED, name=_ASKED),
    Lent(kind="service", subject=f"{CANCEL}.*", name=f"{CANCEL}.*"),
    Lent(kind="service", subject=f"$JS.API.DIRECT.GET.{EVENTS}", name=READ_EVENTS, replies=True),
    *(Lent(kind="service", subject=subject, name=subject) for subject in (ASK_RUN, GET_RUN)),
    *(Lent(kind="stream", subject=subject, name=subject) for subject in CLIENT_EVENTS),
)

USERS = (*INSIDERS, INTEGRATION)
