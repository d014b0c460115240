"""The edge's timeouts, in seconds."""

from dataclasses import dataclass

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The defaults suit production; tests use shorter ones."""

    keepalive_s: float = 15.0  # how often an idle stream sends a comment to stay alive
    stall_s: float = 30.0  # how long a client may stop reading before it is disconnected; it can resume
    health_s: float = 0.3  # how long /readyz waits for another process
    search_s: float = 8.0  # how long POST /v1/search waits for hits: longer than a search process does for its cluster
    grace_s: float = 3.0  # how long after its deadline a run may still end
    rejoin_s: float = 10.0  # how long a run whose client left may go on, for the retry of that client
    streams_s: float = 60.0  # how long the start waits until another process makes the streams
    nats_s: float = 2.0  # how long a request waits for a nats-server that cannot be reached
    headers_s: float = 20.0  # how long a connection may take to send the headers of its next request, or send nothing
    body_s: float = 20.0  # how long a request's body may take


TIMEOUTS = web.AppKey("timeouts", Timeouts)
