"""Two Python clients of WebSockets, each used as in its documentation; the first argument names one."""

import asyncio
import json
import sys

import line_by_line
import websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync import client as websockets


class Websockets:
    def open(self, url: str, headers: dict[str, str] | None = None, subprotocols: list[str] | None = None) -> int:
        try:
            self.socket = websockets.connect(url, additional_headers=headers, subprotocols=subprotocols)
        except InvalidStatus as refused:
            return refused.response.status_code
        return 101

    def say(self, frame: object) -> None:
        self.socket.send(json.dumps(frame))

    def until(self, text: str = '"DONE"', times: int = 1) -> dict[str, object]:
        frames = []
        try:
            while times:
                frames.append(str(self.socket.recv()))
                times -= text in frames[-1]
        except ConnectionClosed:
            return {"frames": frames, "broken": True}
        return {"frames": frames, "broken": False}

    def close(self) -> None:
        self.socket.close()


class WebsocketClient:
    def open(self, url: str, headers: dict[str, str] | None = None, subprotocols: list[str] | None = None) -> int:
        try:
            self.socket = websocket.create_connection(url, header=headers, subprotocols=subprotocols, timeout=60.0)
        except websocket.WebSocketBadStatusException as refused:
            return refused.status_code
        return 101

    def say(self, frame: object) -> None:
        self.socket.send(json.dumps(frame))

    def until(self, text: str = '"DONE"', times: int = 1) -> dict[str, object]:
        frames = []
        try:
            while times:
                frames.append(str(self.socket.recv()))
                times -= text in frames[-1]
        except (websocket.WebSocketConnectionClosedException, ConnectionError):
            return {"frames": frames, "broken": True}
        return {"frames": frames, "broken": False}

    def close(self) -> None:
        self.socket.close()


CLIENTS = {"websockets": Websockets, "websocket-client": WebsocketClient}

if __name__ == "__main__":
    asyncio.run(line_by_line.serve(CLIENTS[sys.argv[1]]()))
