"""An answer with markers for several places of two sources, as from the pipeline: for tests of other protocols' citations."""

from groundwire.wire import CitedPlace, Reference

from bus.powers.events import Error
from bus.wire.parts import Flag
from bus.wire.settled import UnverifiedSentence
from tests.runtime.edge.conftest import ends, plays

#: The first character is of several code points, and outside the basic plane.
SHOWN = "👩‍🎓 Refunds take 14 days [1]. The shop opens at nine [2, 3], and `a[1]` is code [1]."


def _place(n: int, url: str, start: int, end: int) -> CitedPlace:
    return CitedPlace(n=n, url=url, page=None, source_start=start, source_end=end, cited_text=f"what {n} cites")


CITED = (
    Reference(
        source_id="refunds",
        title="환불 규정",
        url="https://example.org/refunds",
        score=0.5,
        n=(1, 3),
        cited=(_place(1, "https://example.org/refunds#terms", 0, 4), _place(3, "", 9, 12)),
    ),
    Reference(
        source_id="shop/opening.md",
        title="",
        url="/sources/shop/opening.md",
        score=0.25,
        n=(2,),
        cited=(_place(2, "/sources/shop/opening.md?start=5&end=20", 5, 20),),
    ),
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
