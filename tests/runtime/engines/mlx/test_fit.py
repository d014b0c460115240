import pytest

from prompts import contracts as c
from runtime.engines.mlx.prepare import fit
from tests.runtime.engines.sample import RELEVANCE


def evidence(count):
    return tuple(c.Evidence(n=n, source_id=f"s{n}", title="", text="t") for n in range(1, count + 1))


def turns(count):
    return tuple(c.Turn(role="user", content=str(n)) for n in range(count))


def size(variables):
    fields = ("evidence", "contexts", "retrieved_chunks", "sub_query_analyses", "conversation_history")
    return sum(len(getattr(variables, name, ())) for name in fields)


REPORT = c.AnswerReport(original_query="q", sub_query_analyses=(RELEVANCE,) * 3, evidence=evidence(5), language="en")


@pytest.mark.parametrize(
    ("variables", "room", "said"),
    [
        (c.AnswerSynthesis(query="q", evidence=evidence(9), language="en"), 4, "evidence 4 of 9"),
        (c.AnswerSynthesis(query="q", evidence=evidence(9), language="en"), 8, "evidence 8 of 9"),
        (REPORT, 6, "evidence 3 of 5"),
        (REPORT, 2, "evidence 0 of 5, sub_query_analyses 2 of 3"),
        (
            c.RewriteQuery(current_query="q", conversation_history=turns(7), language="en"),
            2,
            "conversation_history 2 of 7",
        ),
    ],
)
def test_as_little_as_possible_is_cut(variables, room, said):
    shorter, what = fit(variables, lambda v: size(v) <= room)
    assert what == said
    assert size(shorter) == room


def test_evidence_loses_its_tail_and_history_its_oldest():
    shorter, _ = fit(c.AnswerSynthesis(query="q", evidence=evidence(5), language="en"), lambda v: size(v) <= 2)
    assert [e.n for e in shorter.evidence] == [1, 2]
    shorter, _ = fit(
        c.RewriteQuery(current_query="q", conversation_history=turns(5), language="en"), lambda v: size(v) <= 2
    )
    assert [t.content for t in shorter.conversation_history] == ["3", "4"]


def test_a_question_is_never_shortened():
    assert fit(c.ClassifyQuery(original_query="q" * 9999, language="en"), lambda v: False) is None
