"""Missing parts are reported: no answer comes from some of the shards, and an absent cluster never means "nothing"."""

import base64
import itertools
import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from index.errors import IndexProblem
from index.opensearch.bulk import Bulk
from index.opensearch.client import Client, located
from runtime.index_of import overheard
from runtime.processes.ports import free_port
from runtime.settings import IndexSettings
from tests.web_servers import served_beside

WHOLE = {
    "status": 200,
    "_shards": {"total": 2, "successful": 2, "failed": 0},
    "timed_out": False,
    "hits": {"hits": [{"_id": "1"}]},
}
HALF = WHOLE | {"_shards": {"total": 2, "successful": 1, "failed": 1, "failures": [{"reason": "a node left"}]}}
#: A shard of which no copy is left: the engine counts it neither as failed nor as successful.
GONE = WHOLE | {"_shards": {"total": 2, "successful": 1, "failed": 0}}
LATE = WHOLE | {"timed_out": True}

Answer = Callable[["Asked"], tuple[int, object]]


@dataclass(frozen=True)
class Asked:
    """One request that a cluster of the tests got."""

    headers: dict[str, str]
    body: bytes
    times: int


@contextmanager
def cluster_that(answers: Answer, context: ssl.SSLContext | None = None) -> Iterator[str]:
    """An address that gives these answers: real clusters do not fail when a test wants it."""
    counted = itertools.count(1)

    async def handle(request: web.Request) -> web.Response:
        asked = Asked(dict(request.headers), await request.read(), next(counted))
        status, said = answers(asked)
        return web.json_response(said, status=status)

    with served_beside(web.route("*", "/{path:.*}", handle), tls=context) as address:
        yield address


@contextmanager
def client_of(url: str, **options: Any) -> Iterator[Client]:
    client = Client(located(url, **({"timeout_s": 0.5} | options)))
    yield client
    client.close()


@pytest.mark.parametrize("reply", [HALF, GONE, LATE, {"status": 503, "error": {"reason": "no such shard now"}}])
def test_partial_shards_give_no_answer(reply: dict[str, Any]) -> None:
    with (
        cluster_that(lambda asked: (200, {"responses": [WHOLE, reply]})) as url,
        client_of(url, timeout_s=0.1) as client,
        pytest.raises(IndexProblem, match="timeout: "),
    ):
        client.find_all([("a", {}, True), ("a", {}, False)])


def test_returning_shard_is_awaited() -> None:
    def answers(asked: Asked) -> tuple[int, object]:
        return 200, {"responses": [HALF if asked.times < 3 else WHOLE]}

    with cluster_that(answers) as url, client_of(url, timeout_s=20) as client:
        assert client.find("a", {}) == [{"_id": "1"}]


def test_absent_cluster_times_out() -> None:
    with client_of(f"http://127.0.0.1:{free_port()}") as client, pytest.raises(IndexProblem, match="timeout: "):
        client.find("a", {})


def test_another_node_replaces_an_absent_one() -> None:
    with (
        cluster_that(lambda asked: (200, {"responses": [WHOLE]})) as url,
        client_of(f"http://127.0.0.1:{free_port()},{url}", timeout_s=20) as client,
    ):
        assert [client.find("a", {}) for _ in range(4)] == 4 * [[{"_id": "1"}]]


def test_user_is_sent_and_refusal_reported() -> None:
    known = base64.b64encode(b"reader:open sesame").decode()

    def answers(asked: Asked) -> tuple[int, object]:
        admitted = asked.headers.get("authorization", asked.headers.get("Authorization")) == f"Basic {known}"
        return (200, {"responses": [WHOLE]}) if admitted else (401, {"error": "Unauthorized"})

    with cluster_that(answers) as url:
        with client_of(url, user="reader", password="open sesame", timeout_s=20) as client:
            assert client.find("a", {}) == [{"_id": "1"}]
        with client_of(url, timeout_s=20) as client, pytest.raises(IndexProblem, match=r"set index\.user") as told:
            client.find("a", {})
        assert "sesame" not in str(told.value)


