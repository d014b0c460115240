"""Pieces of words from the texts of groups, and pairs of texts as the numbers of their pieces."""

import io
import re
from collections.abc import Iterable
from itertools import accumulate, chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from index.languages import LANGUAGES
from index.languages.characters import fold
from tests.bench.meaning.readers import Group
from tests.bench.meaning.sources import Source

#: Texts are cut here, in characters and in pieces.
_LONGEST, _MOST_PIECES = 1500, 112
#: The pairs of a group that count, drawn by chance.
_MOST_PAIRS = 12

type Arrays = dict[str, NDArray[Any]]


class Corpus(NamedTuple):
    """Folded texts with their languages, and groups by the numbers of their texts with their sources."""

    texts: list[tuple[str, str]]
    groups: list[tuple[list[int], list[int], Source]]


def corpus(groups: Iterable[tuple[Source, Group]]) -> Corpus:
    numbers: dict[tuple[str, str], int] = {}
    found = []
    for source, group in groups:
        sides = ([(language, folded(text)) for language, text in side[:40]] for side in group)
        one, other = ([numbers.setdefault(each, len(numbers)) for each in side if each[1]] for side in sides)
        if (one and other) if group.other else len(one) > 1:
            found.append((one, other, source))
    return Corpus(list(numbers), found)


def folded(text: str) -> str:
    """The words of a text as index/languages/meaning.py compares them."""
    return " ".join(re.findall(r"[^\W_]+", fold(text)))[:_LONGEST]


def learn(given: Corpus, count: int) -> tuple[Any, Arrays]:
    """SentencePiece with at most `count` pieces, from about as much text of each language, by chance and by what it counts.

    The arrays: how each piece is written, joined by newlines, empty for the one of unknown letters; and its log-probability.
    """
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    sample: list[str] = []
    weights = np.zeros(len(given.texts))
    for one, other, source in given.groups:
        weights[[*one, *other]] = np.maximum(weights[[*one, *other]], source.weight)
    late = np.random.default_rng(1).exponential(size=len(weights)) / np.maximum(weights, 1e-9)
    for language in LANGUAGES:
        own = [text for each, text in given.texts if each == language]
        order = np.argsort(late[[each == language for each, _ in given.texts]]).tolist()
        most = 3_500_000 if language == "zh" else 7_000_000  # Chinese says as much in half the characters
        ends = accumulate(len(own[at]) for at in order)
        sample += [own[at] for at, end in zip(order, ends, strict=True) if end <= most]
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(sample), model_writer=model, vocab_size=count, hard_vocab_limit=False, model_type="unigram",
        character_coverage=0.9997, max_sentence_length=4000, input_sentence_size=700_000, shuffle_input_sentence=True,
        normalization_rule_name="identity", bos_id=-1, eos_id=-1, pad_id=-1, max_sentencepiece_length=12, minloglevel=1,
    )  # fmt: skip
    known = SentencePieceProcessor(model_proto=model.getvalue())
    numbers = range(known.get_piece_size())
    spelled = "\n".join("" if known.is_unknown(number) else known.id_to_piece(number) for number in numbers)
    cost = np.array([known.get_score(number) for number in numbers], np.float32)
    return known, {"pieces": np.frombuffer(spelled.encode(), np.uint8), "cost": cost}


def packed(given: Corpus, known: Any, fewest: int = 1500) -> Arrays:
    """The pieces of every text, and weighted pairs of texts sorted by their languages.

    `tokens` holds text n from ends[n] to ends[n + 1]; a row of `cells` is the first and the last pair, exclusive, of two
    languages. Two languages with fewer than `fewest` pairs are left out.
    """
    tokens = [ids[:_MOST_PIECES] for ids in known.encode([text for _, text in given.texts])]
    languages = np.array([LANGUAGES.index(language) for language, _ in given.texts])
    pairs, weights = paired(given, languages)
    cells = languages[pairs[:, 0]] * len(LANGUAGES) + languages[pairs[:, 1]]
    order = np.argsort(cells, kind="stable")
    order = order[np.bincount(cells)[cells[order]] >= fewest]
    starts = np.unique(cells[order], return_index=True)[1]
    return {
        "tokens": np.fromiter(chain.from_iterable(tokens), np.uint16),
        "ends": np.cumsum([0, *map(len, tokens)]),
        "languages": languages,
        "pairs": pairs[order],
        "weights": weights[order],
        "cells": np.stack([starts, np.append(starts[1:], len(order))], 1),
    }


def paired(given: Corpus, languages: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """First text, second text and group of each pair, equals in the order of their languages; and what a pair counts."""
    random = np.random.default_rng(1)
    rows: list[tuple[int, int, int]] = []
    weights: list[float] = []
    for number, (one, other, source) in enumerate(given.groups):
        every = list(product(one, other) if other else combinations(sorted(one, key=languages.item), 2))
        chosen = [every[at] for at in random.permutation(len(every))[:_MOST_PAIRS].tolist()]
        rows += [(first, second, number) for first, second in chosen]
        weights += [source.weight * len(chosen) ** -0.35] * len(chosen)
    return np.array(rows, np.int32), np.array(weights, np.float32)
