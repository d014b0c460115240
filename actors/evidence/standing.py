"""Find documents that are out of date, and their replacements.

A document is out of date when another document replaces it, by its metadata or by a sentence; when it states so itself; or when
another document has the same name with a later date or version, or is no draft, or is not put away as an old one. A document that
the question names by its year stays, and so do drafts and old ones if it asks for them. Also: the search for later files of the
best passage's name.
"""

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, permutations, product
from pathlib import PurePosixPath
from typing import Protocol

from groundwire.wire import About
from msgspec.structs import replace

from actors.evidence.thresholds import FILE_NAME_CHARS, TITLE_NAMED_SHARE, TITLE_SUBJECT_SHARE
from actors.facts.days import DAY, days
from actors.facts.stems import stems_in
from bus.powers.searching import SearchRequest
from bus.wire.parts import Passage
from index.filters import LONGEST_PATH, Filter, narrowed
from index.languages import union
from index.languages.characters import ascii_digits, fold
from index.text.replacing import replacing

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[^\s\d](\d{1,2})(?:[^\s\d](\d{1,2}))?)?(?!\d)")
_VERSION = re.compile(
    r"(?<![a-z\d.])v\.?\s?(\d{1,9}(?:\.\d{1,9})*)|(?<![\w.])(\d{1,9}(?:\.\d{1,9})+)(?![\w.])", re.IGNORECASE
)
_CODE = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][\w-]{3,}\b")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
#: How many passages of later documents are read with the best one, and the part of its score that they need.
_LATER, _NEAR = 2, 0.4


class Named(Protocol):
    """A passage, a span or a piece of evidence."""

    @property
    def source_id(self) -> str: ...
    @property
    def title(self) -> str: ...


class Dated(Named, Protocol):
    """A passage or a span."""

    @property
    def text(self) -> str: ...
    @property
    def about(self) -> About: ...


def out_of_date[D: Dated](parts_of_all: Sequence[D], question: str = "") -> dict[str, str]:
    """The source ids of documents that are out of date, each with its replacement; "" if only the document states it.

    `question`: the question. A document stays that it names by a year or version which the replacement has not.
    """
    documents: dict[str, list[D]] = {}
    for one in parts_of_all:
        documents.setdefault(one.source_id, []).append(one)
    old: dict[str, str] = {}
    said = {source_id: tuple(_sentences(parts)) for source_id, parts in documents.items()}

    def replaces(newer: Sequence[D], older: Sequence[D]) -> bool:
        return _replaces(newer[0], older, said[newer[0].source_id])

    for newer, older in permutations(documents.values(), 2):
        if replaces(newer, older) and not replaces(older, newer):
            old.setdefault(older[0].source_id, newer[0].source_id)
    for source_id, parts in documents.items():
        if source_id not in old and _says_so_itself(parts):
            old[source_id] = ""
    wanted = _marks(question)
    found = {source_id: _newest(by, old) for source_id, by in old.items()}
    marks = {source_id: _marks(_name(parts[0])) for source_id, parts in documents.items()}
    return {name: by for name, by in found.items() if not wanted & (marks[name] - marks.get(by, set()))}


def later(passages: Sequence[Passage], request: SearchRequest) -> SearchRequest | None:
    """The search in files that differ from the best passage's in dates and versions only; None where its name has none."""
    if not passages or (request.filter and request.filter.path):
        return None
    plain = glob.escape(ascii_digits(passages[0].source_id))
    pattern = _VERSION.sub(_any_digits, _DATE.sub(_any_digits, DAY.sub(_any_digits, plain)))
    if pattern == plain or len(pattern) >= LONGEST_PATH:
        return None
    pattern = _ENDING.sub(".*", pattern)  # a later version may have another format
    named = Filter(path="/" + re.sub(r"(?:[\s_.-]*\*)+", "*", pattern))
    return replace(request, filter=narrowed(request.filter, named), snapshot=passages[0].snapshot)


def _any_digits(match: re.Match[str]) -> str:
    return re.sub(r"\d+", "*", match[0])


