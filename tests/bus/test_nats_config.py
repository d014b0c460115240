"""nats-server's configuration: any path, host and password in any script, no door that was not asked for, TLS and nkeys."""

import asyncio
import contextlib
import gc
import os
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import nkeys
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bus.transport.connection import connect
from bus.transport.settings import BusSettings
from bus.transport.users import USERS
from bus.wire.errors import Unavailable
from runtime.processes import nats_server, nats_users, ports
from runtime.processes.nats_config import config, quoted

AWKWARD = (
    "한글 폴더", "近视", "الفهرس", "índice ñ", "e\u0301", "👩‍🎓", 'a"b', "a'b", "a\\b", "\\x41", "\\u1112", "$HOME", "${HOME}",
    "a # b", "// b", "{", "}", "[", ",", "k=v", "true", "1k", "$2a$11$abc", "%00", "\ttab", "line\nline", "back\r", "\x01\x7f",
    "\u2028", "\ufeff", " ", "-t",
)  # fmt: skip
#: What a name of a folder can be: no slash and no zero byte, and not UTF-8 at that.
NAMES = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=40),
    st.binary(min_size=1, max_size=40).map(os.fsdecode).filter(lambda name: "/" not in name and "\0" not in name),
)


def complaint(path: Path) -> str:
    """What nats-server has against that configuration."""
    told = subprocess.run([*nats_server.command(path), "-t"], capture_output=True, check=False)
    return "" if told.returncode == 0 else told.stderr.decode(errors="replace")


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=12))
def test_folders_and_passwords_are_quoted(tmp_path: Path, names: list[str]) -> None:
    passwords = dict(zip([user.name for user in USERS], (names * len(USERS))[: len(USERS)], strict=True))
    text = config(Path("/", *names), host="127.0.0.1", port=1, passwords=passwords)
    assert complaint(written(tmp_path / "nats.conf", text)) == ""


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=6))
def test_string_is_read_as_written(tmp_path: Path, names: list[str]) -> None:
    """Each name is a file that the server is to read a certificate from: it must find it, and no certificate in it."""
    folder = tmp_path / "named"
    folder.mkdir(exist_ok=True)
    for name in {name for name in names if name not in (".", "..")}:
        (folder / name).write_bytes(b"")
        file = quoted(str(folder / name))
        told = complaint(written(tmp_path / "nats.conf", f"tls {{ cert_file: {file}, key_file: {file} }}"))
        assert "failed to find any PEM data" in told


def test_awkward_folder_contains_the_streams(tmp_path: Path) -> None:
    name = "색인 \"a\" 'b' \\x41 $HOME # 👩‍🎓\n\t"
    for folder in (tmp_path / name, tmp_path / os.fsdecode(b"\xff\xfe")):
        path = nats_server.write_config(folder, port=ports.free_port())
        process = subprocess.Popen(nats_server.command(path), stderr=subprocess.PIPE)
        assert process.stderr is not None
        assert any(b"Server is ready" in line for line in process.stderr)
        process.kill()
        process.communicate()
        assert (folder / "jetstream").is_dir()
    assert len(list(tmp_path.iterdir())) == 2


@contextlib.asynccontextmanager
async def serving(path: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(*nats_server.command(path), stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    await process.wait()


async def test_server_listens_at_its_address_only(tmp_path: Path) -> None:
    port = ports.free_port()
    made = nats_users.make(tmp_path, f"nats://127.0.0.1:{port}")
    path = nats_server.write_config(tmp_path, port=port, passwords=made.passwords)
    async with serving(path) as process:
        await (await connect(made.bus(BusSettings(), "operator"), name="test")).close()
        heard = [c.laddr for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN]
        assert heard == [("127.0.0.1", port)]


@pytest.mark.parametrize("password", ["p:a@ss/wörd#1?%20", "비밀번호", "$HOME", 'a"\\', "👩‍🎓"])
async def test_a_password_of_any_characters_opens(tmp_path: Path, password: str) -> None:
    port = ports.free_port()
    made = nats_users.Credentials(url=f"nats://[::1]:{port}", passwords={user.name: password for user in USERS})
    path = nats_server.write_config(tmp_path, host="::1", port=port, passwords=made.passwords)
    async with serving(path):
        for bus in (made.url_of("edge"), made.bus(BusSettings(), "edge")):
            await (await connect(bus, name="test", user="edge")).close()


def _openssl(folder: Path, *arguments: Sequence[str]) -> None:
    for each in arguments:
        subprocess.run(["openssl", *each], cwd=folder, check=True, capture_output=True)


async def test_tls_and_nkeys_are_passed_through(tmp_path: Path) -> None:
    """A server that wants a client's certificate and an nkey accepts both together, and the error names a missing one."""
    _openssl(
        tmp_path,
        ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", "key.pem",
         "-out", "cert.pem", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
    )  # fmt: skip
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    (tmp_path / "seed.nk").write_bytes(seed)
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()
    port = ports.free_port()
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    path = written(
        tmp_path / "nats.conf",
        f"listen: 127.0.0.1:{port}\nauthorization {{ users: [{{ nkey: {public} }}] }}\n"
        f"tls {{ cert_file: {quoted(str(cert))}, key_file: {quoted(str(key))}, ca_file: {quoted(str(cert))}, verify: true }}\n",
    )
    whole = BusSettings(
        url=f"nats://127.0.0.1:{port}",
        nkey_seed=str(tmp_path / "seed.nk"),
        tls_ca=str(cert),
        tls_cert=str(cert),
        tls_key=str(key),
    )
    async with serving(path):
        client = await connect(whole, name="test")
        assert client.is_connected
        await client.close()
        for lacking, says in (
            ({"tls_ca": ""}, "no TLS with nats://127.0.0.1"),
            ({"nkey_seed": ""}, "does not let us in"),
            ({"nkey_seed": "nowhere"}, "bus.nkey_seed names nowhere, which is not a file"),
            ({"tls_key": "nowhere"}, "bus.tls_ca, bus.tls_cert or bus.tls_key cannot be used"),
        ):
            with pytest.raises(Unavailable, match=says):
                await connect(msgspec.structs.replace(whole, **lacking), name="test", patience_s=0)
            gc.collect()  # nothing is left open behind it
