"""The hosts that a request may name, and the sites with pages that may send it.

An attacker can point a name at this machine (DNS rebinding), and a page under it names its own host; so `Host` must be the address
that the connection arrived at, its names on loopback, or a name of `edge.hosts`. A browser sends `Origin` with every request that
may change or read data; it must be the host itself or one of `edge.origins`. No other claim of a client is trusted.
"""

import functools

from aiohttp import hdrs, web

from runtime.edge.problems import Problem
from runtime.loopback import is_loopback

#: The names of the own machine.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
#: A page may send any header: clients of many kinds name their own (`x-stainless-os`, `mcp-method`), and none of them is believed
#: more for it. `*` leaves out Authorization.
ALLOWED_HEADERS = "Authorization, *"
EXPOSED_HEADERS = "Location, Mcp-Session-Id, Retry-After, X-Run-Id"
#: How long a browser may remember the answer to a preflight, in seconds.
PREFLIGHT_S = 600

#: The origin of an allowed page of another site.
CORS_ORIGIN = web.RequestKey("cors_origin", str)


class Origins:
    """What the settings `edge.hosts` and `edge.origins` allow, each separated by commas."""

    def __init__(self, hosts: str = "", origins: str = "") -> None:
        self.hosts = frozenset(each.strip().lower() for each in hosts.split(",") if each.strip())
        self.origins = frozenset(each.strip().lower().rstrip("/") for each in origins.split(",") if each.strip())

    def check(self, request: web.Request) -> None:
        """Raises Problem 400, 403 or 421."""
        headers = request.headers
        hosts = headers.getall(hdrs.HOST, ())
        if len(hosts) != 1:
            raise Problem(400, "bad_host", f"the request has {len(hosts)} Host headers; send one")
        host = hosts[0].lower()
        # A request line with a whole URL names a host of its own.
        other = request.url.authority.lower() if request.host != hosts[0] else host
        if not self._known(host, request) or not self._known(other, request):
            detail = f"this is not {hosts[0][:100]}; to serve it under that name, add it to edge.hosts"
            raise Problem(421, "wrong_host", detail)
        origin = headers.get(hdrs.ORIGIN)
        if origin is None:
            # A page's image or script has no Origin, but `Sec-Fetch-Site` names another site.
            elsewhere = headers.get("Sec-Fetch-Site") in {"cross-site", "same-site"}
            if elsewhere and headers.get("Sec-Fetch-Mode") != "navigate":
                detail = "a page of another site asks for this; to let it, add it to edge.origins"
                raise Problem(403, "foreign_origin", detail)
        elif len(headers.getall(hdrs.ORIGIN)) != 1 or origin.lower() not in {f"http://{host}", f"https://{host}"}:
            if origin.lower() not in self.origins:
                detail = f"pages of {origin[:100]} may not use this service; to let them, add it to edge.origins"
                raise Problem(403, "foreign_origin", detail)
            request[CORS_ORIGIN] = origin

    def _known(self, host: str, request: web.Request) -> bool:
        address, port, *_ = request.get_extra_info("sockname") or ("", 0)
        return (
            host in _own_names(address, port)
            or host in self.hosts
            or (bool(self.hosts) and host.rpartition(":")[0] in self.hosts)
        )


@functools.lru_cache(maxsize=64)
def _own_names(address: str, port: int) -> frozenset[str]:
    """The hosts by which a connection to this address may call it."""
    literal = f"[{address}]" if ":" in address else address
    names = {literal.lower(), *(LOOPBACK_NAMES if is_loopback(address) else ())}
    return frozenset({f"{name}:{port}" for name in names} | (names if port == 80 else set()))


def preflight(request: web.Request) -> web.Response | None:
    """The reply to a browser that asks for an allowed page whether it may; None for any other request."""
    wrong = request.match_info.http_exception
    if CORS_ORIGIN not in request or request.method != "OPTIONS" or not isinstance(wrong, web.HTTPMethodNotAllowed):
        return None
    return web.Response(
        status=204,
        headers={
            "Access-Control-Allow-Methods": ", ".join(sorted(wrong.allowed_methods)),
            "Access-Control-Allow-Headers": ALLOWED_HEADERS,
            "Access-Control-Max-Age": str(PREFLIGHT_S),
        },
    )


async def let_page_read(request: web.Request, response: web.StreamResponse) -> None:
    """Before a response leaves: the browser may hand it to the page of an allowed site."""
    if CORS_ORIGIN in request:
        response.headers["Access-Control-Allow-Origin"] = request[CORS_ORIGIN]
        response.headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
        response.headers["Vary"] = "Origin"
