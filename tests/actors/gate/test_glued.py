"""Numbers in names, in every script: COVID-19 is no amount, and COVID-18 is another name."""

import pytest

from actors.facts.numbers.glued import glued
from actors.gate.check import check_sentence
from index.languages.folding import normal
from prompts.contracts import Evidence


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("COVID-19, GPT-4 and IPv6", ["covid19", "gpt4", "ipv6"]),
        ("H1N1 and SARS-CoV-2", ["h1n1", "cov2"]),
        ("新冠COVID-19疫苗，于1830年", ["covid19"]),
        ("코로나19 백신은 최대35명, 오후3시, 약20명, 제5조", ["코로나19"]),
        ("كوفيد-19 في 5 أيام", ["كوفيد19"]),
        ("mid-1990s, May-5, 5km, $5, US$5, 2nd, v3.2.1", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert [one.name for one in glued(normal(text))] == names


@pytest.mark.parametrize(
    ("text", "sentence", "wrong"),
    [
        ("The new coronavirus spreads by air.", "COVID-19 spreads by air [1].", None),
        ("COVID-19 spreads by air.", "COVID-19 spreads by air, mostly [1].", None),
        ("COVID-19 spreads by air.", "COVID-18 spreads by air [1].", "COVID-19"),
        ("코로나바이러스 백신은 중증을 줄인다.", "코로나19 백신은 중증을 줄인다 [1].", None),
        ("코로나19 백신은 중증을 줄인다.", "코로나18 백신은 중증을 줄인다 [1].", "코로나19"),
        ("新冠肺炎疫苗可以减少重症。", "COVID-19疫苗可以减少重症[1]。", None),
        ("COVID-19疫苗可以减少重症。", "COVID-18疫苗可以减少重症[1]。", "covid19"),
        ("Les vaccins contre le covid sont sûrs.", "Les vaccins contre la COVID-19 sont sûrs [1].", None),
        ("Les vaccins contre la COVID-19 sont sûrs.", "Les vaccins contre la COVID-18 sont sûrs [1].", "covid19"),
        ("Las vacunas contra el covid son seguras.", "Las vacunas contra la COVID-19 son seguras [1].", None),
        ("Las vacunas contra la COVID-19 son seguras.", "Las vacunas contra la COVID-18 son seguras [1].", "covid19"),
        ("لقاحات كورونا آمنة تماما.", "لقاحات كوفيد-19 آمنة تماما [1].", None),
        ("لقاحات كوفيد-19 آمنة تماما.", "لقاحات كوفيد-18 آمنة تماما [1].", "كوفيد19"),
        ("GPT-4 is a model.", "GPT4 is a model [1].", None),
        ("The router speaks IPv4 and IPv6.", "The router speaks IPv6 [1].", None),
        ("Python 3 runs it.", "Python3 runs it [1].", None),
        ("Python 3 runs it.", "Python2 runs it [1].", "python3"),
        ("H1N1 is a virus.", "H5N1 is a virus [1].", "h1n1"),
        ("The road is 5km long.", "The road is 6km long [1].", "5"),
    ],
)
def test_a_name_with_another_number(text: str, sentence: str, wrong: str | None) -> None:
    flags = check_sentence(sentence, [Evidence(n=1, source_id="a", title="", text=text)])
    found = [one.why for one in flags if one.kind == "fabricated_number"]
    assert len(found) == (wrong is not None)
    assert wrong is None or normal(wrong).replace("-", "") in found[0]
