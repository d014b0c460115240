"""Documents of any number of passages, varied from real sentences, and questions with exactly one right document.

Each sentence is a real one in which one word in three is another word of its language: one of the real texts or, more rarely, one
coined of the halves of two. So vocabularies grow as those of real texts do, and few passages are near-duplicates. The same seed
gives the same documents.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from index.languages.characters import WIDE
from index.text.passages import weigh

DEMO = Path(__file__).parents[2] / "runtime" / "demo" / "documents"
#: Of the words of a sentence, how many are others; of those, how many are coined.
_OTHER, _COINED = 0.33, 0.12
_WIDE = re.compile(f"[{WIDE}]")
_SENTENCE = re.compile(r"[^.!?\n\u3002]{20,300}[.!?\u3002]")
_WORD = re.compile(rf"[{WIDE}]{{2}}|[^\W_{WIDE}]{{4,}}")
#: A section is about as long as one passage (passages.py).
_SECTION = 900
_PLANTED_WORDS = 7


class Planted(NamedTuple):
    """A question of words out of one sentence of one document."""

    question: str
    language: str
    source_id: str


class Language:
    """The sentences and the words of one language."""

    def __init__(self, name: str, texts: Iterable[str]) -> None:
        self.name = name
        self.sentences = [match[0].strip() for text in texts for match in _SENTENCE.finditer(text)]
        self.words = [word for sentence in self.sentences for word in _WORD.findall(sentence)]

    def sentence(self, dice: random.Random) -> str:
        return _WORD.sub(lambda match: self._word(match[0], dice), dice.choice(self.sentences))

    def _word(self, word: str, dice: random.Random) -> str:
        if dice.random() > _OTHER:
            return word
        other = dice.choice(self.words)
        if dice.random() > _COINED:
            return other
        more = dice.choice(self.words)
        return other[: (len(other) + 1) // 2] + more[len(more) // 2 :]


def languages(files: Iterable[Path]) -> list[Language]:
    """Of passages in JSONL files, each with its text and language; without any, of the demo's documents."""
    texts: dict[str, list[str]] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            texts.setdefault(one["language"], []).append(one["text"])
    if not texts:
        for file in sorted(DEMO.glob("*/*")):
            if file.suffix in (".md", ".txt"):
                lines = file.read_text(encoding="utf-8").splitlines()
                plain = "\n".join(line for line in lines if not line.startswith(("#", "|", "-")))
                texts.setdefault(file.parent.name.rpartition("-")[2], []).append(plain)
    return [Language(name, texts[name]) for name in sorted(texts)]


def write(folder: Path, passages: int, spoken: list[Language], *, planted: int, seed: int = 1) -> list[Planted]:
    """Write documents of about so many passages into the folder, 250 to a folder below; returns the questions."""
    dice = random.Random(seed)
    left, number = passages, 0
    every = max(1, passages // 10 // max(planted, 1))
    found: list[Planted] = []
    while left > 0:
        language = spoken[number % len(spoken)]
        sections = min(left, max(1, round(dice.lognormvariate(2.1, 0.6))))
        name = f"{number // 250:04d}/{language.name}-{number:06d}.md"
        sentences = list(_document(folder / name, language, sections, dice))
        if number // len(spoken) % every == 0 and len(found) < planted:
            found.append(Planted(_question(dice.choice(sentences), language, dice), language.name, name))
        left -= sections
        number += 1
    return found


def _document(path: Path, language: Language, sections: int, dice: random.Random) -> Iterator[str]:
    """Write one document; its sentences, but for headings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [f"# {_heading(language, dice)}"]
    for _ in range(sections):
        parts.append(f"## {_heading(language, dice)}")
        weight, inside = 0.0, list[str]()
        while weight < _SECTION:
            inside.append(language.sentence(dice))
            weight += weigh(inside[-1])
        yield from inside
        half = len(inside) // 2
        parts += [" ".join(inside[:half]), " ".join(inside[half:])]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _heading(language: Language, dice: random.Random) -> str:
    return " ".join(dice.choices(language.words, k=3))


def _question(sentence: str, language: Language, dice: random.Random) -> str:
    words = _WORD.findall(sentence)
    at = sorted(dice.sample(range(len(words)), min(_PLANTED_WORDS, len(words))))
    # Text without spaces gets a question without spaces.
    return ("" if _WIDE.search(sentence) and " " not in sentence.strip() else " ").join(words[place] for place in at)


def more(folder: Path, spoken: list[Language], *, documents: int, seed: int) -> list[Path]:
    """A few more documents, of some seven passages each."""
    dice = random.Random(seed)
    paths = [folder / f"new-{seed}-{number}.md" for number in range(documents)]
    for number, path in enumerate(paths):
        list(_document(path, spoken[number % len(spoken)], 7, dice))
    return paths


def save(path: Path, planted: list[Planted]) -> None:
    path.write_bytes(msgspec.json.encode(planted))


def load(path: Path) -> list[Planted]:
    return msgspec.json.decode(path.read_bytes(), type=list[Planted])
