"""How a run ends: what becomes of a draft, with which citations, and how the client's stream is closed."""

from typing import Any

import msgspec
import pytest
from groundwire.wire import About, NearPassage

from actors.outcome.admissions import is_admission
from actors.outcome.private import private
from actors.settle_answer import settle_answer
from actors.stream_answer import stream_answer
from actors.stream_references import closing, stream_references, words_of
from bus.powers.events import Done, Error, Passages, References, TokensEnd, VerdictEvent
from bus.runs.citing import citations_of
from bus.wire.messages import AnswerSettled, AnswerVerified, RunFinished
from bus.wire.parts import Conflict, Constraints, Contradiction, Flag, Sentence
from bus.wire.settled import Settled
from index.languages import LANGUAGES
from prompts import notices
from prompts.vocabulary import RELEASES, STYLES, Release, Style
from tests.actors.scripted_powers import Screen
from tests.message_samples import ABOUT, CONFLICT, FEE, FLAG, SETTLED, WEAK, question, span

GOOD = Sentence(text="Refunds are paid within 14 days [1]. ")
MORE = Sentence(text="The fee of 3,000 won is not refunded [2]. ")
WEAKER = Sentence(text="It is quick [1]. ", flags=(WEAK,))
FOREIGN = Sentence(
    text="Ils sont rapides [1]. ",
    flags=(Flag(kind="wrong_language", strength="weak", words="", evidence_n=(), why=""),),
)
LIE = Sentence(text="They take 30 days [1]. ", flags=(FLAG,), withheld=True)
LIE2 = Sentence(text="They take 40 days [2]. ", flags=(FLAG,), withheld=True)
UNCITED = Sentence(text="Refunds are paid soon. ", flags=(WEAK,))
NOWHERE = Sentence(
    text="See [7]. ",
    flags=(Flag(kind="citation_out_of_range", strength="strong", words="[7]", evidence_n=(), why="cites 7"),),
    withheld=True,
)


def verified(*sentences: Sentence, release: Release = "sentence", **changes: object) -> AnswerVerified:
    """A draft after the verifier; under `sentence` everything not withheld was shown, under `token` everything."""
    asked = changes.pop("question", question(release=release))
    shown = "".join(s.text for s in sentences if release == "token" or (release == "sentence" and not s.withheld))
    fields: dict[str, object] = {
        "question": asked,
        "evidence": (span(), FEE),
        "conflicts": (),
        "sentences": sentences,
        "style": "simple",
        "shown": shown,
        "verified": True,
        "snapshot": "s1",
    }
    return AnswerVerified(**{**fields, **changes})  # type: ignore[arg-type]


def contradiction(kind: Any, severity: Any = "critical") -> Contradiction:
    return Contradiction(type=kind, severity=severity, claim="", evidence_ref="", explanation="")


async def settled(message: AnswerVerified) -> AnswerSettled:
    result = await settle_answer.handle(message, Screen())
    assert isinstance(result, AnswerSettled)
    return result


DOUBT = Flag(kind="unverified", strength="weak", words="quick", evidence_n=(), why="goes beyond")
QUICK = Sentence(text="They are quick [2]. ", flags=(DOUBT,))


def places(message: AnswerSettled) -> list[str]:
    settled = message.settled
    assert all(s.text == settled.answer[s.answer_start : s.answer_end] for s in settled.unverified or ())
    return [each.text for each in settled.unverified or ()]


