"""Ask Groundwire over NATS, without HTTP: publish a question, read its events until DONE.

    python tests/examples/ask_over_nats.py "$(groundwire nats url --index handbook.index)" "How many days until refunds are paid?"

Needs nothing but nats-py. The question goes to `gw.question_asked.<run_id>` with the fields of `POST /v1/runs`; the answer comes on
`gw.event.<run_id>`, a few lines of JSON a message. Lost events are read back with a request to `gw.events`.
Exits 0 when there was an answer, 3 when there was none, 1 when the run failed.
"""

import asyncio
import json
import secrets
import sys

import nats
import nats.errors

TRIES = 3  #: of a server that is away, two seconds apart


async def quiet(error: Exception) -> None:
    """Leave what goes wrong to what it is raised from."""


async def ask(url: str, question: str) -> int:
    arrived, inbox = asyncio.Queue(), f"_INBOX.{secrets.token_hex(12)}"
    client = await nats.connect(url, max_reconnect_attempts=TRIES, error_cb=quiet)
    run_id = secrets.token_hex(12)  # of A-Z a-z 0-9 _ - only: it is part of a subject
    for subject in (f"gw.event.{run_id}", inbox):
        await client.subscribe(subject, cb=arrived.put)
    request = json.dumps({"type": "question_asked", "question": question}).encode()
    await client.jetstream().publish(f"gw.question_asked.{run_id}", request)
    again = json.dumps({"seq": 1, "next_by_subj": f"gw.event.{run_id}", "batch": 1000}).encode()
    kinds: list[str] = []
    while "DONE" not in kinds:
        try:
            message = await asyncio.wait_for(arrived.get(), 10)
            first = int(message.headers.get("Gw-First", 0))  # its first event's number; 0: all is read back
        except TimeoutError:
            first = len(kinds) + 2
        if first > len(kinds) + 1:  # something is missing: read from the stream's beginning
            await client.publish("gw.events", again, reply=inbox)
            continue
        for event in map(json.loads, message.data.splitlines()[len(kinds) + 1 - first :] if first else ()):
            kinds.append(event["type"])
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
    try:
        sys.exit(asyncio.run(ask(sys.argv[1], sys.argv[2])))
    except (nats.errors.Error, OSError, ValueError) as error:
        sys.exit(f"NATS cannot be asked ({error}); take the address from `groundwire nats url`")
