"""Documents full of personal data, asked about under a profile that masks: no way out shows any of it, in any language."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import msgspec
import pytest
from click.testing import CliRunner
from groundwire.wire import About
from rich.console import Console

from actors.outcome.private import private
from actors.question.profile import PROFILES
from bus.journal.journal import Journal
from bus.powers.searching import SearchReply, SearchRequest
from bus.wire.messages import QuestionAsked
from bus.wire.parts import Conflict, Flag, Passage
from bus.wire.settled import Settled, WithheldSentence
from index.languages import LANGUAGES
from index.masking import MASK
from runtime.cli import groundwire
from runtime.commands import answer_shown
from runtime.commands.answer_shown import OverBus
from runtime.commands.run_text import lines_of
from runtime.engines.extractive.engine import ExtractiveEngine
from runtime.replay.explained import explained
from runtime.replay.journal_traces import read_run
from runtime.replay.trace import Trace, dump, masked_trace, write
from runtime.settings import EdgeSettings, Settings
from tests.runtime.edge.conftest import citation
from tests.runtime.served import open_edge
from tests.whole import Whole, whole

#: By language: a question, and the document that answers it.
DESKS = {
    "ko": (
        "환불 담당자의 전화번호는 무엇인가요?",
        "환불 담당자의 전화번호는 010-2345-6789이고 메일은 minsu.kim＠shop．example입니다. "
        "환불 담당자의 주민등록번호는 ９００１０１－１２３４５６７, 여권번호는 M12345678, 계좌는 국민은행 123-45-678901입니다.",
    ),
    "en": (
        "What is the phone number of the refund desk?",
        "The phone number of the refund desk is 212-555-0147 and its mail minsu.kim @ shop . example. "
        "The refund desk pays from account number 1234567890, card 4111/1111/1111/1111, passport M12345678.",
    ),
    "zh": (
        "退款专员的电话是多少？",
        "退款专员的电话是13812345678，邮箱minsu.kim@shop.example。退款专员的身份证号是11010519491231002X，护照号E12345678。",
    ),
    "fr": (
        "Quel est le numéro de téléphone du service des remboursements ?",
        "Le numéro de téléphone du service des remboursements est le 06 12 34 56 78, ou minsu.kim (arobase) shop.example. "
        "Le service des remboursements paie par virement depuis FR76 3000 6000 0112 3456 7890 189, passeport 12AB34567.",
    ),
    "ar": (
        "ما رقم هاتف قسم استرداد الأموال؟",
        "رقم هاتف قسم استرداد الأموال هو ٠٥٠-١٢٣-٤٥٦٧ والبريد minsu.kim@shop.example. رقم جواز السفر A12345678.",
    ),
    "es": (
        "¿Cuál es el teléfono de la oficina de reembolsos?",
        "El teléfono de la oficina de reembolsos es 612 34 56 78 y su correo minsu.kim [at] shop.example. "
        "El DNI de la oficina de reembolsos es 12345678Z y la cuenta 2100-0418-45-0200051332.",
    ),
}
#: What may be seen nowhere: parts of the above, and of what the documents are called.
RAW = (
    "minsu.kim", "2345-6789", "900101-", "９００１０１", "M12345678", "45-678901",
    "212-555", "1234567890", "4111/1111/1111", "13812345678", "1101051949", "E12345678", "06 12 34",
    "3000 6000", "12AB34567", "١٢٣-٤٥٦٧", "A12345678", "612 34", "12345678Z", "0418-45", "031-765-4321", "ann.lee",
)  # fmt: skip


async def find(request: SearchRequest) -> SearchReply:
    _, text = DESKS[request.language]
    found = Passage(
        source_id="desks/ann.lee@shop.example.md",
        title="ann.lee@shop.example, 031-765-4321",
        url="https://shop.example/desks/031-765-4321?to=ann.lee%40shop.example",
        score=0.9,
        score_type="share",
        text=text,
        char_start=0,
        char_end=len(text),
        language=request.language,
        snapshot="20260101-abc",
        headings=("ann.lee@shop.example",),
        about=About(author="Ann <ann.lee@shop.example>"),
        coverage=1.0,
        cosine=0.9,
    )
    return SearchReply(passages=(found,), snapshot="20260101-abc")


@pytest.fixture
async def house(tmp_path_factory: pytest.TempPathFactory, masking: Path) -> AsyncIterator[Whole]:
    async with whole(tmp_path_factory.mktemp("masked"), ExtractiveEngine(), find=find) as made:
        yield made


def raw_in(text: str) -> list[str]:
    return [value for value in RAW if value in text]


def asked(language: str, **fields: object) -> QuestionAsked:
    question = f"{DESKS[language][0]} (010-2345-6789)"
    return msgspec.convert(
        {"question": question, "language": language, "deadline_s": 60.0, "events": "all", **fields}, QuestionAsked
    )


@pytest.mark.parametrize("release", ["sentence", "draft", "token"])
@pytest.mark.parametrize("language", LANGUAGES)
async def test_events_record_and_traces_are_masked(house: Whole, language: str, release: str) -> None:
    submitted = await house.runs.submit(asked(language, release=release))
    lines = [line.decode() async for _, line in house.runs.events(submitted.run_id)]
    assert raw_in("\n".join(lines)) == []
    record = await house.runs.record(submitted.run_id)
    assert record is not None
    assert record.outcome in ("answered", "closest")
    assert raw_in(msgspec.json.encode(record).decode()) == []
    assert MASK in record.answer + "".join(passage.text for passage in record.passages)
    told = "".join(event["content"] for event in map(msgspec.json.decode, lines) if event["type"] == "token")
    assert told == record.answer
    text = DESKS[language][1]
    for each in record.citations:  # as long as what they hide, so that every offset still points to its place
        assert len(each.cited_text) == each.source_end - each.source_start
        assert same_but_masked(each.cited_text, text[each.source_start : each.source_end])
        assert record.answer[each.answer_start : each.answer_end].strip("[]").isdigit()
    trace = await read_run(house.journal, submitted.run_id)
    shown = masked_trace(trace)
    assert raw_in(printed(shown)) == []
    assert raw_in(b"\n".join(dump(shown)).decode()) == []
    assert raw_in(b"\n".join(dump(trace)).decode()) != []  # a replay needs what was there


def same_but_masked(shown: str, text: str) -> bool:
    return all(one in (other, MASK) for one, other in zip(shown, text, strict=True))


def printed(trace: Trace) -> str:
    return "\n".join(line for _, line in lines_of(trace, explained(trace), wide=True))


async def test_the_terminal_shows_nothing_personal(house: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    for language in LANGUAGES:
        await answer_shown.show(
            OverBus(house.runs, asked(language, events="default")), console=Console(stderr=True), timings=True
        )
    shown = capsys.readouterr()
    assert MASK in shown.out
    assert raw_in(shown.out + shown.err) == []


def door(house: Whole, state: Path) -> contextlib.AbstractAsyncContextManager[str]:
    bus = house.users.bus(house.worker.settings, "edge")
    return open_edge(
        Settings(bus=bus, edge=EdgeSettings(port=0), state=str(state), profiles=str(PROFILES.folder or ""))
    )


async def test_http_and_openai_clients_see_masked_text(house: Whole, tmp_path: Path) -> None:
    async with door(house, tmp_path) as address, aiohttp.ClientSession(address) as session:
        for language in LANGUAGES:
            question = DESKS[language][0]
            body = {"model": "general", "messages": [{"role": "user", "content": question}], "language": language}
            for more in ({}, {"stream": True}):
                async with session.post("/v1/chat/completions", json=body | more) as response:
                    assert response.status == 200
                    assert raw_in(await response.text()) == []
            parts = [{"type": "text", "text": question}]
            chat = {"id": language, "messages": [{"role": "user", "parts": parts}], "language": language}
            async with session.post("/api/chat", json=chat) as response:
                text = await response.text()
            assert (text.count('"source-url"') > 0, raw_in(text)) == (True, [])
            async with session.post(
                "/v1/runs", json={"question": question, "language": language}, headers={"Accept": "application/json"}
            ) as response:
                assert raw_in(await response.text()) == []


async def test_trace_commands_mask_unless_raw(house: Whole, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write(path, await house.traced(asked("ko")))
    for more in ((), ("--raw",)):
        out = tmp_path / f"out{len(more)}.jsonl"
        shown = await asyncio.to_thread(CliRunner().invoke, groundwire, ("trace", "show", str(path), *more))
        kept = await asyncio.to_thread(
            CliRunner().invoke, groundwire, ("trace", "export", str(path), "--out", str(out), *more)
        )
        assert (shown.exit_code, kept.exit_code) == (0, 0), shown.output + kept.output
        for text in (shown.output.replace("\n", ""), out.read_text(encoding="utf-8")):
            assert (raw_in(text) != []) == bool(more)


def test_part_of_a_number_is_masked() -> None:
    text = "The desk has 010-2345-6789."
    cited = citation(1, text)
    conflict = Conflict(kind="value", subject="desk", first_n=1, second_n=1, first="2345", second="010-2345-6789")
    flag = Flag(kind="fabricated_number", strength="strong", words="2345", evidence_n=(1,), why="2345 is not in it")
    told = WithheldSentence(text=text, flags=(flag,))
    ended = Settled(outcome="answered", answer=text, citations=(cited,), conflicts=(conflict,), withheld=(told,))
    assert "2345" not in str(private(ended, shown_text=""))


async def test_a_cancelled_run_and_the_journal(house: Whole) -> None:
    """The question of a run that ended before any profile was read is masked too; the journal keeps what was asked."""
    submitted = await house.runs.submit(asked("ko"))
    await house.runs.cancel(submitted.run_id)
    record = await house.runs.record(submitted.run_id)
    assert record is not None
    assert raw_in(record.question) == []
    journal: Journal = house.journal
    assert "010-2345-6789" in (await journal.run(submitted.run_id))[0].data.decode()
