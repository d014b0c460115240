"""Ask Groundwire from a FastStream service: publish a question, take its events until DONE.

    python tests/examples/ask_with_faststream.py "$(groundwire nats url --index handbook.index)" "How many days until refunds?"

The subscriber names no stream: a subscriber with `stream="EVENTS"` would declare that stream and thereby change it, which an
integration may not. Lost events are read back with requests to `gw.events`.
Exits 0 when there was an answer, 3 when there was none, 1 when the run failed.
"""

import asyncio
import json
import secrets
import sys

from faststream.nats import NatsBroker, NatsMessage

TRIES = 3  #: of a server that is away, two seconds apart
PATIENCE_S = 10  #: FastStream by itself waits half a second for an answer, which a disk may take to store a question


async def ask(url: str, question: str) -> int:
    broker, arrived = NatsBroker(url, logger=None, max_reconnect_attempts=TRIES), asyncio.Queue()
    run_id = secrets.token_hex(12)  # of A-Z a-z 0-9 _ - only: it is part of a subject

    @broker.subscriber(f"gw.event.{run_id}")
    async def take(message: NatsMessage) -> None:
        arrived.put_nowait(message)

    await broker.start()
    asked = {"type": "question_asked", "question": question}
    await broker.publish(asked, f"gw.question_asked.{run_id}", stream="RUNS", timeout=PATIENCE_S)
    kinds: list[str] = []
    while "DONE" not in kinds:
        try:
            message = await asyncio.wait_for(arrived.get(), 10)
            first = int(message.headers["Gw-First"])  # its first event's number
        except TimeoutError:
            first = len(kinds) + 2
        frames = [message] if first <= len(kinds) + 1 else [each async for each in read_back(broker, run_id)]
        for frame in frames:
            lines = frame.body.splitlines()[max(0, len(kinds) + 1 - int(frame.headers["Gw-First"])) :]
            for event in map(json.loads, lines):
                kinds.append(event["type"])
                show(event)
    await broker.stop()
    return 1 if "error" in kinds else 0 if "references" in kinds else 3


async def read_back(broker: NatsBroker, run_id: str):
    """All that the stream has of the run."""
    asked = {"seq": 1, "next_by_subj": f"gw.event.{run_id}"}
    while True:
        found = await broker.request(asked, "gw.events", timeout=PATIENCE_S)
        if "Gw-First" not in found.headers:
            return
        asked["seq"] = int(found.headers["Nats-Sequence"]) + 1
        yield found


def show(event: dict) -> None:
    if event["type"] == "token":
        print(event["content"], end="\n" if event["status"] == "end" else "", flush=True)
    elif event["type"] == "references":
        for source in event["items"]:
            print(f"- {source['title'] or source['source_id']} {source['url']}")
    elif event["type"] == "passages":
        for passage in event["items"]:
            print(f"- {passage['title'] or passage['source_id']} {passage['url']}: {passage['text']}")
    elif event["type"] == "error":
        print(f"\n{event['code']}: {event['content']}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} NATS_URL QUESTION")
    try:
        sys.exit(asyncio.run(ask(sys.argv[1], sys.argv[2])))
    except Exception as error:  # what connects has errors of its own, which FastStream does not name
        sys.exit(f"NATS cannot be asked ({error}); take the address from `groundwire nats url`")
