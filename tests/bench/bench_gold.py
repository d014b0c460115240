"""How often a passage that holds the gold string is among the first 1, 5 and 20.

    uv run python -m tests.bench.bench_gold FILE INDEX

FILE: JSONL of `{question, gold: [...], gold_also: [...], history: [{q, a}], collection}`; of several collections each is the index
INDEX/collection. A follow-up is rewritten as the engine without a model rewrites it. A row has to hold both gold and gold_also.
"""

import argparse
import html
import re
import unicodedata
from collections import Counter
from pathlib import Path

import msgspec

from index.languages.detection import detect
from index.model import Hit
from index.search.searcher import Searcher
from prompts.contracts import RewriteQuery, Turn
from runtime.engines.extractive.rewriting import rewrite_query

DEPTHS = (1, 5, 20)


class Said(msgspec.Struct, frozen=True):
    q: str
    a: str = ""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    question: str
    gold: tuple[str, ...] = ()
    gold_also: tuple[str, ...] = ()
    history: tuple[Said, ...] = ()
    collection: str = ""
    language: str = ""


def plain(text: str) -> str:
    """For comparing: without tags, marks of Markdown, vowel signs and differences of case and spacing."""
    text = unicodedata.normalize("NFKC", re.sub(r"<[^<>]*>|\]\([^)]*\)", " ", html.unescape(text))).casefold()
    kept = (sign for sign in text if sign not in "`*_[]\\" and unicodedata.category(sign) not in ("Mn", "Cf"))
    return " ".join("".join(kept).split())


def holds(text: str, wanted: tuple[str, ...]) -> bool:
    """Whether the text contains one of the strings; a bare code must be a separate word."""
    held = plain(text)
    for one in map(plain, wanted):
        if re.fullmatch("[0-9a-z]+", one):
            if re.search(rf"(?<![0-9a-z]){one}(?![0-9a-z])", held):
                return True
        elif one in held:
            return True
    return False


def is_gold(asked: Asked, hit: Hit) -> bool:
    if not asked.gold_also:
        return holds(hit.text, asked.gold)
    parts = [hit.text[block.start - hit.char_start : block.end - hit.char_start] for block in hit.blocks]
    return any(holds(part, asked.gold) and holds(part, asked.gold_also) for part in parts)


def alone(asked: Asked) -> tuple[str, str]:
    """The question as it is searched for, and its topic."""
    if not asked.history:
        return asked.question, ""
    turns = [
        turn
        for said in asked.history
        for turn in (Turn(role="user", content=said.q), Turn(role="assistant", content=said.a))
    ]
    prompt = RewriteQuery(
        current_query=asked.question, conversation_history=tuple(turns), language=detect(asked.question)
    )
    reply = rewrite_query(prompt)
    return reply.rewritten_query, reply.topic


def main(file: Path, index: Path) -> None:
    lines = file.read_bytes().splitlines()
    questions = [one for one in (msgspec.json.decode(line, type=Asked) for line in lines) if one.gold]
    searchers: dict[str, Searcher] = {}
    found: Counter[tuple[str, int]] = Counter()
    of: Counter[str] = Counter()
    for asked in questions:
        if asked.collection not in searchers:
            searchers[asked.collection] = Searcher.open(index / asked.collection)
        deep = max(DEPTHS)
        query, topic = alone(asked)
        hits = searchers[asked.collection].search(query, topic=topic, k=deep, bm25_k=deep, vector_k=deep)
        first = next((rank for rank, hit in enumerate(hits, 1) if is_gold(asked, hit)), deep + 1)
        for group in ("all", asked.language):
            of[group] += 1
            found.update((group, depth) for depth in DEPTHS if first <= depth)
    for group in of:
        shares = "  ".join(f"first {depth}: {found[group, depth] / of[group]:.3f}" for depth in DEPTHS)
        print(f"{group or '-':5} {of[group]:5} questions  {shares}")
    for searcher in searchers.values():
        searcher.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How often the gold string is among the first passages.")
    parser.add_argument("file", type=Path, help="JSONL of questions")
    parser.add_argument("index", type=Path, help="index, or the folder of one index for each collection")
    given = parser.parse_args()
    main(given.file, given.index)