@pytest.mark.parametrize(
    ("text", "admits"),
    [
        ("Nothing is stated for teachers.", True),
        ("The rules say nothing about teachers.", True),
        ("No penalty for missing them is stated.", True),
        ("Whether the day changed is not stated.", True),
        ("No other change is recorded.", True),
        ("Missing are the stated reason and the day.", True),
        ("The place is not kept.", False),
        ("The policy does not cover travel to Ireland.", False),
        ("No refund is given after 14 days.", False),
        ("Rien n'est indiqué pour les enseignants.", True),
        ("Le motif n'est pas précisé.", True),
        ("Le contrat ne prévoit pas de remboursement.", False),
        ("Las normas no mencionan ninguna excepción.", True),
        ("No consta el motivo.", True),
        ("El contrato no cubre el viaje.", False),
        ("교직원에 대해서는 나와 있지 않습니다.", True),
        ("환불은 되지 않습니다.", False),
        ("لا يُذكر شيء عن الأساتذة.", True),
        ("لا يسترد المبلغ.", False),
        ("规定里没有提到老师。", True),
        ("未满18岁不得进入。", False),
    ],
)
def test_a_sentence_about_what_is_not_said_is_an_admission(text: str, admits: bool) -> None:
    assert is_admission(text) is admits


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_own_words_for_no_certain_answer_are_an_admission(language: str) -> None:
    assert is_admission(notices.text("replies", "closest", language))


@pytest.mark.parametrize("release", RELEASES)
async def test_unverified_sentence_is_named_with_its_place(release: Release) -> None:
    found = await settled(verified(GOOD, QUICK, GOOD, release=release))
    assert places(found) == ["They are quick [2]."]
    assert found.settled.unverified
    assert found.settled.unverified[0].flags == (DOUBT,)
    assert (found.settled.confidence, found.settled.re_gate) == ("medium", "caution")
    assert closing(found.settled, ended=False)[0] == TokensEnd(unverified_at=((37, 56),))


async def test_draft_is_streamed_with_its_marks() -> None:
    screen = Screen()
    found = await settled(verified(GOOD, QUICK, release="draft"))
    await stream_answer.handle(found, screen)
    assert [screen.text_shown[slice(*each)] for each in screen.marked] == ["They are quick [2]."]


@pytest.mark.parametrize(
    ("sentences", "release", "outcome"),
    [((GOOD, QUICK), "draft", "answered"), ((QUICK,), "draft", "closest"), ((GOOD, QUICK), "token", "refused")],
)
async def test_strict_profile_shows_only_what_is_verified(
    sentences: tuple[Sentence, ...], release: Release, outcome: str
) -> None:
    strict = question(release=release, profile="myopia")
    found = await settled(verified(*sentences, release=release, question=strict))
    assert (found.settled.outcome, places(found)) == (outcome, [])
    assert found.settled.reason == (None if outcome == "answered" else "grounding_failed")
    assert found.retract == (release == "token")
    assert "quick" not in found.settled.answer


@pytest.mark.usefixtures("masking")
async def test_masking_moves_the_place_too() -> None:
    mail = Sentence(text="Write to ann@example.com [1]. ")
    doubted = Sentence(text="Or to bob@example.com [2]. ", flags=(DOUBT,))
    draft = await settled(verified(mail, doubted, mail, release="draft"))
    (place,) = private(draft.settled, shown_text="").unverified or ()
    masked = private(draft.settled, shown_text="").answer
    assert place.text == masked[place.answer_start : place.answer_end]
    assert place.text.startswith("Or to ")
    assert "bob@" not in place.text
    assert place.text.endswith("[2].")


