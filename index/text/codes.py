"""Codes, article numbers, options of commands and operators, which analyzers would split or drop, as words of letters.

`ISO-9001`, `Article L. 123-4`, `--exclude-newer` and `??` each become one word of letters; the same words are added to
passages and to questions. Different spellings of the same code become the same word.
"""

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterator

from index.languages import LANGUAGES, of
from index.languages.characters import LETTERS, ascii_digits
from index.languages.numerals import characters_worth

_LETTERS = "bcdfghjklmnpqrstvwxz"
_WORD_LENGTH = 14
_SHORT_OPTION = 2

# Each pattern below begins with what it matches and then looks back, so that Python finds where to try it in one quick scan.
# Letters and digits in one word, joined directly or by one of - . / _ ; at least one of each. Searched in a run of such signs
# that has a digit.
_FROM_DIGIT = re.compile(r"[0-9][a-z0-9./_-]*+")
_BEFORE_DIGIT = "abcdefghijklmnopqrstuvwxyz./_-"
_CODE = re.compile(r"(?<![a-z0-9])(?=[a-z0-9./_-]*\d)(?=[a-z0-9./_-]*[a-z])[a-z0-9]+(?:[./_-][a-z0-9]+)*(?![a-z0-9])")
_NUMBERED = re.compile(r"\d(?<![\w.,-]\d)\d*(?:[.-]\d+){2,}(?![\w-])")
# An option of a command; one of a single letter means another thing in capitals.
_OPTION = re.compile(r"-(?<![\w-]-)(?:-[^\W\d_][\w-]*\w|[^\W\d_](?![\w-]))")
# An operator, standing alone or between quotes; a decoration repeats one sign, and what follows a letter is punctuation.
_SIGNS = r"[?!=<>|&+*:~^%.-]"
_OPERATOR = re.compile(
    rf"({_SIGNS})(?<![^\s`'\"“‘«「(]{_SIGNS})(?!\1{{2}})(?!(?<=-)-){_SIGNS}{{1,2}}(?![^\s`'\"”’»」),])"
)
_DIGIT = re.compile("[0-9]")
_SEPARATORS = re.compile(r"[\s./_-]+")

#: Of each language, whether the numbers of its articles need a digit, the letters without which a text names no article in
#: it, and how they are named: first without the word's edge, so that Python finds where to try it in one quick scan.
_ARTICLES = [
    (
        r"\d" in articles.pattern,
        re.compile(f"[{LETTERS[of(language).identity.script]}]"),
        re.compile(articles.pattern.removeprefix(r"\b")),
        re.compile(articles.pattern),
        {other: kind for kind, others in articles.kinds.items() for other in others.split()},
        articles,
    )
    for language in LANGUAGES
    for articles in [of(language).search.articles]
]


def code_words(text: str) -> list[str]:
    """One letters-only word for every code in `text`, in order, without repeats."""
    if not text.isascii():
        if not unicodedata.is_normalized("NFKC", text):  # most are, and to see it is quicker
            text = unicodedata.normalize("NFKC", text)
        text = ascii_digits(text)
    results: dict[str, None] = {}
    for pattern in (_OPTION, _OPERATOR):
        for match in pattern.finditer(text):
            _note(results, match[0] if len(match[0]) <= _SHORT_OPTION else match[0].lower())
    text = text.lower()
    numbered = _DIGIT.search(text) is not None
    for needs_digit, letters, quick, pattern, kinds, articles in _ARTICLES:
        if (needs_digit and not numbered) or not letters.search(text) or not quick.search(text):
            continue
        for match in pattern.finditer(text):
            named = match.groupdict()
            written = articles.written.format(
                kind=kinds.get(named["kind"], named["kind"]), number=_plain(named["number"])
            )
            part = named.get("part")
            _note(results, written + articles.written_part.format(part=_plain(part)) if part else written)
    if not numbered:
        return list(results)
    runs = [run for run in _runs(text) if not run.isdigit()]
    for run in runs:
        for match in _CODE.finditer(run):
            _note(results, _SEPARATORS.sub("", match[0]))
    if any(run.count(".") + run.count("-") > 1 for run in runs):
        for match in _NUMBERED.finditer(text):
            _note(results, _SEPARATORS.sub("", match[0]))
    return list(results)


def without_article(heading: str) -> str:
    """A heading without the number of an article that it begins with; as it is, if it has nothing else."""
    lowered = heading.lower()
    ends = (found.end() for *_, pattern, _, _ in _ARTICLES if (found := pattern.match(lowered)))
    bare = heading[max(ends, default=0) :].lstrip(" .:)–—-")
    return (bare[1:-1] if bare.startswith("(") and bare.endswith(")") else bare) or heading


def _runs(text: str) -> Iterator[str]:
    """The runs of letters, digits and the signs that join them which have a digit; digits are found much sooner than letters."""
    done = 0
    for match in _FROM_DIGIT.finditer(text):
        before = text[done : match.start()]
        yield before[len(before.rstrip(_BEFORE_DIGIT)) :] + match[0]
        done = match.end()


def with_codes(text: str) -> str:
    return joined(text, " ".join(code_words(text)))


def joined(text: str, codes: str) -> str:
    """A text and the words of its codes, as both searches index them."""
    return f"{text}\n{codes}" if codes else text


def _note(found: dict[str, None], code: str) -> None:
    found[_word(code)] = None


@functools.lru_cache(8192)
def _word(code: str) -> str:
    digest = hashlib.blake2b(code.encode("utf-8", "replace"), digest_size=16).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_WORD_LENGTH])


def _plain(number: str) -> str:
    """A number without its signs: `l. 123-4` becomes `l1234`; number characters become digits."""
    if number.isascii():
        return str(int(number)) if number.isdigit() else _SEPARATORS.sub("", number)
    return str(characters_worth(number))
