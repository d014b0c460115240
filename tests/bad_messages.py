"""Messages that no client of Groundwire sends: subjects, headers and bodies of any bytes."""

import random

from nats.aio.client import Client

from bus.journal.records import CAUSE, DEADLINE
from bus.wire.subjects import RUNS

BAD_TIMES = ["abc", "nan", "inf", "-inf", "1e400", "9" * 400, "", "one", "0x10", "1e300", "1.7.1"]


async def put(client: Client, subject: bytes, headers: bytes, body: bytes, reply: bytes = b"") -> None:
    """Send bytes that no client of Groundwire sends."""
    place = subject + (b" " + reply if reply else b"")
    if headers:
        line = b"HPUB %s %d %d\r\n" % (place, len(headers), len(headers) + len(body))
    else:
        line = b"PUB %s %d\r\n" % (place, len(body))
    await client._send_command(line + headers + body + b"\r\n")
    await client.flush()


def headers_of(given: dict[str, str]) -> bytes:
    return b"NATS/1.0\r\n" + b"".join(f"{name}: {value}\r\n".encode() for name, value in given.items()) + b"\r\n"


ODD_HEADERS = {
    "empty": b"NATS/1.0\r\n\r\n",
    "only the version": b"NATS/1.0",
    "no version": b"garbage",
    "an answer of the server": b"NATS/1.0 503\r\n\r\n",
    "a heartbeat": b"NATS/1.0 100 Idle Heartbeat\r\n\r\n",
    "an answer that is not text": b"NATS/1.0 \xff\xff\xff \xff\r\n\r\n",
    "a status": b"NATS/1.0\r\nStatus: 503\r\n\r\n",
    "a status and a reason": b"NATS/1.0\r\nStatus: 409\r\nDescription: Consumer Deleted\r\n\r\n",
    "the server's own names": b"NATS/1.0\r\nNats-Subject: gw.run_finished.x.main\r\nNats-Sequence: x\r\nNats-Time-Stamp: z\r\n\r\n",
    "numbers that are none": headers_of(
        {CAUSE: "x", "Gw-First": "-1", "Gw-Tokens": "1e9", "Gw-Taken-Over": "y", "Gw-Parent": "z"}
    ),
    "not text": b"NATS/1.0\r\n\xff\xfe: \xff\r\nGw-Deadline: \xff\r\n\r\n",
}

#: Subjects of one part more, of two parts more, and whole ones.
ADVISORY = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{RUNS}.".encode()
ONE = [b"gw.question_asked.", b"gw.event.", b"gw.progress.", b"gw.cancel.", b"gw.record.", ADVISORY]
TWO = [b"gw.run_finished.", b"gw.passages_ready.", b"gw.answer_settled.", b"gw.access.", b"gw.unheard_of."]
WHOLE = [b"gw.ask", b"gw.ask.stop", b"gw.search", b"gw.index", b"gw.health.actors"]
#: Of headers that something reads.
NAMES = [
    b"Gw-Deadline",
    b"Gw-First",
    b"Gw-Tokens",
    b"Gw-Phase",
    b"Gw-Cause",
    b"Status",
    b"Description",
    b"Nats-Subject",
]
#: Any bytes that the server accepts in a part of a subject.
ALLOWED = [byte for byte in range(33, 256) if byte not in b".*>"]
BODIES = [b"{}", b"null", b'{"stream_seq":1e99}', b'{"stream_seq":99}', b'{"type":"token"}', b"[" * 20_000, b"1" * 5000]


async def put_any(client: Client, chance: random.Random) -> None:
    """Send any message on any subject; it names runs that do not exist."""

    def part() -> bytes:
        return bytes(chance.choices(ALLOWED, k=chance.randint(1, 8)))

    subject = chance.choice(
        [
            chance.choice(ONE) + part(),
            chance.choice(ONE) + b"bad-%016x" % chance.getrandbits(64),
            chance.choice(TWO) + part() + b"." + part(),
            chance.choice(TWO) + b"bad-%016x." % chance.getrandbits(64) + part(),
            chance.choice(WHOLE),
        ]
    )
    lines = b"\r\n".join(chance.choice(NAMES) + b": " + part() for _ in range(chance.randint(1, 3)))
    odd = b"NATS/1.0\r\n" + lines + b"\r\n\r\n"
    headers = chance.choice([b"", *ODD_HEADERS.values(), headers_of({DEADLINE: chance.choice(BAD_TIMES)}), odd])
    body = chance.choice([chance.randbytes(chance.randint(0, 40)), *BODIES])
    await put(client, subject, headers, body, reply=client.new_inbox().encode() if subject in WHOLE else b"")
