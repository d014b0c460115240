"""Learning vectors of meaning: readers on small files, a repository made here, pairs, pieces, neighbours and the written files."""

import itertools
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from index.languages import LANGUAGES, meaning, translation
from tests.bench.meaning import __main__ as command
from tests.bench.meaning import packing, tables
from tests.bench.meaning.readers import READERS, File, Group, Texts, sections
from tests.bench.meaning.sources import Source, clean, clone, groups, sources

PO = r"""
msgid ""
msgstr "Language: fr\n"

#: a.c
msgid "Open the "
"_file"
msgstr "Ouvrir le _fichier"

#, fuzzy
msgid "Close"
msgstr "Fermer ?"

#~ msgid "Old"
#~ msgstr "Vieux"
"""
WIKTIONARY = "# about\nrefund {n} (money given back) :: reembolso {m}, devolución {f} (note)\nnothing {n} ::\n"
WORDNET = "# Wiktionary\tkor\n00001-n\tkor:lemma\t환불\n00001-n\tkor:def\t0\t돈\n"
ENGLISH = "00001-n:\n  definition: [money given back]\n  example: [she got a refund]\n  members: [refund]\n"
SIGN = '{"annotations": {"identity": {}, "annotations": {"🔥": {"default": ["flamme"], "tts": ["feu"]}}}}'
PAGE = "---\nauthor: x\ntitle: 'Refunds'\n---\n\nAsk for [it](a.md).\n\n- by post\n- by phone\n\n```\ncode\n```\n\n## Who\n\nAll.\n"


@pytest.mark.parametrize(
    ("reader", "files", "expected"),
    [
        ("lines", {"a-": ("es", "uno\ndos"), "b-": ("es", "otro")}, []),
        ("attributed", {"l": ("ko", "Hi.\t안녕.\tCC-BY 2.0\nBye.\t잘 가.")}, [("en", "Hi."), ("ko", "안녕.")]),
        ("sentences", {"p": ("fr", "# sent_id = 1\n# newpar\n# text = Oui.\n1\tOui")}, [("fr", "Oui.")]),
        ("messages", {"f": ("fr", PO)}, [("en", "Open the file"), ("fr", "Ouvrir le fichier")]),
        ("leaves", {"x.json": ("fr", '{"fr": {"a": ["un", 2]}}')}, [("fr", "un")]),
        ("leaves", {"x.json": ("fr", "{broken")}, []),
        ("leaves", {"x.yml": ("fr", "fr: {a: un, b: {history: {c: une}}}")}, [("fr", "un")]),
        ("assigned", {"x.ftl": ("fr", "# a = b\na-b = un { -c }\nd =\n")}, [("fr", "un { -c }")]),
        ("assigned", {"x.properties": ("ko", "Fire = 화재\nWar = \n")}, [("en", "Fire"), ("ko", "화재")]),
        ("annotations", {"a": ("fr", SIGN)}, [("fr", "feu flamme")]),
    ],
)
def test_texts_are_read_by_key(reader: str, files: dict[str, tuple[str, str]], expected: Texts) -> None:
    read = READERS[reader](File(place, language, text.encode()) for place, (language, text) in files.items())
    found = [group.one for group in read if reader != "lines"]
    assert found == ([expected] if expected else [])


def test_words_are_read_by_sense() -> None:
    refund = [("en", "refund"), ("es", "devolución"), ("es", "reembolso")]
    read = READERS["dictionary"]([File("src/en--enwiktionary.txt", "es", WIKTIONARY.encode())])
    assert list(read) == [Group(refund), Group(refund, [("en", "money given back")])]
    read = READERS["wordnets"]([File("w.tab", "ko", WORDNET.encode()), File("n.yaml", "en", ENGLISH.encode())])
    words, meaning = [("en", "refund"), ("ko", "환불")], [("en", "money given back")]
    assert list(read) == [Group(words, meaning), Group([("en", "she got a refund")], meaning), Group(words)]


def test_pages_are_read_by_section() -> None:
    assert sections(PAGE) == [("Refunds", ["Ask for it.", "by post", "by phone"]), ("Who", ["All."])]
    other = "# Reembolsos\n\nPide.\n\n* por carta\n* por teléfono\n\n## Quién\n\nTodos.\n\nSin excepción.\n"
    read = list(READERS["pages"]([File("a.md", "en", PAGE.encode()), File("a.md", "es", other.encode())]))
    assert Group([("en", "Refunds"), ("es", "Reembolsos")]) in read
    assert Group([("en", "by post"), ("es", "por carta")]) in read
    assert Group([("en", "Who"), ("es", "Quién")], [("en", "All."), ("es", "Todos. Sin excepción.")]) in read


