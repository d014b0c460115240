"""The settings of the bus, with their units."""

from typing import Annotated

import msgspec
from msgspec import Meta

Seconds = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(gt=0, le=0.9)]


class BusSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[bus]` in groundwire.toml. Retention bounds disk use; ack_wait must be well above the heartbeat."""

    url: str = "nats://127.0.0.1:4222"  #: where nats-server listens, may carry `user:password@`; of a cluster several, with commas
    port: Annotated[int, Meta(ge=0, le=65535)] = 0  #: of the nats-server of `up`; 0: the last one, if free
    user: str = ""  #: on a server with users; empty: the user that `groundwire serve nats` made for each process
    password: str = ""  #: better set as GROUNDWIRE_BUS_PASSWORD
    creds: str = ""  #: instead: file with the user's JWT and nkey seed
    nkey_seed: str = ""  #: or: file with the user's nkey seed
    tls_ca: str = ""  #: file with the certificate of the server's authority, unless this machine trusts it already
    tls_cert: str = ""  #: file with our certificate, where the server asks for one
    tls_key: str = ""  #: and its key
    runs_max_age_s: Seconds = 7 * 86400.0  #: how long the journal keeps a finished run that is not pinned
    runs_max_bytes: int = 1024**3  #: the most that the journal holds
    runs_prune_from: Share = 0.8  #: share of it from which the oldest finished runs leave
    events_max_age_s: Seconds = 3600.0  #: how long a client can resume
    events_max_bytes: int = 256 * 1024**2
    replicas: Annotated[int, Meta(ge=0, le=5)] = (
        0  #: servers of a cluster that keep each stream, 3 of 3; 0: as they are
    )
    ack_wait_s: Seconds = 4.0  #: a dead actor's messages are redelivered after this
    heartbeat_s: Seconds = 1.0  #: how often long work signals that it is alive
    max_deliver: Annotated[int, Meta(ge=1)] = 30  #: deliveries before the janitor ends the run
    deadline_s: Seconds = 120.0  #: of a run that sets none
    janitor_period_s: Seconds = 1.0