def with_later(passages: Sequence[Passage], more: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages, behind the best one two of `more` that are not far from it, of a later document of that name."""
    best = passages[0]
    known = {(one.source_id, one.char_start) for one in passages}
    near = (one for one in more if one.score >= _NEAR * best.score and is_later(one, best))
    new = (one for one in near if (one.source_id, one.char_start) not in known)
    return (passages[0], *islice(new, _LATER), *passages[1:])


def _marks(text: str) -> set[str]:
    """The years and versions in a question or name, and whether it names a draft or what is old."""
    return {*years_in(text), *_versions(text), *(field for field in ("draft", "shelved") if _says(field, text))}


@lru_cache(maxsize=4096)
def _says(field: str, text: str) -> bool:
    return bool(_standing(field).search(text))


@cache
def _standing(field: str) -> re.Pattern[str]:
    return union(lambda language: getattr(language.terms.standing, field))


def moves(text: str) -> bool:
    """Whether a text moves, changes or cancels something that was announced."""
    return bool(_standing("moves").search(text))


def withdraws(text: str) -> bool:
    """Whether a text ends something, without a number to compare."""
    return bool(_standing("withdraws").search(text))


def warns(text: str) -> bool:
    """Whether a text says that something may be in a food, although it is no part of it."""
    return bool(_standing("traces").search(text))


def _newest(by: str, old: dict[str, str]) -> str:
    """The latest replacement of a document, following the chain."""
    seen = {by}
    while old.get(by) and old[by] not in seen:
        by = old[by]
        seen.add(by)
    return by


def _replaces(one: Dated, older: Sequence[Dated], said: Sequence[str]) -> bool:
    """Whether a document, which says these sentences of others, replaces another one."""
    other = older[0]
    if one.about.replaces and fold(one.about.replaces) in (fold(other.source_id), fold(other.title)):
        return True
    return is_later(one, other) or any(_names(sentence, one, older) for sentence in said)


def _sentences(parts: Sequence[Dated]) -> Iterator[str]:
    """What a document says of others that it replaces, in these parts and anywhere else in it."""
    for text in (parts[0].about.replaces, *(part.text for part in parts)):
        yield from replacing(text)


def replaced_in_part[D: Dated](passages: Sequence[D], old: Mapping[str, str]) -> frozenset[str]:
    """Those of the documents out of date that are replaced only in what a later one says of the same: by an amendment, or those of
    one month or day, such as minutes, where the later one does not say that it replaces all earlier ones.
    """
    parts: dict[str, list[D]] = {}
    for one in passages:
        parts.setdefault(one.source_id, []).append(one)
    return frozenset(
        name
        for name, by in old.items()
        if by in parts
        and (amends(parts[by][0], parts[name][0]) or (len(when(parts[name][0])) > 1 and not _all(parts[by])))
    )


def _all(parts: Sequence[Dated]) -> bool:
    return any(_says("all", sentence) for sentence in _sentences(parts))


def _names(sentence: str, by: Dated, older: Sequence[Dated]) -> bool:
    """Whether a sentence of `by` names another document: by its title, its file, its code, or its year and their subject."""
    one = older[0]
    words, title = stems_in(sentence), stems_in(one.title)
    years = years_in(sentence)
    dated = set(_years(one)) & set(years)
    if len(title) > 1 and len(title & words) >= TITLE_NAMED_SHARE * len(title) and (dated or not _years(one)):
        return stems_in(by.title) != title or bool(dated)
    name = PurePosixPath(one.source_id).stem
    if len(name) >= FILE_NAME_CHARS and "-" in name and fold(name) in fold(sentence):
        return True
    if any(code in f"{part.title}\n{part.text}" and code not in by.title for code in _CODE.findall(sentence)
           for part in older):  # fmt: skip
        return True
    if not _shelves(by, one) and (not dated or dated & set(_years(by))):
        return False
    mine = stems_in(by.title)
    # A file's name may be its title, and its first line its subject.
    subjects = (title, *(stems_in(part.text.partition("\n")[0]) for part in older))
    return any(
        subject and len(mine & subject) >= TITLE_SUBJECT_SHARE * min(len(mine), len(subject)) for subject in subjects
    )


def _says_so_itself(parts: Sequence[Dated]) -> bool:
    return _says("retired", parts[0].title) or any(_says("ended", part.text) for part in parts)


def is_later(one: Dated, other: Dated) -> bool:
    """Whether both have one name but for a date or version, and this one's is later, or it alone has none."""
    if amends(one, other) or _is_copy_of(one, other):
        return True
    return _have_one_name(one, other) and not _is_copy_of(other, one) and _is_later_version(one, other)


def _shelves(one: Named, other: Named) -> bool:
    """Whether the path of the other document alone says that it is old, and its name has no later date."""
    if not _says("shelved", other.source_id) or _says("shelved", one.source_id):
        return False
    return not (when(one) and when(other) > when(one))


def _is_copy_of(one: Named, other: Named) -> bool:
    """Whether the other document is an old copy: this one's title or file's name has all words of its, and at most as many more."""
    if not _shelves(one, other):
        return False
    mine, theirs = (
        [stems_in(_key(each.title)), stems_in(_key(PurePosixPath(each.source_id).name))] for each in (one, other)
    )
    return any(old and old <= new and len(new) <= 2 * len(old) for old, new in product(theirs, mine))


def _is_later_version(one: Dated, other: Dated) -> bool:
    drafts = [_says("draft", _name(each)) for each in (one, other)]
    if drafts[0] != drafts[1]:
        return drafts[1]
    mine, theirs = when(one), when(other)
    if mine and theirs:
        return mine > theirs
    if theirs and not mine:
        # "rules.md" is in force and "rules-2022.md" is not, but "invoice 1977" next to "invoice 1803" may be.
        return not re.search(r"\d", f"{one.title} {PurePosixPath(one.source_id).stem}")
    versions = _numbers(one), _numbers(other)
    if all(versions):
        return versions[0] > versions[1]
    same_file = PurePosixPath(one.source_id).name == PurePosixPath(other.source_id).name
    return same_file and bool(other.about.date) and one.about.date > other.about.date


def amends(one: Named, other: Named) -> bool:
    """Whether a document changes another one in parts: an amendment with most words of its title or file's name, or with one of
    these words in the same folder.
    """
    if not _is_amendment(one.title, one.source_id) or _is_amendment(other.title, other.source_id):
        return False
    mine = stems_in(_name(one).replace("_", " "))
    names = (stems_in(text.replace("_", " ")) for text in (other.title, PurePosixPath(other.source_id).stem))
    words = [{stem for stem in name if stem.isalpha()} for name in names]
    if PurePosixPath(one.source_id).parent == PurePosixPath(other.source_id).parent:
        return any(each & mine for each in words)
    return any(len(each) > 1 and len(each & mine) >= TITLE_NAMED_SHARE * len(each) for each in words)


@lru_cache(maxsize=4096)
def _is_amendment(title: str, source_id: str) -> bool:
    return _says("amends", f"{title} {source_id}")


def of_one_series(one: Named, other: Named) -> bool:
    """Whether both have one name but for their dates, as the minutes of two meetings have."""
    return _have_one_name(one, other) and bool(when(one) and when(other)) and when(one) != when(other)


def _have_one_name(one: Named, other: Named) -> bool:
    by_title, by_file = _key(one.title), _key(one.source_id)
    return bool(by_title and by_title == _key(other.title)) or bool(by_file and by_file == _key(other.source_id))


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    """A title or source id without its ending, dates, versions and words for a draft, final or old form."""
    plain = DAY.sub(" ", fold(ascii_digits(_ENDING.sub("", name))).replace("_", " "))
    for pattern in (_DATE, _VERSION, *map(_standing, ("draft", "final", "shelved"))):
        plain = pattern.sub(" ", plain)
    return " ".join(re.findall(r"\w+", plain))


def _name(one: Named) -> str:
    return _in_digits(f"{one.title} {one.source_id}")


_in_digits = lru_cache(maxsize=4096)(ascii_digits)


def years_in(text: str) -> list[str]:
    """The years 1900 to 2099 in a text, in digits 0 to 9."""
    return _YEAR.findall(ascii_digits(text))


def _years(one: Named) -> list[str]:
    return years_in(_name(one))


def each_of_its_year(one: Named, other: Named, question: str) -> bool:
    """Whether a question names a year that the name of one document has and that of the other, of another year, has not."""
    mine, theirs = set(_years(one)), set(_years(other))
    return bool(mine and theirs and (mine ^ theirs) & set(years_in(question)))


def when(one: Named) -> tuple[int, ...]:
    """The latest date in its title or source id."""
    return _latest(_name(one))


@lru_cache(maxsize=4096)
def _latest(name: str) -> tuple[int, ...]:
    whole = [(int(one.year), one.month, one.day) for one in days(fold(name)) if one.year]
    return max((*whole, *(tuple(int(part) for part in date if part) for date in _DATE.findall(name))), default=())


@lru_cache(maxsize=4096)
def _versions(text: str) -> list[str]:
    return [first or second for first, second in _VERSION.findall(_DATE.sub(" ", ascii_digits(text)))]


def _numbers(one: Dated) -> tuple[int, ...]:
    versions = [one.about.version] if re.fullmatch(r"[\d.]*\d", one.about.version) else _versions(_name(one))
    return tuple(int(part) for part in versions[0].split(".") if part) if versions else ()
