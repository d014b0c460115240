"""mlx-lm's own HTTP server, which a user would otherwise run, called with the standard library's client."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Self


class MlxLmServer:
    """The server with `model`, for the duration of a `with` block."""

    def __init__(self, model: str) -> None:
        self._model = model
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "mlx_lm", "server", "--model", self._model, "--port", str(self._port)]
        self._process = subprocess.Popen(
            [*command, "--log-level", "ERROR"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            if self._process.poll() is not None:
                raise RuntimeError("mlx_lm server exited before it was ready")
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return self
            time.sleep(0.1)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def ask(self, user: str, max_tokens: int, on_piece: Callable[[], bool] | None = None) -> tuple[float, int]:
        """Seconds to the first event, and the number of tokens. `on_piece` may end the stream by returning False."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=300)
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": user}],
            "max_tokens": max_tokens,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "chat_template_kwargs": {"enable_thinking": False},
        }
        began, first, tokens = time.perf_counter(), 0.0, 0
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            if event["choices"]:
                first = first or time.perf_counter() - began
            else:
                tokens = event["usage"]["completion_tokens"]
            if on_piece is not None and not on_piece():
                break
        connection.close()
        return first, tokens

    def tokens_per_s(self, users: list[str], max_tokens: int) -> float:
        began = time.perf_counter()
        with ThreadPoolExecutor(len(users)) as pool:
            tokens = sum(count for _, count in pool.map(lambda user: self.ask(user, max_tokens), users))
        return tokens / (time.perf_counter() - began)

    def first_s_behind_a_stream(self, user: str, count: int) -> list[float]:
        """Seconds to the first event of short requests while a long answer streams."""
        stop, started = threading.Event(), threading.Event()

        def piece() -> bool:
            started.set()
            return not stop.is_set()

        stream = threading.Thread(target=self.ask, args=("Write a long answer.", 100_000, piece))
        stream.start()
        started.wait(60)
        firsts = [self.ask(user, 4)[0] for _ in range(count)]
        stop.set()
        stream.join()
        return firsts
