"""Two versions of a prompt over the same inputs: the pair of results for each input, and the paired differences of their counts.

Which of the two a person prefers: the file of choices, the page that adds to it, and the count. The page does not tell which
version wrote which reply. It is served on loopback, at an address that only the caller knows. Each choice is on the disk before
the page shows the next pair.
"""

import asyncio
import math
import os
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import msgspec
from aiohttp import web

from actors.gate.flags import standing
from bus.runs.run_record import record_of
from bus.runs.story import RunStory
from index.languages.characters import HAN
from index.masking import masked
from prompts.contracts import PROMPTS
from runtime.measure.lines import BadLine, read
from runtime.measure.question_figures import Interval, interval
from runtime.processes.private_files import open_private

_WORD = re.compile(rf"[{HAN}]|[^\s{HAN}]+")
_REPLIES = {prompt.name: prompt.reply_type() for prompt in PROMPTS}


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one version made of a run: the text that a person sees, the fields of its replies in JSON, and what is counted."""

    version: str
    text: str
    fields: dict[str, list[Any]]
    counts: dict[str, float]


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A run under both versions. `input`: what the model was asked; empty where the whole pipeline was."""

    id: str
    question: str
    input: str = ""
    a: Side
    b: Side


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The means of a count under both versions, and that of the paired differences B - A."""

    a: float
    b: float
    difference: Interval


def side_of(story: RunStory, prompt: str = "") -> Side:
    """One side of a pair, by the replies to a prompt; by all replies, and the answer, where the whole pipeline was asked."""
    asks = sorted((ask for ask in story.asks if prompt in ("", ask.prompt)), key=lambda ask: ask.variables)
    counts: dict[str, float] = {
        "valid replies": fmean(not ask.failure and ask.text.strip() != "" for ask in asks) if asks else 1.0,
        "calls": sum(ask.calls for ask in asks if not ask.cached),
        "tokens in": sum(ask.tokens_in for ask in asks),
        "tokens out": sum(ask.tokens_out for ask in asks),
        "seconds": sum(ask.took_s for ask in asks),
    }
    text, fields = "\n\n".join(ask.failure or ask.text for ask in asks), dict[str, list[Any]]()
    record = record_of(story) if not prompt or prompt.startswith("answer_") else None
    if record is not None:
        text = record.answer or record.detail
        sentences = story.draft.sentences if story.draft else ()
        became = Counter("withheld" if one.withheld else standing(one.flags) for one in sentences)
        counts |= {
            "refused or closest": record.outcome != "answered",
            "citations": len({citation.n for citation in record.citations}),
            "words": len(_WORD.findall(text)) if record.outcome == "answered" else 0,
            **{f"sentences {each}": became[each] for each in ("verified", "unverified", "withheld")},
        }
    elif _REPLIES[prompt] is not str:
        for ask in asks:
            for name, value in ({} if ask.failure else msgspec.json.decode(ask.text)).items():
                fields.setdefault(name, []).append(value)
    side = Side(
        version=next((ask.version for ask in asks if prompt and ask.version), ""),
        text=text,
        fields=fields,
        counts=counts,
    )
    return masked(side) if any(question.masked for question in story.questions) else side


def differences(pairs: Sequence[Pair]) -> dict[str, Difference]:
    rows = {name: [(pair.a.counts[name], pair.b.counts[name]) for pair in pairs] for name in pairs[0].a.counts}
    return {
        name: Difference(
            a=fmean(a for a, _ in row), b=fmean(b for _, b in row), difference=interval([b - a for a, b in row])
        )
        for name, row in rows.items()
    }


def fields_differing(pairs: Iterable[Pair]) -> dict[str, tuple[int, int]]:
    """By field of the replies: in how many of how many pairs of valid replies the versions differ."""
    both = [(pair.a.fields, pair.b.fields) for pair in pairs if pair.a.fields and pair.b.fields]
    names = dict.fromkeys(name for a, b in both for name in (*a, *b))
    return {name: (sum(a.get(name) != b.get(name) for a, b in both), len(both)) for name in names}


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