@pytest.mark.parametrize(
    ("message", "outcome", "reason", "re_gate", "confidence"),
    [
        (verified(GOOD, MORE), "answered", None, "clean", "high"),
        (verified(GOOD, WEAKER), "answered", None, "caution", "medium"),
        (verified(FOREIGN), "answered", None, "caution", "low"),
        (verified(GOOD, MORE, FOREIGN), "answered", None, "caution", "medium"),
        (verified(GOOD, LIE), "answered", None, "low_confidence", "low"),
        (verified(GOOD, contradictions=(contradiction("nuance"),)), "answered", None, "clean", "high"),
        (verified(GOOD, contradictions=(contradiction("unsupported_claim"),)), "answered", None, "caution", "medium"),
        (verified(GOOD, contradictions=(contradiction("numeric_conflict"),)), "answered", None, "caution", "medium"),
        (verified(GOOD, contradictions=(contradiction("direct_negation"),)), "answered", None, "low_confidence", "low"),
        (verified(GOOD, LIE, LIE2), "refused", "grounding_failed", "refuse(grounding)", None),
        (verified(GOOD, LIE, contradictions=(contradiction("direct_negation"),)), "refused", "grounding_failed",
         "refuse(grounding+verifier)", None),
        (verified(GOOD, GOOD, GOOD, LIE, LIE2), "answered", None, "low_confidence", "low"),
        (verified(NOWHERE, NOWHERE), "closest", "citations_invalid", "refuse(grounding)", None),
        (verified(LIE), "closest", "grounding_failed", "low_confidence", None),
        (verified(UNCITED, shown=""), "closest", "citations_invalid", "caution", None),
        (verified(), "closest", "citations_invalid", "clean", None),
        (verified(refused=True, refuse_reason="too vague"), "closest", "model_refused", "refuse(model)", None),
        (verified(GOOD, MORE, release="draft"), "answered", None, "clean", "high"),
        (verified(GOOD, UNCITED, release="draft"), "answered", None, "caution", "medium"),
        (verified(UNCITED, release="draft"), "closest", "citations_invalid", "caution", None),
        (verified(GOOD, LIE, release="token"), "refused", "grounding_failed", "low_confidence", None),
        (verified(GOOD, NOWHERE, release="token"), "refused", "citations_invalid", "low_confidence", None),
        (verified(GOOD, WEAKER, release="token"), "answered", None, "caution", "medium"),
        (verified(GOOD, LIE, LIE2, release="token"), "refused", "grounding_failed", "refuse(grounding)", None),
    ],
)  # fmt: skip
async def test_what_becomes_of_a_draft(
    message: AnswerVerified, outcome: str, reason: str | None, re_gate: str, confidence: str | None
) -> None:
    result = (await settled(message)).settled
    assert (result.outcome, result.reason, result.re_gate, result.confidence) == (outcome, reason, re_gate, confidence)
    assert (result.language, result.profile, result.snapshot) == ("en", "general", "s1")
    assert bool(result.references) == (outcome == "answered")
    assert bool(result.passages) == (outcome == "closest")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("conflicts", "confidence"), [((), "high"), ((CONFLICT,), "medium")])
async def test_disagreement_prevents_high_confidence(
    style: Style, conflicts: tuple[Conflict, ...], confidence: str
) -> None:
    for release in RELEASES:
        message = verified(GOOD, MORE, release=release, style=style, conflicts=conflicts, confidence="high")
        assert (await settled(message)).settled.confidence == confidence
    low = verified(GOOD, style=style, conflicts=conflicts, confidence="low")
    assert (await settled(low)).settled.confidence == "low"


@pytest.mark.parametrize("release", ["sentence", "draft"])
async def test_answer_excludes_withheld_sentences(release: Release) -> None:
    result = (await settled(verified(GOOD, LIE, MORE, release=release))).settled
    assert result.answer.strip() == (GOOD.text + MORE.text).strip()
    assert [w.text for w in result.withheld] == [LIE.text]
    assert result.withheld[0].flags == (FLAG,)


async def test_late_refusal_withdraws_the_shown_text() -> None:
    result = await settled(verified(GOOD, LIE, LIE2))
    assert result.retract
    assert result.settled.answer == notices.text("replies", "withdrawn", "en")
    nothing_shown = await settled(verified(LIE, LIE2))
    assert not nothing_shown.retract
    assert nothing_shown.settled.answer.startswith(notices.reason_text("grounding_failed", "en"))


async def test_failed_draft_shows_its_evidence_as_passages() -> None:
    best = msgspec.structs.replace(FEE, score=0.9)
    result = (await settled(verified(LIE, LIE2, evidence=(span(), best), probability=0.25))).settled
    assert [(p.source_start, p.score) for p in result.passages] == [(147, 0.9), (100, 0.75)]
    assert result.withheld
    assert (result.probability, result.conflicts, result.references) == (0.25, (), ())


ELSEWHERE = question(text="Who painted the ceiling?", asked="Who painted the ceiling?", release="draft")


async def test_safe_reply_names_sources_if_nothing_is_near() -> None:
    unsourced = (await settled(verified(UNCITED, release="draft", question=ELSEWHERE))).settled
    assert (unsourced.outcome, unsourced.reason) == ("refused", "citations_invalid")
    assert "refunds.md" in unsourced.answer
    near = (await settled(verified(UNCITED, release="draft"))).settled
    assert near.answer == notices.closest(notices.safe_reply("en"), "en")


