"""Ask Groundwire over NATS, without HTTP: publish a question, read its events until DONE.

    python tests/examples/ask_over_nats.py nats://127.0.0.1:4222 "How many days until refunds are paid?"

Needs nothing but nats-py. The question goes to `gw.question_asked.<run_id>` with the fields of `POST /v1/runs`; the answer comes on
`gw.event.<run_id>`, a few lines of JSON a message. Exits 0 when there was an answer, 3 when there was none, 1 when the run failed.
"""

import asyncio
import json
import secrets
import sys

import nats
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy


async def ask(url: str, question: str) -> int:
    client = await nats.connect(url)
    stream = client.jetstream()
    run_id = secrets.token_hex(12)  # of A-Z a-z 0-9 _ - only: it is part of a subject
    request = json.dumps({"type": "question_asked", "question": question}).encode()
    await stream.publish(f"gw.question_asked.{run_id}", request)

    # From the stream's beginning, so that nothing said before we listen is missed.
    events = await stream.pull_subscribe(
        f"gw.event.{run_id}",
        stream="EVENTS",
        config=ConsumerConfig(deliver_policy=DeliverPolicy.ALL, ack_policy=AckPolicy.NONE, inactive_threshold=60),
    )
    kinds: set[str] = set()
    while "DONE" not in kinds:
        for message in await events.fetch(1, timeout=120):
            for line in message.data.splitlines():
                event = json.loads(line)
                kinds.add(event["type"])
                show(event)
    await client.close()
    return 1 if "error" in kinds else 0 if "references" in kinds else 3


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
    sys.exit(asyncio.run(ask(sys.argv[1], sys.argv[2])))
