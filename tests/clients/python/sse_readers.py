"""httpx-sse, a Python reader of server-sent events, used as in its documentation."""

import asyncio
import contextlib

import httpx
import httpx_sse
import line_by_line

DONE = '{"type":"DONE"}'


class HttpxSse:
    def __init__(self) -> None:
        self.stack = contextlib.ExitStack()

    def open(self, method: str, url: str, body: object = None, last: str = "") -> dict[str, object]:
        headers = {"Last-Event-ID": last} if last else {}
        http = self.stack.enter_context(httpx.Client(timeout=60.0))
        source = self.stack.enter_context(httpx_sse.connect_sse(http, method, url, json=body, headers=headers))
        response = source.response
        if response.status_code != 200:
            return {"status": response.status_code, "body": response.read().decode()}
        self.events = source.iter_sse()
        return {"status": 200, "run_id": response.headers["X-Run-Id"]}

    def until(self, text: str = DONE) -> dict[str, object]:
        got: list[tuple[str, str]] = []
        try:
            for event in self.events:
                got.append((event.id, event.data))
                if text in event.data:
                    break
        except httpx.TransportError:
            return {"events": got, "broken": True}
        return {"events": got, "broken": False}

    def close(self) -> None:
        self.stack.close()


if __name__ == "__main__":
    asyncio.run(line_by_line.serve(HttpxSse()))
