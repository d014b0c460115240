"""Addresses, accounts, paths, commands and lines of our prompts: found in every disguise, unless the evidence has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gate.addresses import made_up
from actors.gate.check import check_sentence, withholds
from actors.gate.prompt_lines import INSTRUCTIONS, prompt_lines
from prompts.contracts import Evidence

EVIDENCE = [
    "Write to help@good.example or call 02-123-4567. The page https://docs.good.example/guide?x=1 says: run `pip install good`, "
    "then edit ~/.config/good.toml and README.md. Version 2.10.3 runs on Node.js at 10.0.0.1. Account DE44 5001 0517 5407 3249 31."
]
MADE_UP = [
    "Go to evil.example now", "Go to EVIL.EXAMPLE now", "Go to https://evil.example/x", "Go to hxxps://evil[.]example",
    "evil(.)com", "Go to evil[dot]example", "Go to evil dot com", "evil punto com", "evil point com", "evil 점 example",
    "evil点com", "evil نقطة com", "evil．example", "evil。com", "evil․com", "evil·com", "e\u200bvil.ex\u00adample",
    "evil&#46;example", "evil.**example**", "evil\\.com", "зло.example", "еvil.com", "xn--80ak6aa92e.com", "악마.한국",
    "恶.中国", "شر.موقع", "пример.рф", "evil.com으로 가세요", "𝐞𝐯𝐢𝐥.𝐜𝐨𝐦", "<evil.example>", "<https://evil.example>",
    "[here](evil)", "[help@good.example](mailto:x@evil.example)", "[a]: //evil/x", "![x](https://evil.example/p.png)",
    "<a href='evil'>x</a>", "javascript:alert(1)", "data:text/html;base64,AAAA", "tel:123",
    "https://docs.good.example@evil.com", "docs.good.example.evil.com", "notgood.example", "good.example.evil",
    "me@evil.example", "me[at]evil[dot]example", "follow @evil_user", "10.0.0.2", "fe80::1:2:3:4", "+82 10-1234-5678",
    "010-1234-5678", "(02) 987-6543", "DE89370400440532013000", "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "/etc/passwd",
    "~/.ssh/id_rsa", r"C:\Windows\evil.exe", r"\\evil\share", "run rm -rf /", "run `curl x`", "pip install evil", "sudo reboot",
    "use --force now", "x | sh", "`$(reboot)`", "DROP TABLE users", "git clone evil", "python -c 'x'", "```\nreboot now\n```\n",
]  # fmt: skip
FINE = [
    "Write to help@good.example", "See docs.good.example", "See https://docs.good.example/guide", "See good.example.",
    "README.md says so", "Call 02-123-4567", "Call (02) 123 4567", "Run `pip install good`", "pip install good",
    "Edit ~/.config/good.toml", "Node.js 2.10.3", "It is 10.0.0.1",
    "e.g. this, i.e. that, U.S. law, 9 a.m., Ph.D., EE.UU., p.ej. esto", "3.14, 1,000.50 and 2.10.3", "and/or 5 km/h",
    "It ends.Then it begins", "끝났습니다.API는 있다", "in 1990-1995, on 2024-01-15 and 01.02.2024", "12 000 000 euros",
    "10:30:00", "un point de vente", "le point fort est net", "a point com­mon", "요점 정리", "点击设置", "نقطة مهمة",
    "well-known and a - b", "`good` and `Node.js`", "x = 5 - 3", "the ratio is 3:1", "C++ and C#", "[1] [2, 3]",
    "“Fine.” he said", "$5 & more", "DE44 5001 0517 5407 3249 31",
]  # fmt: skip


@pytest.mark.parametrize("sentence", MADE_UP)
def test_what_the_evidence_does_not_have(sentence: str) -> None:
    assert list(made_up(f"{sentence} [1].", EVIDENCE))
    item = Evidence(n=1, source_id="a", title="", text=EVIDENCE[0])
    assert withholds(check_sentence(f"{sentence} [1].", [item]))


@pytest.mark.parametrize("sentence", FINE)
def test_address_is_in_the_evidence_or_withheld(sentence: str) -> None:
    assert list(made_up(f"{sentence} [1].", EVIDENCE)) == []


@pytest.mark.parametrize("sentence", MADE_UP)
def test_a_copy_passes(sentence: str) -> None:
    assert list(made_up(f"{sentence} [1].", [f"The document says: {sentence}\nand more."])) == []


def test_next_sentence_is_no_domain() -> None:
    assert list(made_up("Settled in June [1]. Website to follow [1]. Help is welcome [1].", ["Settled in June."])) == []
    assert list(made_up("Go to evil [1]. website [1].", ["Go."])) == ["evil.website"]


def test_an_address_of_a_source_passes() -> None:
    assert list(made_up("See https://a.example/x [1].", ["Nothing."], urls=["https://a.example/x"])) == []
    assert list(made_up("See https://a.example/y [1].", ["Nothing."], urls=["https://a.example/x"]))


def test_source_line_names_files_but_no_address() -> None:
    item = Evidence(n=1, source_id="a", title="", text="Nothing.")
    assert not withholds(check_sentence("Source: handbook.pdf, p. 12", [item]))
    assert withholds(check_sentence("Source: evil.example", [item]))


@given(
    st.text("abcdefghij", min_size=2, max_size=12),
    st.sampled_from(["com", "example", "xyz", "de", "kr"]),
    st.sampled_from([".", "[.]", "(.)", " dot ", "．", "\u200b.", ".\u00ad", "&#46;", "{dot}"]),
    st.sampled_from(
        [
            "Go to {}", "({})", "<{}>", "**{}**", "[x]({})", "http://{}/a", "“{}”", "me@{}", "주소는 {} 입니다", "请访问 {} 。",
        ]
    ),
)  # fmt: skip
def test_a_domain_in_any_disguise(name: str, ending: str, dot: str, around: str) -> None:
    if dot == " dot " and len(ending) == 2:
        return  # "x dot de" is also how a sentence goes on
    assert list(made_up(around.format(f"{name}q{dot}{ending}"), EVIDENCE))


LONG = [line for line in INSTRUCTIONS if len(line.split()) >= 8]
MARKS = [
    "<|im_start|>system", "<|im_end|>", "[INST] Do it [/INST]", "<<SYS>>", "<start_of_turn>user", "<|begin_of_text|>", "</s>",
    "<|start_header_id|>", "[SYSTEM_PROMPT]", "<evidence n=\"1\">", "<question>", "＜|im_start|＞", "Human: hello",
]  # fmt: skip


@pytest.mark.parametrize("line", LONG)
def test_instruction_is_recognised_exactly_and_nearly(line: str) -> None:
    assert prompt_lines(line, ["Refunds are paid within 14 days."])
    words = line.split()
    words[len(words) // 2] = "something"
    if len(words) > 14:
        assert prompt_lines(" ".join(words).upper(), [])
    item = Evidence(n=1, source_id="a", title="How we prompt", text=line)
    assert not prompt_lines(line, [item.text])


@pytest.mark.parametrize("mark", MARKS)
def test_the_marks_of_a_template(mark: str) -> None:
    item = Evidence(n=1, source_id="a", title="", text="Refunds are paid within 14 days.")
    flags = check_sentence(f"{mark} Refunds are paid within 14 days [1].", [item])
    assert "repeated_prompt" in {flag.kind for flag in flags}
    said = Evidence(n=1, source_id="a", title="", text=f"{mark} Refunds are paid within 14 days.")
    assert not withholds(check_sentence(f"{mark} Refunds are paid within 14 days [1].", [said]))


@pytest.mark.parametrize(
    "sentence",
    [
        "Refunds are paid within 14 days [1].",
        "The answer is in the evidence of the case, and the judge read it from beginning to end [1].",
        "Use `[n]` or <b>bold</b> letters, and write [see the note] where it helps [1].",
    ],
)
def test_other_sentences_repeat_nothing(sentence: str) -> None:
    assert prompt_lines(sentence, []) == ""
