"""JetStream's information on a stream, as far as it is used, and whether its leader can be trusted.

In a cluster a stream's leader answers. One that was cut off from the others goes on for some seconds as if nothing was, while they
elect another; so it is believed only where it has heard from most of them lately. They wait at least four seconds for their leader
before they elect another (nats-server's minElectionTimeout), so until then there is none.
"""

import msgspec

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
    """What of a reply is read. `cluster`: of a stream in a cluster."""

    error: ApiError | None = None
    state: State = State()
    total: int = 0
    cluster: Replicas = Replicas()

    @property
    def has_majority(self) -> bool:
        """Whether the answering leader is with a majority of the stream's servers; a lone server is."""
        others = self.cluster.replicas or ()
        heard = sum(0 < each.active < LATELY_NS for each in others)
        return 2 * (heard + 1) > len(others) + 1