def test_named_certificate_is_trusted(tmp_path: Path) -> None:
    certificate, context = signed_by_itself(tmp_path)
    with cluster_that(lambda asked: (200, {"responses": [WHOLE]}), context) as url:
        with client_of(url, ca=str(certificate), timeout_s=20) as client:
            assert client.find("a", {}) == [{"_id": "1"}]
        with client_of(url, timeout_s=20) as client, pytest.raises(IndexProblem, match=r"index\.ca"):
            client.find("a", {})


def signed_by_itself(folder: Path) -> tuple[Path, ssl.SSLContext]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "search")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    private.write_bytes(key.private_bytes(*pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    return certificate, context


def test_busy_cluster_gets_smaller_batches() -> None:
    sizes: list[int] = []
    held: dict[str, int] = {}

    def answers(asked: Asked) -> tuple[int, object]:
        lines = asked.body.splitlines()
        sizes.append(len(asked.body))
        if asked.times == 1:
            return 429, {"error": {"reason": "too many requests"}}
        items = []
        for place, action in enumerate(lines[::2]):
            name = json.loads(action)["index"]["_id"]
            busy = asked.times == 2 and place % 2 == 0
            held[name] = held.get(name, 0) + (not busy)
            items.append({"index": {"status": 429 if busy else 201}})
        return 200, {"errors": asked.times == 2, "items": items}

    with cluster_that(answers) as url, client_of(url) as client:
        bulk = Bulk(client)
        for number in range(50):
            bulk.put("a", str(number), {"held": "x" * 100_000})
        bulk.finish()
    assert held == {str(number): 1 for number in range(50)}
    assert sizes[0] > sizes[1] > sizes[2]


def test_cluster_refusal_is_reported() -> None:
    refused = {"errors": True, "items": [{"index": {"status": 400, "error": {"reason": "no such field"}}}]}
    with cluster_that(lambda asked: (200, refused)) as url, client_of(url) as client:
        bulk = Bulk(client)
        bulk.put("a", "1", {})
        with pytest.raises(IndexProblem, match="no such field"):
            bulk.finish()


@pytest.mark.parametrize(
    ("url", "nodes", "name"),
    [
        ("https://search.example.org:9200", ("https://search.example.org:9200",), "groundwire"),
        ("https://search.example.org:9200/", ("https://search.example.org:9200",), "groundwire"),
        ("https://a:1,https://b:2/hand-book", ("https://a:1", "https://b:2"), "hand-book"),
        ("http://a", ("http://a",), "groundwire"),
    ],
)
def test_address_names_nodes_and_index(url: str, nodes: tuple[str, ...], name: str) -> None:
    found = located(url)
    assert (found.nodes, found.name) == (nodes, name)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("search.example.org", "no address of OpenSearch"),
        ("https://me:secret@a:9200", r"set index\.user"),
        ("https://me:secret/1@a:9200", r"set index\.user"),
        ("https://me:secret,1@a:9200/x", r"set index\.user"),
        ("https://a:9200/Hand Book", "small letters"),
        ("https://a/x/y", "small letters|no address"),
        ("ftp://a", "no address of OpenSearch"),
        ("https://a:x", "no address of OpenSearch"),
    ],
)
def test_invalid_address_is_reported(url: str, told: str) -> None:
    with pytest.raises(IndexProblem, match=told) as problem:
        located(url)
    assert "secret" not in str(problem.value)


@pytest.mark.parametrize(
    ("url", "password", "told"),
    [
        ("http://search.example.org:9200/x", "secret", "http://search.example.org:9200"),
        ("https://a,http://10.0.0.7:9200/x", "secret", "http://10.0.0.7:9200"),
        ("http://search.example.org:9200/x", "", ""),
        ("https://search.example.org:9200/x", "secret", ""),
        ("http://localhost:9200,http://127.0.0.2,http://[::1]:9200/x", "secret", ""),
    ],
)
def test_clear_text_password_warns_once(caplog: pytest.LogCaptureFixture, url: str, password: str, told: str) -> None:
    with client_of(url, user="ann", password=password):
        pass
    said = [record.getMessage() for record in caplog.records if record.name == "groundwire.index"]
    assert len(said) == bool(told)
    assert all(f"goes to {told} unencrypted" in line and "use https://" in line for line in said)
    assert "secret" not in caplog.text
    assert overheard(IndexSettings(url=url, user="ann", password=password)) == "".join(said)
