"""An answer with markers for several places of two sources, as from the pipeline: for tests of other protocols' citations."""

from groundwire.wire import CitedPlace, Reference

from bus.powers.events import Error
from bus.wire.parts import Flag
from bus.wire.settled import UnverifiedSentence
from tests.runtime.edge.conftest import ends, plays

#: The first character is of several code points, and outside the basic plane.
SHOWN = "👩‍🎓 Refunds take 14 days [1]. The shop opens at nine [2, 3], and `a[1]` is code [1]."


def place(n: int, url: str, start: int, text: str = "what it cites", page: int | None = None) -> CitedPlace:
    return CitedPlace(n=n, url=url, page=page, source_start=start, source_end=start + len(text), cited_text=text)


def reference(source_id: str, title: str, url: str, *cited: CitedPlace) -> Reference:
    return Reference(
        source_id=source_id, title=title, url=url, score=0.5, n=tuple(place.n for place in cited), cited=cited
    )


_REFUNDS, _OPENING = "https://example.org/refunds", "/sources/shop/opening.md"
CITED = (
    reference("refunds", "환불 규정", _REFUNDS, place(1, f"{_REFUNDS}#terms", 0), place(3, "", 9)),
    reference("shop/opening.md", "", _OPENING, place(2, f"{_OPENING}?start=5&end=20", 5)),
)


#: The second of these sentences goes beyond its source.
DOUBTED = "👩‍🎓 Refunds take 14 days [1]. They are quick [1]. Ask the shop."
UNVERIFIED = UnverifiedSentence(
    text="They are quick [1].",
    answer_start=DOUBTED.index("They"),
    answer_end=DOUBTED.index(" Ask"),
    flags=(
        Flag(kind="low_overlap", strength="weak", words="quick", evidence_n=(1,), why="too little is in the evidence"),
    ),
)
#: Its place, in characters.
PLACE = (UNVERIFIED.answer_start, UNVERIFIED.answer_end)


#: An answer with an unverified sentence.
doubt = ends(
    outcome="answered",
    answer=DOUBTED,
    confidence="medium",
    re_gate="caution",
    references=CITED[:1],
    unverified=(UNVERIFIED,),
)
cite = plays(SHOWN, outcome="answered", answer=SHOWN, confidence="high", re_gate="clean", references=CITED)
FAILS = plays(
    "half",
    Error(code="model_unavailable", content="the model cannot be reached"),
    outcome="failed",
    reason="model_unavailable",
)
WITHDRAWN = plays(
    "Within 90 days.",
    Error(code="grounding_failed", content="It is withdrawn."),
    outcome="refused",
    reason="grounding_failed",
)
