"""Witnesses of a chaos run: the journal's content at any time, and the correctness of `/readyz`."""

import asyncio
import collections
import itertools
import time
from dataclasses import dataclass, field

import aiohttp
import msgspec

from bus.transport.connection import Client
from bus.transport.follow import follow
from bus.wire.subjects import RUNS, RUNS_SUBJECTS, BadId, parse
from tests.chaos.house import CANARY_S

#: How often readiness is looked at, and a lone question asked.
POLL_S, PROBE_S = 0.2, 0.5
#: The deadline of a single question, and the time added for a machine busy with the faults.
DEADLINE_S, SLACK_S = 4.0, 2.0
#: Readiness must react within this time: one canary that does not end, the next one, the pause between them, and slack.
TOLD_S = 2 * CANARY_S + 0.5 + SLACK_S


class Witness:
    """Follows the journal. `written`: how often each key was; `asked`: the text of each run's question."""

    def __init__(self) -> None:
        self.written: collections.Counter[str] = collections.Counter()
        self.asked: dict[str, str] = {}
        self.kinds: dict[str, set[str]] = collections.defaultdict(set)

    async def follow(self, client: Client) -> None:
        async for stored in follow(client, RUNS, RUNS_SUBJECTS, after=0):
            self.written[stored.subject] += 1
            try:
                key = parse(stored.subject)
            except BadId:
                continue
            self.kinds[key.run_id].add(key.type)
            if key.type == "question_asked":
                self.asked[key.run_id] = _text(stored.data)

    def open(self) -> list[str]:
        """The runs without an end."""
        return [run_id for run_id in self.asked if "run_finished" not in self.kinds[run_id]]


def _text(data: bytes) -> str:
    try:
        return str(msgspec.json.decode(data.split(b"\n")[0])["question"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, RecursionError):
        return ""


@dataclass(frozen=True)
class Look:
    """One observation of the stack, on the monotonic clock. `good`: ready, or answered in time; None: unknown (refused)."""

    began: float
    ended: float
    good: bool | None
    why: str = ""


@dataclass
class Readiness:
    """Looks at `/readyz`, and asks lone questions all the while."""

    http: aiohttp.ClientSession
    url: str
    polls: list[Look] = field(default_factory=list)
    probes: list[Look] = field(default_factory=list)

    async def poll(self) -> None:
        patience = aiohttp.ClientTimeout(total=2.0)
        while True:
            began = time.monotonic()
            try:
                async with self.http.get(f"{self.url}/readyz", timeout=patience) as response:
                    body = await response.json()
                    why = {
                        name: check["detail"] for name, check in body.get("checks", {}).items() if not check["ready"]
                    }
                    good = response.status == 200
            except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
                good, why = False, {"edge": type(error).__name__}
            self.polls.append(Look(began, time.monotonic(), good, str(why) if not good else ""))
            await asyncio.sleep(POLL_S)

    async def probe(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in itertools.count():
                group.create_task(self._ask(number))
                await asyncio.sleep(PROBE_S)

    async def _ask(self, number: int) -> None:
        began = time.monotonic()
        body = {"question": f"How many days until refunds are paid? (alone, {number})", "deadline_s": DEADLINE_S}
        patience = aiohttp.ClientTimeout(total=DEADLINE_S + SLACK_S)
        headers = {"Accept": "application/json"}
        good: bool | None
        try:
            async with self.http.post(f"{self.url}/v1/runs", json=body, headers=headers, timeout=patience) as response:
                said = await response.json(content_type=None)
                good = None if response.status == 429 else response.status == 200
                why = "" if good else f"{response.status} {said.get('reason') or said.get('detail')}"
        except (aiohttp.ClientError, ConnectionError, TimeoutError) as error:
            good, why = False, type(error).__name__
        self.probes.append(Look(began, time.monotonic(), good, why))

    def lies(self, origin: float) -> list[str]:
        """Where readiness was wrong, with times counted from `origin`.

        It may be late by TOLD_S. A question that fails is answered for when readiness was down at some time around it;
        where questions fail one after another it may not be up for longer; and it may not be down for longer while
        every question is answered. A refused question proves nothing, so that no stretch goes on across it.
        """
        found = []
        probes = sorted(self.probes, key=lambda p: p.began)
        for probe in probes:
            around = [p for p in self.polls if probe.began - TOLD_S <= p.ended and p.began <= probe.ended + TOLD_S]
            if probe.good is False and all(p.good for p in around):
                found.append(f"{probe.began - origin:.1f}: a question failed ({probe.why}), and readiness said nothing")
        for good, said in ((False, "ready"), (True, "not ready")):
            for same, group in itertools.groupby(probes, key=lambda p: p.good):
                if same is not good:
                    continue
                stretch = list(group)
                inside = [p for p in self.polls if stretch[0].began <= p.began and p.ended <= stretch[-1].began]
                for contrary, polls in itertools.groupby(inside, key=lambda p: p.good is not good):
                    wrong = list(polls)
                    if contrary and wrong[-1].ended - wrong[0].began > TOLD_S:
                        said_s = f"{wrong[0].began - origin:.1f} to {wrong[-1].ended - origin:.1f}: {said}"
                        why = {p.why for p in wrong} or {""}
                        found.append(
                            f"{said_s}, while questions {'are answered' if good else 'fail'} {sorted(why)[:3]}"
                        )
        return found
