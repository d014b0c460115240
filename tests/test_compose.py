"""compose.yaml works as written, without Docker: its commands run under its rules in bubblewrap, where that is installed.

Each service has a read-only root, no rights, the volumes, temporary folders and environment that compose.yaml gives it. What
stays untested is the image, and that only the edge is reached from outside: here all share one network.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from runtime.processes.ports import free_port

ROOT = Path(__file__).parent.parent
BWRAP = shutil.which("bwrap")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
STACK = ("nats", "search", "inference", "actors", "edge")
USERS = ("OPERATOR", "ACTORS", "SEARCH", "INFERENCE", "EDGE", "INTEGRATION")
DOCUMENTS = ROOT / "runtime" / "demo" / "documents" / "handbook-en"


@pytest.mark.parametrize("name", SERVICES)
def test_services_have_no_rights_and_few_writable_paths(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service["user"].startswith(("0", "root"))
    assert set(service.get("networks", [])) <= {"bus", "door"}


def test_processes_have_health_checks_and_one_port() -> None:
    assert set(STACK) <= SERVICES.keys()
    assert all("healthcheck" in SERVICES[name] for name in STACK)
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["edge"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["edge"]["ports"])
    assert [name for name in STACK if "door" in SERVICES[name]["networks"]] == ["edge"]


def test_image_has_a_pinned_base_and_user() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert all(
        re.fullmatch(r"python:3\.12\.\d+-slim-bookworm", base)
        for base in re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    )
    assert {f"USER {service['user']}" for service in SERVICES.values()} == set(
        re.findall(r"^USER .+", text, re.MULTILINE)
    )


class Containers:
    """Runs the services' commands as Docker would; volumes are folders below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = {"4222": str(free_port()), "8080": str(free_port())}
        self.variables = {f"GROUNDWIRE_NATS_{user}": f"p{user.lower()}" for user in USERS}
        self.variables["GROUNDWIRE_DOCUMENTS"] = str(DOCUMENTS)
        self.hosts = folder / "hosts"
        self.hosts.write_text("127.0.0.1 localhost nats\n", encoding="utf-8")

    def filled(self, text: str) -> str:
        """A value of compose.yaml with its variables, and with ports that are free here."""

        def value(found: re.Match[str]) -> str:
            default = found[2][2:] if found[2].startswith(":-") else ""
            return self.variables.get(found[1], default)

        text = re.sub(r"\$\{(\w+)(:[?-][^}]*|)\}", value, text)
        return re.sub(r"\b(4222|8080)\b", lambda found: self.ports[found[1]], text)

    def start(self, name: str, *command: str, **options: Any) -> subprocess.Popen[str]:
        service = SERVICES[name]
        said = list(command) or [self.filled(part) for part in service["command"]]
        program = service.get("entrypoint", ["groundwire"]) if not command else ["groundwire"]
        environment = {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "GROUNDWIRE_STATE": "/var/lib/groundwire",
            "GROUNDWIRE_INDEX_DIR": "/index",
            "GROUNDWIRE_EDGE_PORT": self.ports["8080"],
            "GROUNDWIRE_BUS_URL": f"nats://127.0.0.1:{self.ports['4222']}",
            "COLUMNS": "200",
            **{key: self.filled(text) for key, text in service.get("environment", {}).items()},
        }
        return subprocess.Popen(
            [str(part) for part in (*self.walls(service), *program, *said)],
            env=environment,
            cwd="/",
            text=True,
            **options,
        )

    def walls(self, service: dict[str, Any]) -> list[str]:
        assert BWRAP is not None
        uid, gid = service["user"].split(":")
        walls = [
            BWRAP,
            "--unshare-all",
            "--share-net",
            "--die-with-parent",
            "--uid",
            uid,
            "--gid",
            gid,
            "--cap-drop",
            "ALL",
        ]
        for path in sorted(Path("/").iterdir()):
            if path.is_symlink():
                walls += ["--symlink", os.readlink(path), str(path)]
            elif path.name not in {"dev", "index", "documents", "proc", "sys", "tmp", "var", "lost+found"}:
                walls += ["--ro-bind", str(path), str(path)]
        walls += ["--ro-bind", str(self.hosts), "/etc/hosts"]
        walls += ["--dev", "/dev", "--proc", "/proc", "--chdir", "/"]
        for mount in service["tmpfs"]:
            walls += ["--tmpfs", mount.partition(":")[0]]
        for volume in service.get("volumes", []):
            source, target, *mode = self.filled(volume).split(":")
            where = Path(source) if source.startswith("/") else self.folder / source
            where.mkdir(exist_ok=True)
            walls += ["--ro-bind" if mode == ["ro"] else "--bind", str(where), target]
        return [*walls, "--ro-bind", str(ROOT), str(ROOT), "--remount-ro", "/"]

    def run(self, name: str, *command: str) -> str:
        process = self.start(name, *command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said, _ = process.communicate(timeout=120)
        assert process.returncode == 0, said
        return said

    def await_health(self, name: str, process: subprocess.Popen[str], log: Path) -> None:
        """Run the service's health check as often as Docker would at its start, until it passes."""
        check = SERVICES[name]["healthcheck"]["test"]
        assert check[:2] == ["CMD", "groundwire"]
        give_up = time.monotonic() + 120
        while True:
            asked = self.start(name, *check[2:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            said, _ = asked.communicate(timeout=60)
            if asked.returncode == 0:
                return
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < give_up, said + log.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def containers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    """The whole stack of compose.yaml, each process healthy by its own check."""
    containers = Containers(tmp_path_factory.mktemp("compose"))
    containers.run("index")
    started: list[subprocess.Popen[str]] = []
    key = containers.run("edge", "keys", "add", "me")
    (containers.folder / "key").write_text(
        next(word for word in key.split() if word.startswith("gw_")), encoding="utf-8"
    )
    try:
        for name in STACK:
            log = containers.folder / f"{name}.log"
            with log.open("w") as out:
                started.append(containers.start(name, stdout=out, stderr=subprocess.STDOUT))
            containers.await_health(name, started[-1], log)
        yield containers
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(30)


@pytest.mark.slow
@pytest.mark.skipif(BWRAP is None, reason="bubblewrap is not installed")
def test_compose_stack_answers_with_a_key(containers: Containers) -> None:
    request = urllib.request.Request(
        f"http://127.0.0.1:{containers.ports['8080']}/v1/runs",
        data=json.dumps({"question": "What must everyone wear in the laboratory?"}).encode(),
        headers={
            "content-type": "application/json",
            "accept": "application/json",
            "authorization": f"Bearer {(containers.folder / 'key').read_text(encoding='utf-8')}",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        assert "safety goggles" in json.load(response)["answer"]


@pytest.mark.slow
@pytest.mark.skipif(BWRAP is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("name", STACK)
def test_the_root_cannot_be_written(containers: Containers, name: str) -> None:
    walls = [*containers.walls(SERVICES[name]), "sh", "-c", "touch /groundwire-was-here"]
    done = subprocess.run(walls, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Read-only" in done.stderr


def docker_runs() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run([docker, "info"], capture_output=True, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(not docker_runs(), reason="no Docker here")
def test_image_build_is_complete() -> None:
    subprocess.run(["docker", "build", "--quiet", "--tag", "groundwire-test", "."], cwd=ROOT, check=True)
    mounts = ("--tmpfs", "/tmp", "--tmpfs", "/var/lib/groundwire:uid=10001")
    subprocess.run(["docker", "run", "--rm", "--read-only", *mounts, "groundwire-test", "doctor"], check=True)
