"""The small parts by themselves: characters, codes, coverage, sketches, fusion, passages, stores."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import IndexProblem
from index.model import Block, Document, Passage, first_places
from index.readers.formats import TextBuilder, introduced
from index.search.fusion import Covers, mean_of_shares
from index.snapshot.prepared import hashes
from index.snapshot.segment import write_segment
from index.snapshot.store import PassageStore
from index.text.codes import code_words
from index.text.coverage import SLOTS, GramSet, cover, rarity, sets_of
from index.text.near_duplicates import Sketches, groups, sketches
from index.text.ngrams import encode_all
from index.text.passages import LIMIT, cut, language_of, weigh
from index.text.question_words import without_question_words

ANY_TEXT = st.text(alphabet=st.sampled_from("ab é1.\n|# 환불은 近视。المادة😀\u0301"), max_size=300)


def sketch(text: str) -> Sketches:
    row: Sketches = sketches((text,), encode_all((text,)), (0,))[0]
    return row


def hash_sets(text: str) -> tuple[GramSet, GramSet]:
    grams, phrases = sets_of(encode_all((text,)))
    return grams[0], phrases[0]


def decoded(text: str) -> str:
    return "".join(map(chr, encode_all((text,)).codes))


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("Hello,  WORLD!", " hello world "),
        ("ＩＳＯ　９００１", " iso 9001 "),
        ("الإِمْتِحَانُ", " الامتحان "),
        ("한국어\n문장", " 한국어 문장 "),
        ("", " "),
        ("...", " "),
        ("a😀b", " a😀b "),
    ],
)
def test_text_is_brought_to_one_form(text: str, normalised: str) -> None:
    assert decoded(text) == normalised


@given(ANY_TEXT)
def test_any_text_has_sets_and_sketches(text: str) -> None:
    codes = encode_all((text,)).codes
    assert codes[0] == codes[-1] == 32
    held = hash_sets(text)[0]
    assert list(held) == sorted(set(held.tolist()))
    assert sketch(text).shape == sketch("").shape


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ISO-9001", "iso 9001 and ISO9001", True),
        ("ISO-9001", "ISO-9002", False),
        ("제6장", "제 6 장", True),
        ("제6장", "제16장", False),
        ("제12조의2", "제12조", False),
        ("第十五条", "第15条", True),
        ("第一百二十条", "第120条", True),
        ("第二〇条", "第20条", True),
        ("Article 5", "articles 5", True),
        ("art. L. 123-4", "art. L123-4", True),
        ("المادة 15", "مادة ١٥", True),
        ("version 2.10.3", "2.10.3", True),
        ("uv --exclude-newer", "the option `--exclude-newer DATE`", True),
        ("--history-max", "--max", False),
        ("curl -Z", "curl -z", False),
        ("l'opérateur ?? en JavaScript", "# Nullish coalescing operator '??'", True),
        ("what is `?.`", "a ?. b", True),
        ("what?? no... -- | --- | = well-known", "**bold** ====", None),
        ("plain words only", "nothing here", None),
    ],
)
def test_codes_meet_however_they_are_written(one: str, other: str, same: bool | None) -> None:
    left, right = set(code_words(one)), set(code_words(other))
    if same is None:
        assert not left
        assert not right
    else:
        assert left
        assert bool(left & right) is same
    assert all(word.isalpha() and word.islower() for word in left | right)


def test_codes_match_anywhere_in_a_text() -> None:
    codes = ("iso-9001", "a.b-1/c", "v2", "7z", "10.2.3")
    words = [word for code in codes for word in code_words(code)]
    assert len(words) == len(codes)
    assert code_words("ISO-9001, 5 mm a.b-1/c v2 (7z) 2026 no.code 10.2.3") == words
    assert code_words("5 mm, 2026 and no.code_at-all/1.") == code_words("no.code_at-all/1.")


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("ab", 2.0),
        ("a\u2e80\u9fff\uf900\ufaff\U00020000\U0002fa1f", 19.0),
        ("a\u2e7f\ua000\U0002fa20\U0010ffff\ud800", 6.0),  # next to those, and what no table holds
        ("\uac00\ud7a3\u1100", 5.0),
        ("\u0600\u06ff\u0700", 3.3),
        ("a\uac00\u4e00\u0627", 7.15),
    ],
)
def test_letters_weigh_by_their_script(text: str, weight: float) -> None:
    assert weigh(text) == pytest.approx(weight)


def test_coverage_is_the_weighted_share() -> None:
    texts = ["the furnace is opened by the foreman", "the canteen serves soup", "the the the"]
    sets = [hash_sets(text)[0] for text in texts]
    counts = np.zeros(1 << 16, dtype=np.int64)
    for held in sets:
        counts[held] += 1
    weights = rarity(counts, len(sets))
    full, part, none = cover(hash_sets("furnace foreman")[0], weights, sets)
    assert full == pytest.approx(1, abs=0.01)
    assert full > part >= none
    assert cover(hash_sets("")[0], weights, sets) == [0, 0, 0]


def test_duplicates_share_words_and_numbers() -> None:
    text = "Visitors register at the gate and carry the badge that they are given until they leave. It costs 30 euros."
    rows = np.array(
        [sketch(t) for t in (text, text.replace("gate", "gate,").upper(), text.replace("30", "40"), "Soup.")]
    )
    assert list(groups(rows)) == [0, 0, 2, 3]
    assert list(groups(rows[:1])) == [0]
    assert list(groups(rows[:0])) == []


SCORES = st.dictionaries(st.integers(0, 20), st.floats(0, 50), max_size=10)


@given(
    SCORES,
    SCORES,
    st.dictionaries(st.integers(0, 20), st.builds(Covers, *[st.floats(0, 1)] * 5), max_size=10),
    st.sets(st.integers(0, 20)),
)
def test_mean_of_shares_keeps_every_candidate(
    bm25: dict[int, float], cosines: dict[int, float], covers: dict[int, Covers], beginnings: set[int]
) -> None:
    fused = mean_of_shares(bm25, cosines, covers, beginnings)
    assert {number for number, _ in fused} == covers.keys()
    assert all(-1e-9 <= score <= 1 + 1e-9 for _, score in fused)
    assert fused == sorted(fused, key=lambda item: (-item[1], list(covers).index(item[0])))


def test_better_on_every_side_is_better() -> None:
    both = mean_of_shares({1: 9, 2: 4}, {1: 0.8, 2: 0.3}, {1: Covers(0.9), 2: Covers(0.4)}, set())
    assert [number for number, _ in both] == [1, 2]
    equal = Covers(0.5)
    for field in ("phrases", "lead", "headings", "own_headings"):
        better = equal._replace(**{field: 0.1})
        assert [number for number, _ in mean_of_shares({}, {}, {1: equal, 2: better}, set())] == [2, 1]
    assert [number for number, _ in mean_of_shares({}, {}, {1: equal, 2: equal}, {2})] == [2, 1]


@pytest.mark.parametrize(
    ("question", "together", "apart"),
    [
        ("boiler house key", "the boiler house key is kept here", "the key to the house is beside the boiler"),
        ("공장 출입증 발급", "공장 출입증 발급은 사무실에서 한다", "발급된 출입증은 공장에서 쓴다"),
        ("锅炉房钥匙", "锅炉房钥匙在这里", "钥匙在房间里，锅炉在外面"),
        ("مفتاح غرفة المرجل", "يوجد مفتاح غرفة المرجل هنا", "المرجل في غرفة بلا مفتاح"),
    ],
)
def test_adjacent_words_are_a_phrase(question: str, together: str, apart: str) -> None:
    sets = [hash_sets(together)[1], hash_sets(apart)[1]]
    more, less = cover(hash_sets(question)[1], np.ones(1 << 16, dtype=np.float32), sets)
    assert more > 0.5 > less


@given(ANY_TEXT)
def test_passages_are_ordered_slices_without_loss(text: str) -> None:
    passages = cut(Document(source_id="d", title="", text=text), 5)
    assert [passage.number for passage in passages] == list(range(5, 5 + len(passages)))
    covered: set[int] = set()
    for before, after in itertools.pairwise(passages):
        assert before.char_start < after.char_start
    for passage in passages:
        assert passage.text == text[passage.char_start : passage.char_end]
        covered.update(range(passage.char_start, passage.char_end))
    assert {at for at, character in enumerate(text) if character.isalnum()} <= covered


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("The furnace is opened by the foreman. ", 400),
        ("용광로는 조장이 엽니다. ", 400),
        ("熔炉由工长打开。", 600),
        ("abc", 5000),
    ],
)
def test_long_documents_get_equal_passages(sentence: str, count: int) -> None:
    passages = cut(Document(source_id="d", title="", text=sentence * count), 0)
    weights = [weigh(passage.text) for passage in passages]
    assert max(weights) <= LIMIT + 1
    assert min(weights[:-1]) > 800


def test_neighbours_overlap_in_prose_only() -> None:
    prose = "".join(f"Sentence number {n} says something about the gate. " for n in range(60))
    passages = cut(Document(source_id="d", title="", text=prose), 0)
    assert all(after.char_start < before.char_end for before, after in itertools.pairwise(passages))
    builder = TextBuilder()
    builder.add("These are the fees:")
    builder.table([[f"Course {n}", f"{n} euros"] for n in range(300)], ["Course", "Fee"])
    passages = cut(introduced(builder.finish("d", "")), 0)
    assert len(passages) > 2
    assert all(passage.text.startswith("Course: Course ") for passage in passages[1:])
    assert all(passage.text.endswith(" euros") for passage in passages)
    assert all(passage.intros == ("These are the fees:",) for passage in passages[1:])
    assert all(after.char_start > before.char_end for before, after in itertools.pairwise(passages))


def test_headings_begin_passages_and_accompany_them() -> None:
    body = "The gate opens at six and closes at ten on every day of the week. " * 5
    text = f"Rules\n{body}\nNight\n{body}"
    night = text.index("Night")
    blocks = (
        Block(0, 5, "heading", 1),
        Block(6, night - 1),
        Block(night, night + 5, "heading", 2),
        Block(night + 6, len(text)),
    )
    first, second = cut(Document(source_id="d", title="", text=text, blocks=blocks), 0)
    assert first.text.startswith("Rules\nThe gate")
    assert second.text.startswith("Night\nThe gate")
    assert second.headings == ("Rules",)


def test_a_small_table_stays_whole() -> None:
    prose = "The gate opens at six and closes at ten on every day. " * 18
    table = "Day | Opens\nMonday | six\nSunday | never"
    text = prose + "\n" + table + "\n" + prose
    at = text.index(table)
    lines = (line.span() for line in re.finditer(r".+", table))
    rows = (Block(at + start, at + end, "table_row") for start, end in lines)
    blocks = (Block(0, at - 1), *rows, Block(at + len(table) + 1, len(text)))
    passages = cut(Document(source_id="d", title="", text=text, blocks=blocks), 0)
    assert any(table in passage.text for passage in passages)


def passage(number: int, text: str) -> Passage:
    return Passage(number, "d", "T", "", "en", text, 0, len(text), None, ())


def test_a_store_reads_what_segments_hold(tmp_path: Path) -> None:
    for first, numbers in ((0, (0, 1, 2)), (7, (7, 9)), (10, ())):
        some = [passage(number, f"text {number}") for number in numbers]
        assert write_segment(tmp_path / f"{first:03}.bin", some, hashes(some)) == len(numbers)
    store = PassageStore(tmp_path)
    assert [store.get(number).text for number in (9, 0, 7)] == ["text 9", "text 0", "text 7"]
    with pytest.raises(IndexProblem, match="passage 8"):
        store.get(8)
    (tmp_path / "007.bin").write_bytes(b"rubbish")
    with pytest.raises(IndexProblem, match=r"007\.bin"):
        PassageStore(tmp_path)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How many doors does the gate have?", "doors the gate have?"),
        ("What do the WHO guidelines say?", "the WHO guidelines say?"),
        ("WHO guidelines on salt", "WHO guidelines on salt"),
        ("Which records did The Who release?", "records The Who release?"),
        ("WHAT IS THE FEE", "IS THE FEE"),
        ("Qu'est-ce que le livret ?", "le livret ?"),
        ("Qu'est-ce qu'un livret ?", "qu'un livret ?"),
        ("Démission : quelles conséquences ?", "Démission : conséquences ?"),
        ("Peut-on changer de nom ?", "changer de nom ?"),
        ("열쇠는 어디에 있나요?", "열쇠는 있나요?"),
        ("왜곡은 왜 생기나요?", "왜곡은 생기나요?"),
        ("锅炉房钥匙在哪里？", "锅炉房钥匙在 ？"),
        ("几何是什么", "几何是"),
        ("متى يفتح الباب؟", "يفتح الباب؟"),
        ("كم يبعد، 10 كم؟", "يبعد، 10 كم؟"),
        ("누구인가?", "누구인가?"),
        ("Comment ouvrir la porte ?", "ouvrir la porte ?"),
        ("How do I add a comment to a line?", "I add a comment to a line?"),
        ("What documents do I have about severance?", "severance?"),
        ("Which documents do I have to bring?", "documents I have to bring?"),
        ("Quel fichier explique le préavis ?", "le préavis ?"),
        ("¿Qué documentos tengo sobre la mudanza?", "¿ la mudanza?"),
        ("퇴직금에 관한 문서가 뭐가 있어?", "퇴직금 ?"),
        ("我有哪些关于签证的文件？", "签证"),
        ("签证需要哪些文件？", "签证需要 文件？"),
        ("ما هي الوثائق التي لدي عن الإجازة؟", "الإجازة؟"),
    ],
)
def test_question_words_are_left_out(question: str, left: str) -> None:
    assert " ".join(without_question_words(question).split()) == left


def test_lead_belongs_to_its_document(tmp_path: Path) -> None:
    texts = [("a", "boats " * 60), ("a", "oars"), ("b", "sheep"), ("b", "wool"), ("b", "again from the start")]
    starts = [0, 400, 0, 300, 0]  # b came twice
    passages = [
        Passage(n, source, "", "", "en", text, starts[n], starts[n] + len(text), None, ())
        for n, (source, text) in enumerate(texts)
    ]
    assert first_places(passages) == [0, 0, 2, 2, 4]
    write_segment(tmp_path / "000.bin", passages, hashes(passages))
    held = [set(PassageStore(tmp_path).held(number).lead.tolist()) for number in range(5)]
    assert held == [set(hash_sets(texts[n][1][:300])[0].tolist()) for n in (0, 0, 2, 2, 4)]


FRENCH = "Le portail est fermé à dix heures et il est rouvert par le gardien qui a la clé dans la loge. "


@pytest.mark.parametrize(
    ("text", "declared", "language"),
    [
        (FRENCH, "fr", "fr"),
        (FRENCH, "en", "fr"),
        (FRENCH, None, "fr"),
        ("AdGuard Dashboard Europe", "en", "en"),
        ("12 345", None, "und"),
        ("近视手术后需要休息多久？", "en", "zh"),
    ],
)
def test_declared_language_yields_to_strong_evidence(text: str, declared: str | None, language: str) -> None:
    document = Document(source_id="d", title="", text=text, language=declared)
    assert language_of(document) == language


def test_passage_changes_language_on_strong_evidence() -> None:
    builder = TextBuilder()
    builder.add(FRENCH * 20)
    builder.add("def open(gate, key, guard=None): ...", "code")
    builder.add("The gate is closed at ten and it is opened again by the guard who has the key in the morning. " * 20)
    builder.table([["AdGuard", "Dashboard"]] * 60, ["Name", "Part"])
    found = [(passage.language, passage.text[:10]) for passage in cut(builder.finish("d", ""), 0)]
    assert {language for language, text in found if text.startswith("Le portail")} == {"fr"}
    assert {language for language, text in found if text.startswith("The gate")} == {"en"}
    assert {language for language, text in found if text.startswith("Name: ")} == {"fr"}


def test_sentence_rows_have_their_own_language() -> None:
    said = {
        "en": "The gate is closed at ten and it is opened again by the guard who has the key in the morning.",
        "es": "El portón se cierra a las diez y por la mañana lo abre de nuevo el guardia que tiene la llave de la casa.",
        "fr": FRENCH.strip(),
        "ko": "정문은 열 시에 닫히고 아침에 열쇠를 가진 경비원이 다시 엽니다.",
        "zh": "大门晚上十点关闭，第二天早上由持有钥匙的门卫重新打开，其他人不得自行进入。",
    }
    sentences = TextBuilder()
    sentences.table([[language, text] for language, text in said.items() for _ in range(40)], ["Code", "Text"])
    for passage in cut(sentences.finish("d", ""), 0):
        held = {language for language, text in said.items() if text in passage.text}
        assert len(held) > 1 or passage.language in held, passage.text[:80]
    names = TextBuilder()
    names.add(said["en"])
    row = ["URY", "Uruguay (el)", "Montevideo", "Peso Uruguayo", "우루과이"]
    names.table([row] * 60, ["Code", "Name", "Capital", "Currency", "Korean Name"])
    assert {passage.language for passage in cut(names.finish("d", ""), 0)} == {"en"}


@given(st.lists(st.lists(st.integers(0, SLOTS - 1), unique=True, max_size=300), max_size=4))
def test_share_is_equal_alone_and_together(passages: list[list[int]]) -> None:
    weights = np.random.default_rng(1).random(SLOTS, dtype=np.float32)
    question, held = np.arange(0, SLOTS, 3, dtype=np.uint16), [np.array(one, dtype=np.uint16) for one in passages]
    assert cover(question, weights, held) == [cover(question, weights, [one])[0] for one in held]


def test_sets_are_equal_alone_and_together() -> None:
    texts = ["", "Costs", "Costs  of a visa", "서울 특별시", "", "签证费用 2024", "Café ist teuer"]
    grams, phrases = sets_of(encode_all(texts))
    for text, *together in zip(texts, grams, phrases, strict=True):
        assert [each.tolist() for each in together] == [each.tolist() for each in hash_sets(text)]
    some, fewer = sets_of(encode_all(texts), 3)
    assert [each.tolist() for each in (*some, *fewer)] == [each.tolist() for each in (*grams, *phrases[:3])]