def test_english_name_of_a_section_is_its_heading() -> None:
    page = '# <a name="ask-for-a-refund"></a>환불 신청\n\n신청서를 보냅니다.\n'
    (headings, section, _) = READERS["pages"]([File("a.md", "ko", page.encode())])
    assert clean(headings.one) == clean(section.one) == [("ko", "환불 신청"), ("en", "ask for a refund")]
    assert section.other == [("ko", "신청서를 보냅니다.")]


def test_questions_are_read_with_their_passage() -> None:
    told = '{"data": [{"paragraphs": [{"context": "Oui.", "qas": [{"question": "Qui ?"}]}]}]}'
    assert list(READERS["questions"]([File("q.json", "fr", told.encode())])) == [
        Group([("fr", "Qui ?")], [("fr", "Oui.")])
    ]


def test_texts_are_cleaned() -> None:
    texts = [
        ("es", "She was at the office when they told her that this is what it was for"),
        ("en", "<b>Hi</b>  there"),
        ("fr", "hi there"),
        ("ko", "Hi"),
        ("en", "12"),
        ("es", "환불 절차"),
        ("zh", "退款"),
    ]
    untranslated = ("en", "She was at the office when they told her that this is what it was for")
    assert clean(texts) == [untranslated, ("en", "Hi there"), ("zh", "退款")]


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """One repository with lines in two languages, and a link."""
    repository = tmp_path / "clones/owner/name"
    (repository / "data").mkdir(parents=True)
    numbers = [("one refund", "un reembolso"), ("two refunds", "dos reembolsos"), ("the same", "the same")]
    for at, code in enumerate(("eng", "spa")):
        (repository / f"data/text.{code}.txt").write_text(
            "\n".join(row[at] for row in numbers) + "\n", encoding="utf-8"
        )
    (repository / "data/link.fra.txt").symlink_to("text.eng.txt")
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "x")):
        subprocess.run(["git", "-C", str(repository), *arguments], check=True)
    return tmp_path / "clones"


SOURCE = Source(
    name="x", repository="owner/name", licence="MIT", reader="lines", pattern=r"text\.LANGUAGE\.txt$", weight=2
)


def test_repository_is_read(clones: Path) -> None:
    found = [group for _, group in groups([SOURCE], clones)]
    assert found == [
        Group([("en", "one refund"), ("es", "un reembolso")], []),
        Group([("en", "two refunds"), ("es", "dos reembolsos")], []),
    ]