@pytest.mark.parametrize("release", ["sentence", "draft"])
async def test_admission_precedes_the_closest_passages(release: Release) -> None:
    admission = Sentence(text="The documents do not say how long this takes.")
    result = await settled(verified(admission, release=release))
    assert (result.settled.outcome, result.settled.reason) == ("closest", "no_evidence")
    assert result.settled.answer == notices.closest(admission.text, "en")
    assert result.settled.answer.startswith(result.shown)
    assert not result.retract


async def test_exercise_shows_no_passages() -> None:
    result = (await settled(verified(LIE, LIE2, question=question(style="hint", release="draft")))).settled
    assert (result.outcome, result.passages) == ("refused", ())


async def test_lead_is_recorded_despite_masking() -> None:
    lead = msgspec.structs.replace(span(text="Refunds take 14 days. Ask kim@example.org first."), lead=(100, 121))
    draft = verified(Sentence(text="Fourteen days [1]."), release="draft", evidence=(lead,))
    result = (await settled(draft)).settled
    assert [c.lead for c in result.citations] == [(100, 121)]
    assert [c.lead for r in result.references for c in r.cited] == [(100, 121)]
    hidden = private(result, shown_text="")
    assert [(c.lead, c.cited_text[:21]) for c in hidden.citations] == [((100, 121), "Refunds take 14 days.")]
    assert "kim@" not in str(hidden)
    plain = verified(GOOD, release="draft", evidence=(msgspec.structs.replace(span(), lead=(100, 146)),))
    assert [c.lead for r in (await settled(plain)).settled.references for c in r.cited] == [(100, 146)]


@pytest.mark.parametrize("must_cite", [True, False])
async def test_uncited_answer_is_accepted_only_by_request(must_cite: bool) -> None:
    asked = question(release="draft", constraints=Constraints(must_cite=must_cite))
    result = (await settled(verified(UNCITED, release="draft", question=asked))).settled
    assert result.outcome == ("closest" if must_cite else "answered")


@pytest.mark.parametrize(
    ("fields", "re_gate"),
    [({"numeric_promote": True}, "low_confidence"), ({}, "caution"), ({"profile": "myopia"}, "low_confidence")],
)
async def test_promoted_numeric_conflict_weighs_more(
    monkeypatch: pytest.MonkeyPatch, fields: dict[str, object], re_gate: str
) -> None:
    monkeypatch.setenv("VERIFIER_NUMERIC_PROMOTE", "0" if fields else "1")  # the message counts, not the shell
    message = verified(GOOD, contradictions=(contradiction("numeric_conflict"),), question=question(**fields))
    assert (await settled(message)).settled.re_gate == re_gate


@pytest.mark.parametrize(("events", "count"), [("default", 0), ("all", 1)])
async def test_verdict_event_needs_all_events(events: str, count: int) -> None:
    screen = Screen()
    await settle_answer.handle(verified(GOOD, question=question(events=events)), screen)
    assert screen.asides == [VerdictEvent(re_gate="clean", confidence="high", outcome="answered")] * count


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Paid [1].", [(1, "[1]")]),
        ("Paid [1][2].", [(1, "[1]"), (2, "[2]")]),
        ("Paid [1, 2].", [(1, "[1, 2]"), (2, "[1, 2]")]),
        ("Paid [1-2]. Again [1].", [(1, "[1-2]"), (2, "[1-2]"), (1, "[1]")]),
        ("환불【2】", [(2, "【2】")]),
        ("رد [١].", [(1, "[١]")]),
        ("Paid [9].", []),
        ("Paid.", []),
    ],
)
def test_every_marker_number_has_its_citation(answer: str, cited: list[tuple[int, str]]) -> None:
    found = citations_of(answer, (span(), FEE))
    assert [(c.n, answer[c.answer_start : c.answer_end]) for c in found] == cited
    assert all(c.cited_text == (span(), FEE)[c.n - 1].text for c in found)


