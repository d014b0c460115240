"""Codes, article numbers, options of commands and operators, which analyzers would split or drop, as words of letters.

`ISO-9001`, `Article L. 123-4`, `--exclude-newer` and `??` each become one word of letters; the same words are added to
passages and to questions. Different spellings of the same code become the same word.
"""

import hashlib
import re
import unicodedata

from index.languages import LANGUAGES, of
from index.languages.folding import ascii_digits
from index.languages.numerals import characters_worth

_LETTERS = "bcdfghjklmnpqrstvwxz"
_WORD_LENGTH = 14
_SHORT_OPTION = 2

# Letters and digits in one word, joined directly or by one of - . / _ ; at least one of each.
_CODE = re.compile(r"(?<![a-z0-9])(?=[a-z0-9./_-]*\d)(?=[a-z0-9./_-]*[a-z])[a-z0-9]+(?:[./_-][a-z0-9]+)*(?![a-z0-9])")
_NUMBERED = re.compile(r"(?<![\w.,-])\d+(?:[.-]\d+){2,}(?![\w-])")
# An option of a command; one of a single letter means another thing in capitals.
_OPTION = re.compile(r"(?<![\w-])(?:--[^\W\d_][\w-]*\w|-[^\W\d_](?![\w-]))")
# An operator, standing alone or between quotes; a decoration repeats one sign, and what follows a letter is punctuation.
_OPERATOR = re.compile(r"(?<![^\s`'\"“‘«「(])(?!(\S)\1{2}|--)[?!=<>|&+*:~^%.-]{2,3}(?![^\s`'\"”’»」),])")
_SEPARATORS = re.compile(r"[\s./_-]+")

_ARTICLES = [
    (
        re.compile(articles.pattern),
        {other: kind for kind, others in articles.kinds.items() for other in others.split()},
        articles,
    )
    for articles in (of(language).search.articles for language in LANGUAGES)
]


def code_words(text: str) -> list[str]:
    """One letters-only word for every code in `text`, in order, without repeats."""
    text = ascii_digits(unicodedata.normalize("NFKC", text))
    found: dict[str, None] = {}
    for pattern in (_OPTION, _OPERATOR):
        for match in pattern.finditer(text):
            _note(found, match[0] if len(match[0]) <= _SHORT_OPTION else match[0].lower())
    text = text.lower()
    for pattern, kinds, articles in _ARTICLES:
        for match in pattern.finditer(text):
            named = match.groupdict()
            written = articles.written.format(
                kind=kinds.get(named["kind"], named["kind"]), number=_plain(named["number"])
            )
            part = named.get("part")
            _note(found, written + articles.written_part.format(part=_plain(part)) if part else written)
    for pattern in (_CODE, _NUMBERED):
        for match in pattern.finditer(text):
            _note(found, _SEPARATORS.sub("", match[0]))
    return list(found)


def with_codes(text: str) -> str:
    """The text, followed by the words of its codes."""
    return joined(text, " ".join(code_words(text)))


def joined(text: str, codes: str) -> str:
    """A text and the words of its codes, as both searches index them."""
    return f"{text}\n{codes}" if codes else text


def _note(found: dict[str, None], code: str) -> None:
    digest = hashlib.blake2b(code.encode("utf-8", "replace"), digest_size=16).digest()
    found["".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:_WORD_LENGTH])] = None


def _plain(number: str) -> str:
    """A number without its signs: `l. 123-4` becomes `l1234`; number characters become digits."""
    if number.isascii():
        return str(int(number)) if number.isdigit() else _SEPARATORS.sub("", number)
    return str(characters_worth(number))
