"""How patient the edge is, in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """Tests are less patient."""

    comment_s: float = 15.0  # a silent stream says this often that it is alive
    stall_s: float = 30.0  # a client that reads nothing for this long is let go; it can resume
    health_s: float = 0.3  # how long /readyz waits for another process
    search_s: float = 5.0  # how long POST /v1/search waits for hits
    grace_s: float = 3.0  # how much later than its deadline a run's end may come
    patience_s: float = 2.0  # how long a request waits for a nats-server that is away