async def test_references_are_cited_sources_in_order() -> None:
    evidence = (span(), FEE, span(3, "Opens at nine.", source_id="opening.md", title="Opening", score=0.1))
    draft = verified(Sentence(text="Nine [3]. Fourteen [1]. A fee [2]."), release="draft", evidence=evidence)
    result = (await settled(draft)).settled
    assert [(r.source_id, r.score) for r in result.references] == [("opening.md", 0.1), ("refunds.md", 0.75)]


async def test_citations_and_references_carry_source_metadata() -> None:
    evidence = (span(), span(2, "Opens at nine.", source_id="opening.md", title="Opening", about=About()))
    draft = verified(Sentence(text="Fourteen [1]. Nine [2]."), release="draft", evidence=evidence)
    result = (await settled(draft)).settled
    assert [c.about for c in result.citations] == [r.about for r in result.references] == [ABOUT, None]
    assert msgspec.json.decode(msgspec.json.encode(result.references[1])).keys() == {
        "source_id", "title", "url", "score", "n", "cited",
    }  # fmt: skip


async def test_sources_outside_the_text_count_if_they_exist() -> None:
    draft = verified(UNCITED, release="draft", cited=("refunds.md", "nowhere.md"))
    assert [r.source_id for r in (await settled(draft)).settled.references] == ["refunds.md"]


@pytest.mark.parametrize(
    ("text", "limit", "cited"),
    [
        ((GOOD, MORE), None, ["refunds.md", "fees.md"]),
        ((GOOD, MORE), 4, ["refunds.md"]),
        ((GOOD,), None, ["refunds.md"]),
    ],
)
async def test_references_are_what_the_text_cites(
    text: tuple[Sentence, ...], limit: int | None, cited: list[str]
) -> None:
    """Not what a model lists beside it, nor the sources of sentences that were cut."""
    asked = question(release="draft", constraints=Constraints(max_tokens=limit))
    fees = msgspec.structs.replace(FEE, source_id="fees.md")
    draft = verified(*text, question=asked, release="draft", evidence=(span(), fees), cited=("refunds.md", "fees.md"))
    assert [r.source_id for r in (await settled(draft)).settled.references] == cited


async def test_strict_profile_names_the_missing_citation() -> None:
    why = Flag(kind="uncited", strength="weak", words="soon", evidence_n=(), why="cites nothing")
    bare = Sentence(text="Refunds are paid soon.", flags=(why,))
    strict = question(release="draft", profile="myopia")
    for one in (bare, NOWHERE):
        assert (await settled(verified(one, question=strict, release="draft"))).settled.reason == "citations_invalid"


@pytest.mark.parametrize("profile", ["tutor", "myopia"])
async def test_strict_profile_shows_no_other_language(profile: str) -> None:
    tutor = question(release="draft", profile=profile)
    both = (await settled(verified(GOOD, FOREIGN, question=tutor, release="draft"))).settled
    assert (both.outcome, both.answer) == ("answered", GOOD.text.strip())
    assert [each.text for each in both.withheld] == [FOREIGN.text]
    alone = (await settled(verified(FOREIGN, question=tutor, release="draft"))).settled
    assert (alone.outcome, alone.reason) == ("closest", "no_evidence")


# ---------------------------------------------------------------- the end of the stream


NEAR = NearPassage(
    source_id="refunds.md", title="Refunds", url="", page=None, source_start=0, source_end=7, text="Refunds", marked=((0, 7),),
    score=0.5,
)  # fmt: skip
CLOSEST = Settled(
    outcome="closest", reason="no_evidence", answer="These come closest:", language="en", passages=(NEAR,)
)
REFUSED = Settled(outcome="refused", reason="no_results", answer="Nothing was found.", language="en")
FAILED = Settled(outcome="failed", reason="timeout", language="ko")


