"""Tell two documents apart that are of two people or things: what the one says is no contradiction of the other."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

from actors.evidence.standing import Dated
from index.languages.characters import fold

_WORD: Final = re.compile(r"[^\W\d_]{2,}")
#: A word with a capital inside a sentence.
_INSIDE: Final = re.compile(r"(?<=[\w,;] )[^\W\d_]{2,}")

#: What is known of a document: its path without the file's name, its title, and its text as far as it was found.
type Known = tuple[str, str, str]


def known(parts: Sequence[Dated]) -> dict[str, Known]:
    """What is known of each document, by source id."""
    texts: dict[str, list[str]] = {}
    for part in parts:
        texts.setdefault(part.source_id, [part.title]).append(part.text)
    return {name: (str(PurePosixPath(name).parent), title, "\n".join(text)) for name, (title, *text) in texts.items()}


def of_another(one: str, other: str, documents: Mapping[str, Known], question: str) -> bool:
    """Whether the question has a name that only one of them has, or both stand in folders of two names.

    A name has a capital inside the question or the folder; in a script without capitals, folder or title have it.
    """
    mine, theirs = documents.get(one, (one, "", "")), documents.get(other, (other, "", ""))
    asked = [fold(word) for word in _WORD.findall(question)]
    named = {fold(word) for word in _INSIDE.findall(question) if word[0].isupper()}
    places = {*_of_places(mine), *_of_places(theirs)}
    named |= {place for place in places if any(word.startswith(place) for word in asked)}
    if any(_has(mine, name, one) != _has(theirs, name, other) for name in named):
        return True
    return _alone(mine, theirs, other) and _alone(theirs, mine, one)


def _of_places(document: Known) -> Iterator[str]:
    """The words of its folders that are no small letters, and of its title where there are none."""
    folder, title, _ = document
    yield from (fold(word) for word in _WORD.findall(folder) if not word[0].islower())
    yield from (fold(word) for word in _WORD.findall(title) if word.lower() == word.upper())


def _has(document: Known, name: str, path: str) -> bool:
    _, title, text = document
    return any(word.startswith(name) for word in map(fold, _WORD.findall(f"{path}\n{title}\n{text}".replace("_", " "))))


def _alone(document: Known, other: Known, path: str) -> bool:
    """Whether a folder has a name that the document's text has inside a sentence, and the other document nowhere."""
    folders, text = _WORD.findall(document[0]), {*_INSIDE.findall(document[2])}
    return any(word[0].isupper() and word in text and not _has(other, fold(word), path) for word in folders)
