"""The body of the power `ask`: sends the prompt, checks the reply and records both, for every engine."""

import contextlib
import hashlib
import time
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field

import msgspec

from bus.journal.records import AskRecord
from bus.powers.asking import Answer, AskRequest
from bus.powers.protocols import Variables
from bus.wire.errors import BadReply, Failure, NoReply
from prompts.vocabulary import Priority

#: How a reply ended when its reader stopped early.
STOPPED = "stopped"


def digest(data: bytes) -> str:
    """A digest that identifies the variables of a recorded ask."""
    return hashlib.blake2b(data, digest_size=10).hexdigest()


@dataclass(slots=True)
class Asker:
    """`ask` for one delivery. `records` are the replies in the order of the asks; `deadline` is in epoch seconds, `began`, when
    the stage began, on the monotonic clock.
    """

    answer: Answer
    run_id: str
    actor: str
    deadline: float
    priority: Priority = "judge"
    allowed: tuple[str, ...] = ()
    profile: str = ""
    began: float = field(default_factory=time.monotonic)
    records: list[AskRecord] = field(default_factory=list)
    cut_off: bool = False

    async def __call__[Reply](self, variables: Variables[Reply]) -> Reply:
        place = self._reserve(variables)
        async for _ in self._exchange(place, variables):
            pass
        record, reply = self.records[place], variables.reply_type()
        try:
            return msgspec.convert(record.text, reply) if reply is str else msgspec.json.decode(record.text, type=reply)
        except msgspec.DecodeError as error:
            bad = BadReply(f"{variables.name}: the reply is not in the prompt's schema ({error})")
            self.records[place] = msgspec.structs.replace(record, failure=str(bad))
            raise bad from None

    async def stream(
        self, variables: Variables[str], *, already_shown: str = "", max_tokens: int = 0
    ) -> AsyncIterator[str]:
        place = self._reserve(variables)
        exchange = self._exchange(place, variables, pieces=True, already_shown=already_shown, max_tokens=max_tokens)
        async with contextlib.aclosing(exchange) as pieces:
            async for piece in pieces:
                yield piece
        self.cut_off = self.records[place].finish_reason == "length"

    def _reserve[Reply](self, variables: Variables[Reply]) -> int:
        if self.allowed and variables.name not in self.allowed:
            raise TypeError(f"actor {self.actor} asks {variables.name} but declares only {', '.join(self.allowed)}")
        self.records.append(AskRecord(prompt=variables.name, variables="", text=""))
        return len(self.records) - 1

    async def _exchange[Reply](
        self,
        place: int,
        variables: Variables[Reply],
        *,
        pieces: bool = False,
        already_shown: str = "",
        max_tokens: int = 0,
    ) -> AsyncGenerator[str]:
        """Ask, yield new text as it comes, and keep the record: of the part that came, when the reader stops."""
        raw = msgspec.json.encode(variables)
        key, began, shown = digest(raw), time.monotonic(), already_shown
        request = AskRequest(
            prompt=variables.name,
            variables=msgspec.Raw(raw),
            run_id=self.run_id,
            actor=self.actor,
            priority=self.priority,
            deadline=self.deadline,
            pieces=pieces,
            already_shown=already_shown,
            profile=self.profile,
            max_tokens=max_tokens,
        )
        answer, done = self.answer(request), False
        try:
            # To its end: of a generator that is left before, asyncio makes a task to close it.
            async for part in answer:
                if isinstance(part, str):
                    shown += part
                    yield part
                    continue
                record = part if part.variables else self._completed(part, key, already_shown, began)
                self.records[place] = record
                if pieces and record.said.startswith(shown) and len(record.said) > len(shown):
                    yield record.said[len(shown) :]
                done = True
        except Failure as failure:
            if done:  # the engine failed to clean up behind a whole reply
                return
            now = time.monotonic()
            self.records[place] = AskRecord(
                prompt=variables.name,
                variables=key,
                text="",
                failure=str(failure),
                calls=failure.calls,
                began_s=round(began - self.began, 6),
                took_s=round(now - began, 6),
            )
            raise
        except GeneratorExit:
            if isinstance(answer, AsyncGenerator):
                await answer.aclose()
            said = AskRecord(prompt=variables.name, variables="", text=shown, finish_reason=STOPPED)
            self.records[place] = self._completed(said, key, already_shown, began)
            raise
        if not done:
            raise NoReply(f"{variables.name}: the engine ended without a reply")

    def _completed(self, record: AskRecord, key: str, already_shown: str, began: float) -> AskRecord:
        """A device's record, completed with what only the asking side knows; a record from a trace is complete already."""
        return msgspec.structs.replace(
            record,
            variables=key,
            already_shown=record.already_shown or already_shown,
            began_s=round(began - self.began, 6),
            took_s=round(time.monotonic() - began, 6),
        )