@pytest.mark.parametrize(
    ("message", "before", "shown", "events"),
    [
        (AnswerSettled(settled=SETTLED), "", SETTLED.answer, []),
        (AnswerSettled(settled=SETTLED, shown="Refunds are"), "Refunds are", SETTLED.answer, []),
        (AnswerSettled(settled=SETTLED, shown=SETTLED.answer), SETTLED.answer, SETTLED.answer, []),
        (AnswerSettled(settled=REFUSED), "", REFUSED.answer, []),
        (AnswerSettled(settled=CLOSEST), "", CLOSEST.answer, []),
        (AnswerSettled(settled=CLOSEST, shown="These"), "These", CLOSEST.answer, []),
        (AnswerSettled(settled=FAILED), "Refunds", "Refunds", []),
        (AnswerSettled(settled=REFUSED, shown="Refunds", retract=True), "Refunds", "Refunds", [Error]),
    ],
)
async def test_unseen_part_is_shown(message: AnswerSettled, before: str, shown: str, events: list[type]) -> None:
    screen = Screen(before=before)
    result = await stream_answer.handle(message, screen)
    assert result == RunFinished(settled=message.settled)
    assert screen.text_shown == shown
    assert [type(event) for event in screen.seen] == events


async def test_second_delivery_repeats_nothing() -> None:
    screen = Screen()
    for _ in range(2):
        await stream_answer.handle(AnswerSettled(settled=SETTLED), screen)
        await stream_references.handle(RunFinished(settled=SETTLED), screen)
    assert screen.text_shown == SETTLED.answer
    assert [type(event) for event in screen.seen] == [TokensEnd, References, Done]


async def test_withdrawn_answer_ends_with_the_error() -> None:
    screen = Screen(before="Refunds")
    await stream_answer.handle(AnswerSettled(settled=REFUSED, shown="Refunds", retract=True), screen)
    await stream_references.handle(RunFinished(settled=REFUSED), screen)
    assert [type(event) for event in screen.seen] == [Error, Done]


@pytest.mark.parametrize(
    ("end", "ended", "events"),
    [
        (SETTLED, False, [TokensEnd, References, Done]),
        (SETTLED, True, [References, Done]),
        (msgspec.structs.replace(SETTLED, references=()), True, [Done]),
        (CLOSEST, False, [TokensEnd, Passages, Done]),
        (CLOSEST, True, [Passages, Done]),
        (REFUSED, True, [Done]),
        (REFUSED, False, [TokensEnd, Done]),
        (msgspec.structs.replace(SETTLED, outcome="declined"), True, [Done]),
        (FAILED, False, [Error, Done]),
        (FAILED, True, [Error, Done]),
        (Settled(outcome="cancelled"), False, [Error, Done]),
    ],
)
def test_stream_closes_by_its_outcome(end: Settled, ended: bool, events: list[type]) -> None:
    assert [type(event) for event in closing(end, ended=ended)] == events


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (FAILED, "timeout", notices.reason_text("timeout", "ko")),
        (Settled(outcome="failed"), "internal", notices.text("replies", "failed", "en")),
        (
            Settled(outcome="failed", question="환불은 며칠 안에 받을 수 있나요?"),
            "internal",
            notices.text("replies", "failed", "ko"),
        ),
        (Settled(outcome="cancelled", language="fr"), "cancelled", notices.text("replies", "cancelled", "fr")),
    ],
)
def test_an_error_speaks_the_persons_language(end: Settled, code: str, words: str) -> None:
    (error, done) = closing(end, ended=False)
    assert error == Error(code=code, content=words)
    assert done == Done()
    assert words_of(end) == words


async def test_citation_has_its_position() -> None:
    where = {"block": "table_row", "anchor": "Fees!A2:B2", "intro": "Fees by plan:", "headings": ("Shop", "Fees")}
    message = await settled(verified(GOOD, MORE, GOOD, evidence=(span(**where), FEE)))
    one, fee, again = message.settled.citations
    assert (one.block, one.anchor, one.intro, one.headings) == tuple(where.values())
    assert (one.n, again.n, fee.block) == (1, 1, "list_item")
    (reference,) = message.settled.references
    assert reference.n == (1, 2)
    assert [(c.n, c.cited_text, c.block, c.headings) for c in reference.cited] == [
        (1, one.cited_text, "table_row", ("Shop", "Fees")),
        (2, fee.cited_text, "list_item", ("Shop", "Refunds")),
    ]
