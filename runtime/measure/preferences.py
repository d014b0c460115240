"""Which of two prompt versions a person prefers: the file of choices, the page that adds to it, and the count.

The page does not tell which version wrote which reply. It is served on loopback, at an address that only the caller knows. Each
choice is on the disk before the page shows the next pair.
"""

import asyncio
import math
import os
import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from aiohttp import web

from runtime.measure.lines import BadLine, read
from runtime.measure.prompt_pairs import Pair
from runtime.processes.state_folder import open_private

PAGE = Path(__file__).with_name("preferences.html")

type Chosen = Literal["a", "b", "equal", "both bad"]


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a file of choices: one of the pairs, which come first, or what a person chose of the pair `of`."""

    pair: Pair | None = None
    of: str = ""
    chosen: Chosen | None = None


class _Pressed(msgspec.Struct, frozen=True):
    """What the page sends: a choice; without one it asks for the pair, or for the first that has no choice."""

    pair: str = ""
    choice: Literal["left", "right", "equal", "both bad"] | None = None


def append(path: Path, lines: Sequence[Line]) -> None:
    """Raises OSError."""
    with open_private(path, append=True) as file:
        file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def lines_of(path: Path) -> list[Line]:
    """The lines of a file of choices. Raises BadLine."""
    lines = read(path, Line)
    if not any(line.pair for line in lines):
        raise BadLine(f"{path} has no pairs; `groundwire prompts compare A B --choices FILE` writes such a file")
    return lines


async def serve(path: Path, lines: Sequence[Line], say: Callable[[str], None]) -> None:
    """Serve the pairs of a file of choices until each has one; `say` gets the address."""
    pairs = {line.pair.id: line.pair for line in lines if line.pair}
    chosen = {line.of for line in lines if line.chosen}
    done, secret = asyncio.Event(), secrets.token_urlsafe(16)

    async def page(request: web.Request) -> web.Response:
        text = PAGE.read_text(encoding="utf-8").replace("{{nonce}}", secret)
        return web.Response(text=text, content_type="text/html", headers={"Referrer-Policy": "no-referrer"})

    async def turn(request: web.Request) -> web.Response:
        try:
            pressed = msgspec.json.decode(await request.read(), type=_Pressed)
            wanted = pairs[pressed.pair] if pressed.pair or pressed.choice else None
        except (msgspec.DecodeError, KeyError):
            raise web.HTTPBadRequest(text="no such pair or choice") from None
        if wanted is not None and pressed.choice is not None:
            left, right = sides(wanted)
            named: dict[str, Chosen] = {"left": left, "right": right, "equal": "equal", "both bad": "both bad"}
            append(path, [Line(of=wanted.id, chosen=named[pressed.choice])])
            chosen.add(wanted.id)
            wanted = None
        wanted = wanted or next((pair for name, pair in pairs.items() if name not in chosen), None)
        counts = {"done": len(chosen), "of": len(pairs)}
        if wanted is None:
            asyncio.get_running_loop().call_later(0.2, done.set)
            return web.json_response(counts)
        texts = (getattr(wanted, side).text for side in sides(wanted))
        shown = {"pair": wanted.id, "question": wanted.question, "input": wanted.input}
        return web.json_response({**counts, **shown, **dict(zip(("left", "right"), texts, strict=True))})

    app = web.Application()
    app.router.add_get(f"/{secret}/", page)
    app.router.add_post(f"/{secret}/turn", turn)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        say(f"http://127.0.0.1:{runner.addresses[0][1]}/{secret}/")
        await done.wait()
    finally:
        await runner.cleanup()


def sides(pair: Pair) -> tuple[Literal["a", "b"], Literal["a", "b"]]:
    """The left and the right side: at random, and for the same pair always the same."""
    return ("a", "b") if random.Random(pair.id).random() < 0.5 else ("b", "a")


def chosen_in(lines: Iterable[Line]) -> Counter[Chosen]:
    """How often each was chosen; of several choices for a pair the last one counts."""
    return Counter({line.of: line.chosen for line in lines if line.chosen}.values())


def sign_test(first: int, second: int) -> float:
    """The two-sided probability of counts at least as uneven as these if both versions were equally good (Arbuthnott, 1710)."""
    tail = sum(math.comb(first + second, k) for k in range(min(first, second) + 1))
    return min(1.0, 2 * tail / (1 << first + second))
