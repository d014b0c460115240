"""The pure parts of the door: rates, hosts and origins, addresses that are loopback, and how many connections there may be."""

import asyncio

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bus.wire.errors import Unavailable
from runtime.edge.connections import Connection, Crowd, network_of
from runtime.edge.limits import Limits
from runtime.edge.problems import Problem, one_line
from runtime.loopback import is_loopback
from runtime.processes.listening import addresses_of, check_key, key_file, needs_key, url_of
from runtime.settings import AccessSettings, EdgeSettings, Settings
from tests.polling import until


@given(rate=st.tuples(st.integers(1, 20), st.sampled_from([1, 60])), waits=st.lists(st.floats(0, 3), max_size=60))
def test_rate_admits_its_number_with_a_true_wait(rate: tuple[int, int], waits: list[float]) -> None:
    now = [0.0]
    limits = Limits(lambda: now[0])
    let: list[float] = []
    for wait in waits:
        now[0] += wait
        try:
            limits.spend("k", rate)
        except Problem as problem:
            now[0] += float(problem.headers["Retry-After"])
            limits.spend("k", rate)
        let.append(now[0])
    count, period_s = rate
    for at, first in enumerate(let):
        within = sum(1 for each in let[at:] if each - first < period_s * 0.999)
        assert within <= 2 * count  # a full burst, and what has come back since


def test_so_many_at_a_time() -> None:
    limits = Limits(lambda: 0.0)
    with limits.hold("k", 2), limits.hold("k", 2):
        with pytest.raises(Problem, match="2 requests of this key are under way"), limits.hold("k", 2):
            pass
        with limits.hold("another", 2):
            pass
    with limits.hold("k", 2):
        pass


@pytest.mark.parametrize(
    ("address", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("::ffff:10.0.0.1", False),
        ("192.168.1.5", False),
        ("fe80::1%eth0", False),
        ("localhost", False),
        ("/run/groundwire.sock", False),
        ("", False),
    ],
)
def test_loopback_is_an_address(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


@pytest.mark.parametrize(
    ("host", "open_door"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("", False),
        ("::", False),
    ],
)
def test_public_address_needs_a_key(tmp_path: object, host: str, open_door: bool) -> None:
    settings = Settings(edge=EdgeSettings(host=host), state=str(tmp_path))
    addresses = addresses_of(settings)
    assert needs_key(settings, addresses) is not open_door
    if open_door:
        check_key(settings, addresses)
        return
    with pytest.raises(Unavailable, match="make one with `groundwire keys add NAME`") as raised:
        check_key(settings, addresses)
    assert "\n" not in str(raised.value)
    key_file(settings).add("late", ("ask",), now=0, expires_at=1)
    with pytest.raises(Unavailable):
        check_key(settings, addresses)
    key_file(settings).add("ann", ("ask",), now=0)
    check_key(settings, addresses)


def test_printed_address_answers() -> None:
    told = [url_of((each,), 80) for each in ("127.0.0.1", "::1", "0.0.0.0", "::", "192.168.1.5")]
    assert told == [f"http://{host}:80" for host in ("127.0.0.1", "[::1]", "localhost", "localhost", "192.168.1.5")]


def test_loopback_behind_a_proxy_needs_a_key(tmp_path: object) -> None:
    settings = Settings(access=AccessSettings(required=True), state=str(tmp_path))
    with pytest.raises(Unavailable):
        check_key(settings, addresses_of(settings))


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 70, "\udcff", "unix:/run/x"])
def test_invalid_host_is_one_line(host: str) -> None:
    with pytest.raises(Unavailable, match=r"with --host or edge\.host"):
        addresses_of(Settings(edge=EdgeSettings(host=host)))


def test_connections_are_counted_by_address_and_total() -> None:
    crowd = Crowd(most=5, most_per_address=2)
    assert [crowd.enter("10.0.0.1") for _ in range(3)] == [True, True, False]
    assert crowd.enter("10.0.0.2")
    assert [crowd.enter("127.0.0.1") for _ in range(3)] == [True, True, False]  # by all alone: a proxy is one address
    crowd.leave("10.0.0.1")
    assert crowd.enter("10.0.0.1")
    assert crowd.refused == 2
    assert Crowd(most=9, most_per_address=0).enter("10.0.0.1")


async def hello(_: web.BaseRequest) -> web.StreamResponse:
    return web.Response(text="hello")


async def test_excess_connection_gets_503() -> None:
    loop, crowd = asyncio.get_running_loop(), Crowd(most=1, most_per_address=0)
    server = web.Server(hello)
    listening = await loop.create_server(lambda: Connection(server, crowd, 5.0, loop=loop), "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}") as first:
        assert await (await first.get("/")).text() == "hello"
        for _ in range(3):
            address = f"http://127.0.0.1:{port}"
            async with aiohttp.ClientSession() as session, session.post(address, data=b"x" * 100_000) as response:
                assert (response.status, response.headers["Retry-After"]) == (503, "2")
                assert (await response.json(content_type=None))["code"] == "too_many_connections"
        assert await (await first.get("/")).text() == "hello"
    await until(lambda: crowd.excess == 0, what="all connections to be counted out")
    listening.close()
    await server.shutdown(0.1)


def test_ipv6_network_counts_as_one_address() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1") == "2001:db8::/64"
    assert network_of("2001:db8:0:1::1") != network_of("2001:db8::1")
    assert network_of("::ffff:10.0.0.1") == network_of("10.0.0.1") == "10.0.0.1"
    assert network_of("::1") == "::1"


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_detail_is_one_line_of_text(text: str) -> None:
    assert one_line(text).isprintable()
    one_line(text).encode()
