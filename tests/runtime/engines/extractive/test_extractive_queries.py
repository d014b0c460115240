"""Simple and complex questions, and their parts as statements."""

import pytest

from prompts.contracts import ClassifyQuery, DecomposeQuery
from runtime.engines.extractive.queries import classify_query, clauses, decompose_query, statement


@pytest.mark.parametrize(
    ("question", "query_type"),
    [
        ("When is the refund paid?", "simple"),
        ("How long is the warranty, in years?", "simple"),
        ("If I lose my card, what must I do?", "simple"),
        ("When is the refund paid and what is needed for it?", "complex"),
        ("What is the fee? Who pays it?", "complex"),
        ("Compare the bus and the train.", "complex"),
        ("환불은 언제 되나요?", "simple"),
        ("비가 오면, 행사는 어떻게 되나요?", "simple"),
        ("환불은 언제 되고, 배송비는 얼마인가요?", "complex"),
        ("A형과 B형의 차이는 무엇인가요?", "complex"),
        ("退款需要几天？", "simple"),
        ("如果下雨，活动怎么办？", "simple"),
        ("退款需要几天，运费是多少？", "complex"),
        ("甲型和乙型有什么区别？", "complex"),
        ("Quel est le délai ?", "simple"),
        ("Quel est le délai et combien cela coûte-t-il ?", "complex"),
        ("متى تبدأ الدروس؟", "simple"),
        ("متى تبدأ الدروس وكم الرسوم؟", "complex"),
        ("ما الفرق بين القرض والمنحة؟", "complex"),
        ("8岁孩子近视200度，应该怎么控制？", "complex"),
        ("孩子不肯吃饭怎么办？", "complex"),
        ("怎样缓解晕车？", "complex"),
        ("鸡蛋应该煮熟还是半熟？", "complex"),
        ("哪个窗口可以退票？", "simple"),
        ("行李箱丢了的话怎么办？", "simple"),
        ("该不该给孩子用阿托品？", "complex"),
        ("角膜塑形镜的适应症、禁忌症和护理方法", "complex"),
        ("视力筛查的流程是什么？", "complex"),
        ("阿托品的浓度是多少？", "simple"),
        ("Should I take the exam in June?", "complex"),
        ("When should I hand in the essay?", "simple"),
        ("Dois-je passer l'examen en juin ?", "complex"),
        ("Quand dois-je rendre le devoir ?", "simple"),
        ("¿Cuáles son los pasos de la matrícula?", "complex"),
        ("ما خطوات التسجيل؟", "complex"),
        ("환불 절차가 어떻게 되나요?", "complex"),
    ],
)
def test_simple_and_complex(question: str, query_type: str) -> None:
    assert classify_query(ClassifyQuery(original_query=question, language="en")).query_type == query_type


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When is it paid, and what is needed?", ["When is it paid", "what is needed?"]),
        ("If it rains, what must I wear, and who pays?", ["If it rains, what must I wear", "who pays?"]),
        ("The lift broke. Who pays?", ["The lift broke. Who pays?"]),
        ("退款需要几天，运费是多少？", ["退款需要几天", "运费是多少？"]),
        ("Opening hours", ["Opening hours"]),
        ("Which ferry, originally Danish, was sold?", ["Which ferry", "originally Danish, was sold?"]),  # not ", or"
    ],
)
def test_conditions_stay_with_their_question(question: str, parts: list[str]) -> None:
    assert clauses(question) == parts


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What is the refund period?", "the refund period"),
        ("How many days does the refund take?", "days does the refund take"),
        ("Quel est le délai de remboursement ?", "le délai de remboursement"),
        ("환불 기간은 얼마인가요?", "환불 기간"),
        ("近视的症状是什么？", "近视的症状"),
        ("ما هي شروط التسجيل؟", "شروط التسجيل"),
        ("Who?", "Who"),
    ],
)
def test_a_statement_asks_nothing(question: str, phrase: str) -> None:
    assert statement(question) == phrase


def test_lanes_are_numbered_and_independent() -> None:
    subs = decompose_query(
        DecomposeQuery(original_query="What is the Norwick ferry, and how much does it carry?", language="en")
    ).sub_queries
    assert [sub.id for sub in subs] == ["sq_1", "sq_2"]
    assert "Norwick ferry" in subs[1].statement
    assert not any(sub.statement.endswith("?") for sub in subs)


def test_simple_question_has_two_lanes_others_five() -> None:
    question = " ".join(f"What is the height of tower number {k}?" for k in range(8))
    assert len(decompose_query(DecomposeQuery(original_query=question, language="en")).sub_queries) == 5
    simple = DecomposeQuery(original_query=question, language="en", query_type="simple")
    assert len(decompose_query(simple).sub_queries) == 2


def test_each_facet_is_searched_for() -> None:
    asked = DecomposeQuery(original_query="角膜塑形镜的适应症、禁忌症和护理方法", language="zh")
    found = [sub.statement for sub in decompose_query(asked).sub_queries]
    assert found[:3] == ["角膜塑形镜适应症", "角膜塑形镜禁忌症", "角膜塑形镜护理方法"]
