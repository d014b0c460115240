"""What the learned weights may never do, whatever they were fitted on."""

import pytest

from actors.gate.check import check_sentence
from actors.gate.flags import standing
from actors.gate.support import LEARNED, SHAPE, SIGNS, goes_beyond, signs
from index.text.sentences import split
from prompts.contracts import Evidence
from tests.actors.gate.test_gate import PASSAGES, evidence

FOREIGN = {
    "ko": "고래는 겨울마다 따뜻한 바다로 이동하며 노래를 부른다",
    "en": "Whales travel to warmer oceans every winter and sing there",
    "zh": "鲸鱼每年冬天游到温暖的海洋并在那里歌唱",
    "fr": "Les baleines gagnent chaque hiver des mers chaudes et y chantent",
    "es": "Las ballenas viajan cada invierno a mares cálidos y cantan allí",
    "ar": "تهاجر الحيتان كل شتاء إلى بحار دافئة وتغني هناك",
}


@pytest.mark.parametrize("language", PASSAGES)
def test_copies_are_verified(language: str) -> None:
    text = PASSAGES[language]
    for start, end in split(text):
        assert standing(check_sentence(f"{text[start:end].strip()} [1]", evidence(language))) == "verified"


@pytest.mark.parametrize("language", PASSAGES)
def test_foreign_text_is_not_verified(language: str) -> None:
    assert goes_beyond(FOREIGN[language], [PASSAGES[language]])
    assert standing(check_sentence(f"{FOREIGN[language]} [1].", evidence(language))) != "verified"


def test_no_sign_speaks_for_a_sentence() -> None:
    assert {*LEARNED.weights} <= {*SIGNS, *SHAPE}
    assert all(LEARNED.weights.get(name, 0) >= 0 for name in SIGNS)


@pytest.mark.parametrize("language", PASSAGES)
def test_less_evidence_never_verifies(language: str) -> None:
    whole = PASSAGES[language]
    sentences = [whole[start:end] for start, end in split(whole)]
    mixed = f"{sentences[0].strip(' .。')} {FOREIGN[language]}"
    full, half = (signs(mixed, [text]) for text in (whole, sentences[0]))
    assert all(half[name] >= full[name] for name in SIGNS)


def test_mark_names_what_is_missing() -> None:
    sentence = "The receipt is kept by members of the sailing club of Lisbon, who meet at the old lighthouse [1]."
    items = [Evidence(n=1, source_id="a", title="", text=PASSAGES["en"])]
    (found,) = [one for one in check_sentence(sentence, items) if one.kind == "unverified"]
    assert (found.strength, found.evidence_n) == ("weak", (1,))
    assert "sailing" in found.words
