"""Units and sentences never overlap and cover the whole text, however it arrives; fences of Markdown."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.model import Block, BlockKind, Document
from index.readers.formats import TextBuilder
from index.readers.formats import introduced as with_introductions
from index.text.citations import fences, masked, unclosed, without_code
from index.text.sentences import SentenceStream, split
from index.text.units import LONGEST, introduced, units

Piece = tuple[BlockKind, str]


def document(*pieces: Piece) -> Document:
    builder = TextBuilder()
    for kind, text in pieces:
        builder.add(text, kind, 1 if kind in ("heading", "list_item") else 0)
    return with_introductions(builder.finish("a", "A"))


def told(read: Document) -> list[str]:
    return [read.text[unit.start : unit.end] for unit in units(read.text, read.blocks)]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("prose", "It is red. It is big.")], ["It is red.", "It is big."]),
        ([("heading", "Setup"), ("prose", "It is red.")], ["Setup", "It is red."]),
        ([("prose", "Bring:"), ("list_item", "- bread, e.g. rye. Fresh."), ("list_item", "- milk")],
         ["Bring:", "- bread, e.g. rye. Fresh.", "- milk"]),
        ([("table_row", "Name: a. b | Use: First. Then more."), ("table_row", "Name: c | Use: None.")],
         ["Name: a. b | Use: First. Then more.", "Name: c | Use: None."]),
        ([("prose", "It is fast. Install it:"), ("code", "  pip install x\n\n  x --go. Now"), ("prose", "Done.")],
         ["It is fast. Install it:\n\n  pip install x\n\n  x --go. Now", "Done."]),
        ([("list_item", "1. Run this:"), ("code", "make")], ["1. Run this:\n\nmake"]),
        ([("list_item", "1. It is slow. Run this:"), ("code", "make")], ["1. It is slow. Run this:\n\nmake"]),
        ([("heading", "Usage"), ("code", "make"), ("code", "make all")], ["Usage", "make", "make all"]),
        ([("definition", "Refund\nMoney that is paid back.")], ["Refund\nMoney that is paid back."]),
        ([("quotation", "We came. We saw.")], ["We came.", "We saw."]),
        ([("prose", "Water is H2O"), ("prose", "2 litres a day.")], ["Water is H2O", "2 litres a day."]),
    ],
)  # fmt: skip
def test_what_a_unit_is(pieces: list[Piece], expected: list[str]) -> None:
    assert told(document(*pieces)) == expected


def test_long_item_is_several_units() -> None:
    read = document(("list_item", "- " + "It goes on and on. " * (LONGEST // 18)))
    found = units(read.text, read.blocks)
    assert len(found) > 2
    assert {unit.kind for unit in found} == {"list_item"}


def test_whole_list_block_is_several_units() -> None:
    assert told(document(("list_item", "1. It is red.\n2. It is big."))) == ["1. It is red.", "2. It is big."]


def test_an_introduction_and_what_it_introduces() -> None:
    read = document(("prose", "Hello. Bring:"), ("list_item", "- bread"), ("list_item", "- milk"), ("prose", "Bye."))
    found = units(read.text, read.blocks)
    assert [read.text[unit.start : unit.end] for unit in introduced(found, 1)] == ["- bread", "- milk"]
    assert [introduced(found, at) for at in (0, 2, 4)] == [[], [], []]
    assert found[2].intro == (found[0].start, found[1].end)


@pytest.mark.parametrize(
    ("above", "label"), [("Nora (born 2019)", True), ("테오", True), ("She is seven.", False), ("run\nstop", False)]
)
def test_short_line_without_an_end_is_the_label_of_a_list(above: str, label: bool) -> None:
    builder = TextBuilder()
    builder.add(above)
    builder.add("- no amoxicillin", "list_item")
    block = with_introductions(builder.finish("a", "A")).blocks[1]
    assert block.intro == ((0, len(above)) if label else None)


def test_item_introduction_may_precede_the_text() -> None:
    read = document(("prose", "Bring:"), ("list_item", "- bread"))
    block = read.blocks[1]
    (unit,) = units(read.text[block.start :], read.blocks, block.start)
    assert unit.intro == (-8, -2)


KINDS: tuple[BlockKind, ...] = (
    "prose", "heading", "list_item", "table_header", "table_row", "code", "quotation", "definition",
)  # fmt: skip
pieces = st.lists(st.tuples(st.sampled_from(KINDS), st.text(alphabet="ab1 .:|\n-`환。", max_size=40)), max_size=8)


@given(pieces, st.integers(0, 30))
def test_units_are_ordered_slices_without_loss(found: list[Piece], skipped: int) -> None:
    read = document(*found)
    text = read.text[skipped:]
    cut = units(text, read.blocks, skipped) if read.blocks else []
    assert all(0 <= unit.start < unit.end <= len(text) for unit in cut)
    assert all(one.end <= other.start for one, other in itertools.pairwise(cut))
    held = {at for unit in cut for at in range(unit.start, unit.end)}
    for block in read.blocks:
        letters = [at for at in range(block.start - skipped, block.end - skipped) if at >= 0 and text[at].isalnum()]
        assert held.issuperset(letters)
    for unit in cut:
        blocks = [block for block in read.blocks if _meets(block, unit.start + skipped, unit.end + skipped)]
        assert len(blocks) == 1 or (unit.kind == "code" and len(blocks) == 2)


def _meets(block: Block, start: int, end: int) -> bool:
    return block.start < end and start < block.end


ROWS = [
    # English
    "Refunds take seven days.|They cost 3.50 euros.",
    "Dr. J. Smith wrote it in Jan. 2010.|Mr. Lee agreed.",
    "It works, e.g. in No. 5 of vol. 2, at 3 p.m. on Friday.",
    "He lives in the U.S.|The law differs there.",
    "The U.S. Senate met.|It voted.",
    "He works for Acme Inc.|The shares rose.",
    "Acme Inc. shares rose.",
    "It costs 5 euros. [1]|It is new.[2][3]|And red [4].|Blue.",
    "“It is over.”|He left (at last.)|Fine.",
    "Really?!|Yes...|Perhaps... not.|See www.example.com/a.b?c=d for more.",
    '"What?" he asked.|Nobody knew.',
    # Chinese
    "手术后休息一周。|他问：“可以吗？”|可以！|费用3.5万元。[1]|完",
    "真的吗?|是的。",
    # Korean
    "환불은 7일 안에 됩니다.|가능할까요?|네, 됩니다!",
    "환불했다.|2010. 3. 5. 에 시작했다.",
    "출시일은 2010년 3월 5일이다.[1]|끝.",
    # French
    "M. Dupont paie 1 234,50 €.|Mme Roy aussi !|Pourquoi ?|Voir art. 5 et p. 12.",
    "Il a dit : « C'est fini. »|Puis il est parti.",
    # Arabic
    "ما هذا؟|هذا كتاب.|وصل د. أحمد سنة 1990 م.|ثم عاد۔",
]


def _pieces(row: str) -> list[str]:
    return row.split("|")


@pytest.mark.parametrize("row", ROWS)
def test_split(row: str) -> None:
    for glue in (" ", "\n\n"):
        text = glue.join(_pieces(row))
        assert [text[start:end] for start, end in split(text)] == _pieces(row)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("真的。是吗？“好。”他走了。", ["真的。", "是吗？", "“好。”", "他走了。"]),
        ("환불했다.그는 갔다.", ["환불했다.", "그는 갔다."]),
        ("عاد الرجل.ثم ذهب.", ["عاد الرجل.", "ثم ذهب."]),
        ("It is so.[1]Next one.", ["It is so.[1]", "Next one."]),
        (
            "# 1. Title\nFirst line\nwraps here.\n- one\n- two\n1. three. Four",
            ["# 1. Title", "First line\nwraps here.", "- one", "- two", "1. three.", "Four"],
        ),
        ("| a. b | c |\n|---|---|\n| 1 | 2 |", ["| a. b | c |", "| 1 | 2 |"]),
        ("Bring:\nbread\na) milk\nb) tea", ["Bring:", "bread", "a) milk", "b) tea"]),
        ("첫째 줄\n둘째 줄", ["첫째 줄", "둘째 줄"]),
        (
            "Oven ......... 1,206.00\nTaxes . . . 250.20. It is due.",
            ["Oven ......... 1,206.00", "Taxes . . . 250.20.", "It is due."],
        ),
        ("Wait.... Then go.", ["Wait....", "Then go."]),
        ("It is so. .... Open .gitignore. .env too.", ["It is so.", "Open .gitignore.", ".env too."]),
        ("  \n ... \n", []),
        ("", []),
    ],
)
def test_split_exactly(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


def _stream(chunks: list[str]) -> list[str]:
    stream = SentenceStream()
    return [sentence for chunk in chunks for sentence in stream.feed(chunk)] + stream.finish()


_ALPHABET = st.sampled_from(
    [
        *" \n.!?。？؟…[]1234９١,-–)»”\"'abAIT:|#*",
        "다",
        "요",
        "近",
        "م",
        "Dr",
        "e.g",
        " The ",
        "Inc",
        "U.S",
        " [1]",
        ". ",
        "。",
        "No",
        "\n- ",
        ".....",
        " . .",
        "\u00a0",
    ]
)
_TEXT = st.one_of(
    st.lists(_ALPHABET, max_size=40).map("".join), st.sampled_from([row.replace("|", " ") for row in ROWS])
)


@settings(max_examples=150)
@given(_TEXT, st.lists(st.integers(1, 6), max_size=60))
def test_any_chunking_gives_the_same_sentences(text: str, sizes: list[int]) -> None:
    chunks: list[str] = []
    at = 0
    for size in sizes:
        chunks.append(text[at : at + size])
        at += size
    chunks.append(text[at:])
    whole = _stream([text])
    assert "".join(whole) == text
    assert _stream(chunks) == whole
    assert _stream(list(text)) == whole
    trimmed = [sentence.strip() for sentence in whole if any(map(str.isalnum, sentence))]
    assert [text[start:end] for start, end in split(text)] == trimmed


def test_a_line_that_quotes_is_one_sentence_of_a_stream() -> None:
    text = (
        '1. **Dose** Take one.\n> “每晚滴一次。每次一滴。” [6]\n> "One. Two." [1]\n> Source: A. B\n'
        "He said “no. Yes”.\n> “open. Still\n"
    )
    whole = _stream([text])
    assert [each.strip() for each in whole] == [
        "1. **Dose** Take one.", "> “每晚滴一次。每次一滴。” [6]", '> "One. Two." [1]', "> Source: A. B", "He said “no.",
        "Yes”.", "> “open. Still",
    ]  # fmt: skip
    assert _stream(list(text)) == whole


def test_sentence_is_released_when_the_next_begins() -> None:
    stream = SentenceStream()
    assert stream.feed("환불은 됩니다.") == []
    assert stream.feed(" [1]") == []
    assert stream.feed(" 그") == ["환불은 됩니다. [1] "]
    assert stream.finish() == ["그"]


CODE = "```bash\nmake all. Now\n\nmake [1]\n```"


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f"Run:\n{CODE}\nDone.", ["make all. Now\n\nmake [1]"]),
        ("```\n```", [""]),
        ("````\n```\nx\n````", ["```\nx"]),
        ("```\na\n```\n\n```\nb\n```", ["a", "b"]),
        ("```\nnever closed", []),
        ("in a line ```\nx\n```\n", []),
        ("    ```\nx\n```", []),
    ],
)
def test_what_a_fence_is(text: str, codes: list[str]) -> None:
    assert [text[fence.code : fence.code_end] for fence in fences(text)] == codes


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Run:\n```bash\nmake", 5),
        (f"{CODE}\n", None),
        (CODE, 0),
        ("Run:\n``", 5),
        ("plain `code` here", None),
        (f"{CODE}\nthen\n```\n", len(CODE) + 6),
    ],
)
def test_where_a_fence_is_still_open(text: str, at: int | None) -> None:
    assert unclosed(text) == (len(text) if at is None else at)


def test_masked_code_keeps_offsets() -> None:
    text = f"Say `a[1]` [2]:\n{CODE}\n[3]"
    assert without_code(text).split() == ["Say", "[2]:", "[3]"]
    assert len(without_code(text)) == len(masked(text, "x")) == len(text)


ANSWERS = [
    (f"First. Run this [1]:\n\n{CODE}\n\nDone. Yes.", ["First.", f"Run this [1]:\n\n{CODE}", "Done.", "Yes."]),
    (f"{CODE}\nsmall letters follow.", [CODE, "small letters follow."]),
    (f"{CODE}\n\n{CODE}", [CODE, CODE]),
    ("Name: a | Use: First. Then more [1].\nNext one. Last.", ["Name: a | Use: First. Then more [1].", "Next one.", "Last."]),
    ("a | b | First. Then more.\nNext. Last.", ["a | b | First. Then more.", "Next.", "Last."]),
    ("The set {x | x is odd}. It is big.", ["The set {x | x is odd}.", "It is big."]),
    ("Use `a | b`. Then go.", ["Use `a | b`.", "Then go."]),
    ("It ends.\n\n```\nnever closed. Go", ["It ends.\n\n```\nnever closed. Go"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentences"), ANSWERS)
def test_code_joins_its_sentence_and_rows_stay_whole(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split(text)] == sentences


@pytest.mark.parametrize("size", [1, 2, 3, 5, 11])
@pytest.mark.parametrize("text", [text for text, _ in ANSWERS])
def test_the_same_sentences_in_pieces(text: str, size: int) -> None:
    stream = SentenceStream()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    told = [sentence for piece in pieces for sentence in stream.feed(piece)] + stream.finish()
    assert "".join(told) == text
    assert [sentence.strip() for sentence in told if sentence.strip()] == [
        text[start:end] for start, end in split(text)
    ]
