"""websockets, a Python client of WebSockets, used as in its documentation."""

import asyncio
import json

import line_by_line
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


if __name__ == "__main__":
    asyncio.run(line_by_line.serve(Websockets()))