def test_missing_repository_is_fetched(clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.bench.meaning.sources.HOST", f"file://{clones}/")
    for _ in range(2):
        clone(SOURCE, tmp_path / "fetched")
    assert list(groups([SOURCE], tmp_path / "fetched")) == list(groups([SOURCE], clones))


def test_every_source_has_a_reader_and_a_licence() -> None:
    for source in sources():
        assert source.reader in READERS
        assert source.licence
        assert "LANGUAGE" in source.pattern or source.language


def test_pairs_have_the_languages_in_order() -> None:
    texts: Sequence[Group] = [
        Group([("es", "Reembolso"), ("en", "refund")]),
        Group([("es", "reembolso")], [("en", "Money, given back!")]),
        Group([("en", "???"), ("es", "nada")]),
    ]
    given = packing.corpus((SOURCE, group) for group in texts)
    assert given.texts == [("es", "reembolso"), ("en", "refund"), ("en", "money given back"), ("es", "nada")]
    pairs, weights = packing.paired(given, np.array([LANGUAGES.index(language) for language, _ in given.texts]))
    assert pairs.tolist() == [[1, 0, 0], [0, 2, 1]]
    assert weights.tolist() == [2.0, 2.0]


def test_neighbours_are_near_and_no_two_forms_of_a_word() -> None:
    directions = np.array([[1, 0], [0.99, 0.1], [0.8, 0.6], [0, 1], [1, 0.01]], np.float32)
    theirs = tables.Words(["refund", "refunds", "payment", "sky", "the"], directions, np.array([9, 8, 7, 6, 5]))
    found = tables.neighbours(np.array([[2, 0], [0, -1]], np.float32), theirs)
    assert found.tolist() == [[0, 2, tables.NONE, tables.NONE], [tables.NONE] * 4]


def texts_of(language: int, *texts: Sequence[int]) -> packing.Arrays:
    """Texts as the numbers of their pieces, all of one language."""
    return {
        "tokens": np.array(list(itertools.chain.from_iterable(texts)), np.uint16),
        "ends": np.cumsum([0, *map(len, texts)]),
        "languages": np.array([language] * len(texts)),
    }


def test_vectors_become_whole_numbers() -> None:
    vectors = np.array([[3, 4, 0], [0, 0, 2], [0, 0, 0], [5, 0, 0]], np.float32)
    whole, weights = tables.meaning(texts_of(0, [2] * 12), vectors)
    assert weights["weight"].tolist() == weights["asked"].tolist() == [5, 2, 0, 5]
    rows = whole * weights["scale"][:, None]
    assert rows @ rows.T == pytest.approx(
        np.array([[1, 0, 0, 0.6], [0, 1, 0, 0], [0, 0, 0, 0], [0.6, 0, 0, 1]]), abs=0.02
    )


def test_piece_of_every_passage_counts_little_in_a_question() -> None:
    vectors = np.array([[1, 0], [0, 1], [-1, 0]], np.float32)
    _, weights = tables.meaning(texts_of(3, [0] * 150, [0] * 75 + [1] * 75), vectors)
    assert weights["asked"].tolist() == pytest.approx([0, 0.25, 1])


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The product reads its files in `tmp_path`."""
    read = (meaning._table, meaning._spelling, meaning._numbers, meaning._split)
    caches = (*read, translation._words, translation._numbers, translation._stems, translation._nearest)
    monkeypatch.setattr(meaning, "_VECTORS", tmp_path / "meaning.npy")
    monkeypatch.setattr(meaning, "_PIECES", tmp_path / "meaning.npz")
    monkeypatch.setattr(translation, "_FILE", tmp_path / "translation.npz")
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("product")
def test_written_files_are_read(tmp_path: Path) -> None:
    """Of a few words in two languages, with vectors by which the nth word of one means the nth of the other."""
    pytest.importorskip("sentencepiece")
    words = {"en": "rent sky cat", "ko": "집세 하늘 고양이"}
    rows = ([(language, f"{text} {number}") for language, text in words.items()] for number in range(9))
    given = packing.corpus((SOURCE, Group(row)) for row in rows)
    known, spelled = packing.learn(given, 100)
    arrays = packing.packed(given, known, fewest=2)
    assert arrays["cells"].tolist() == [[0, 9]]
    vectors = np.random.default_rng(1).standard_normal((len(spelled["cost"]), 256), np.float32)
    for one, other in zip(*(text.split() for text in words.values()), strict=True):
        ids = [known.encode(word) for word in (one, other)]
        vectors[ids[1][-1]] += vectors[ids[0]].sum(0) - vectors[ids[1]].sum(0)
    np.savez(tmp_path / "pieces.npz", **spelled)
    np.savez(tmp_path / "pairs.npz", **arrays)
    np.save(tmp_path / "vectors.npy", vectors)
    result = CliRunner().invoke(command.main, ["export", str(tmp_path), "--to", str(tmp_path)])
    assert result.output == "3 words of en, 3 words of ko\n"
    assert translation.translated("sky rent", "en", "ko").split()[:1] == ["하늘"]
    same, far, none = meaning.nearness("rent", ["집세", "sky", ""])
    assert same > 0.4 > far > none == 0


def test_pieces_that_translate_each_other_come_near() -> None:
    pytest.importorskip("torch")
    from tests.bench.meaning.training import train

    tokens = np.arange(40, dtype=np.uint16)  # text n is piece n; 2n and 2n + 1 mean the same
    pairs = np.array([[at, at + 1, at] for at in range(0, 40, 2)], np.int32)
    arrays = {
        "tokens": tokens,
        "ends": np.arange(41),
        "pairs": pairs,
        "weights": np.ones(20),
        "cells": np.array([[0, 20]]),
    }
    vectors = train(arrays, 40, 100, 20, 20, clock=itertools.count().__next__)
    cosines = (vectors @ vectors.T) / np.outer(*[np.linalg.norm(vectors, axis=1)] * 2)
    assert cosines[pairs[:, 0], pairs[:, 1]].min() > 0.5


def test_missing_module_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = CliRunner().invoke(command.main, ["train", str(tmp_path)])
    assert result.exit_code == 1
    assert "torch is missing: begin the command with `uv run --with torch`" in result.output
