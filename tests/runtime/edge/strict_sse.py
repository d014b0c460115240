"""A strict reader of event streams: rejects everything that the standard would silently repair."""

import re

_EVENT = re.compile(rb"\Aid: ([1-9][0-9]*)\ndata: (\{[^\n]*\})\Z")
_RETRY = re.compile(rb"^retry: [1-9][0-9]*\n(?=id: )", re.MULTILINE)


def parse(stream: bytes) -> list[tuple[int, bytes]]:
    """The events of a whole stream: exactly `id: N`, `data: {json}`, an empty line; comment lines between are left out.

    `retry:` occurs at most once, in an event's block: some readers take a block without data for an event.
    """
    assert stream.endswith(b"\n\n"), stream[-80:]
    assert len(_RETRY.findall(stream)) <= 1
    stream = _RETRY.sub(b"", stream)
    found = []
    for block in stream[:-2].split(b"\n\n"):
        if block.startswith(b":"):
            continue
        match = _EVENT.match(block)
        assert match, block
        found.append((int(match[1]), match[2]))
    return found
