"""Addresses, accounts, paths and commands that are not in the evidence: a person could act on one, so none may be made up.

A sentence and its evidence are read alike: hidden characters, look-alike dots, `hxxp`, `evil[.]example` and "evil dot example"
become a plain address. The evidence must contain each address of the sentence unchanged.
"""

import html
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Final

from actors.facts.stems import EMPTY
from actors.gate.thresholds import ADDRESS_OCCURRENCES, MARKED_PHONE_DIGITS, PHONE_DIGITS
from index.languages import every
from index.languages.characters import LETTERS, visible
from index.languages.tables.kinds import words_in
from index.text.citations import fences

#: Top-level domains that make an address of two words, however they are written.
_DOMAINS: Final = words_in("""
    com net org info biz edu gov mil int name pro aero coop museum mobi asia tel jobs travel xyz top site online shop store
    club app dev page web cloud tech space website live life world today news blog wiki email link click download zip mov fun
    icu vip win bid loan work works company digital agency network media games bank finance money group chat social support
    help center systems solutions services example test invalid localhost onion local internal lan corp
""")
_IN_SCRIPT: Final = frozenset(every(lambda language: words_in(language.terms.addresses.endings)))
_ABBREVIATIONS: Final = words_in("p.ej p.ex s.str u.dgl i.allg")
_OUR_LETTERS: Final = re.compile(f"[{''.join(letters for script, letters in LETTERS.items() if script != 'latin')}]")

_DOTS: Final = "|".join(sorted(every(lambda language: words_in(language.terms.addresses.dots))))
_ATS: Final = "|".join(sorted(every(lambda language: words_in(language.terms.addresses.ats))))
_LOOK_ALIKE: Final = re.compile("[\u2024\u3002\uff61\ua4f8\u06d4\u00b7\u2022\u2219\u22c5\u2027](?=[a-z])")
_BRACKETED: Final = re.compile(rf"\s*[\[({{<]\s*(?:(\.|{_DOTS})|(@|{_ATS})|(://?|:))\s*[\])}}>]\s*")
_SPELLED: Final = re.compile(
    rf"(?<=\w)(?:\s+(?:{_DOTS}|\.)\s+|\s*(?:{_DOTS})\s*(?<!\s[a-z]))(?=({'|'.join(sorted(_DOMAINS))})(?![a-z]))"
)
_SPELLED_SIGN: Final = re.compile(rf"{_DOTS}|[\[({{<]|\s\.\s")
_HTTP: Final = re.compile(r"\bhxxp|\bh[*x]{2}p|\bhttp(?=s?\s*\[)")
_MARKUP: Final = re.compile(r"</?[a-z][a-z0-9]{0,9}>|[*\u200b]|\\(?=[._:/@-])")
_MARK: Final = re.compile(r"\[\s?\^?\d{1,3}(?:\s?[,;-]\s?\d{1,3})*\s?\](?!\()")
#: The same at the end of a sentence: "In June [1]. Website to follow" has no "june.website".
_LAST_MARKS: Final = re.compile(rf"(?:\s{{0,3}}{_MARK.pattern}){{1,8}}(?=\.\s[A-ZÀ-Ý])")

_END: Final = r"[^\s<>\"'`\])},;|\u00bb\u201d\u2019\u3001\u3002\u060c\u061b]"
_FOUND: Final = re.compile(
    rf"""
    (?P<url>(?:(?<![a-z0-9])[a-z][a-z0-9+.-]{{1,20}}:|(?<![\w:/]))//{_END}+)
    |(?P<scheme>(?<![a-z0-9])(?:javascript|vbscript|data(?=:[a-z]+[/;,])|file(?=:/)|mailto|tel|sms|blob|intent|magnet|bitcoin):{_END}+)
    |(?P<target>\]\(\s*<?[^()\s<>]+|\]:\s+\S+|\b(?:href|src|action)\s*=\s*["']?[^\s"'<>]+)
    |(?P<mail>(?<![\w.+-])[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:\.[\w-]{{1,63}})*)
    |(?P<handle>(?<![\w@.])@[a-z0-9_][\w.-]{{1,40}})
    |(?P<path>(?<![\w.~/])(?:~|\.{{1,2}}|\$\w{{1,20}}|%\w{{1,20}}%)?(?:/[\w.@+-]+){{2,40}}|(?<!\w)~/[\w.@+-]+|(?<!\w)[a-z]:\\[^\s"']+|\\\\[\w.-]+\\[^\s"']+)
    |(?P<ip>(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.]*\d)|(?<![\w:])[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{3,7}}(?![\w:]))
    |(?P<domain>(?<![\w.@-])[\w-]{{1,63}}(?:\.[\w-]{{1,63}})+)
    |(?P<phone>(?<![\w.,])(?:\+|\(\+?)?\d[\d\s().\u2013-]{{5,28}}\d(?![\w.,]*\d))
    |(?P<token>(?<!\w)(?=[a-z0-9]*\d)(?=[a-z0-9]*[a-z])[a-z0-9]{{20,200}}(?!\w))
    """,
    re.VERBOSE,
)
#: Without one of these there is nothing to look for.
_SIGN: Final = re.compile(rf"[./@\\:`]|\d(?:[\s().\u2013-]*\d){{6}}|[a-z0-9]{{20}}|{_DOTS}")
#: A source line may name any file: "Source: handbook.pdf, p. 12".
_FILE: Final = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|md|rst|txt|html?|epub|csv|tsv|xlsx?|ods|pptx?|json|xml|ya?ml|eml|ipynb)\Z"
)
_TRAILING: Final = ".,;:!?-"
_DATE: Final = re.compile(
    r"\d{1,2}([.\s-])\d{1,2}\1\d{2,4}|\d{4}([.\s-])\d{1,2}\2\d{1,2}|(?:1\d|20)\d\d(?:\D{1,3}(?:1\d|20)\d\d)+"
)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:[\s.]\d{3})+")
_BETWEEN: Final = re.compile(r"(?<=\d)[\s().\u2013-]+(?=\d)")


def made_up(
    sentence: str, evidence: Sequence[str], *, urls: Collection[str] = (), names_sources: bool = False
) -> Iterator[str]:
    """The addresses, accounts and commands of `sentence` that neither `evidence` nor `urls` has, in order.

    `names_sources`: the sentence only names the source of an answer, so it may name any file.
    """
    text = _canonical(_MARK.sub(" ", _LAST_MARKS.sub("", sentence)) if "[" in sentence else sentence)
    known = [*map(_known, evidence), *map(_known, urls)]
    yield from commands(sentence, text, [*known, *evidence])
    if not _SIGN.search(text):
        return
    written = visible(unicodedata.normalize("NFKC", sentence))
    looked_at: set[tuple[str, str]] = set()  # a repeated address is looked for once
    for match in _FOUND.finditer(text):
        if (one := (str(match.lastgroup), match[0])) in looked_at:
            continue
        looked_at.add(one)
        if not _is_one(str(match.lastgroup), match[0], written):
            continue
        words = _bare(str(match.lastgroup), match[0])
        if names_sources and _FILE.search(words) and "/" not in words:
            continue
        if words and not any(_stands(words, one, parent=match.lastgroup == "domain") for one in known):
            if match.lastgroup == "phone" and any(_digits(words) in _joined(one) for one in known):
                continue
            yield words


def _is_one(kind: str, words: str, written: str) -> bool:
    match kind:
        case "domain":
            return _is_domain(words, written)
        case "phone":
            digits = _digits(words)
            long = len(digits) >= PHONE_DIGITS or (len(digits) >= MARKED_PHONE_DIGITS and words[0] in "+(0")
            return long and not _DATE.fullmatch(words) and not _THOUSANDS.fullmatch(words)
        case "ip":
            return "." in words or (words.count(":") >= 3 and any(map(str.isalnum, words)))
        case _:
            return True


def _is_domain(words: str, written: str) -> bool:
    """Whether words joined by full stops are a name of something, not an abbreviation, a number or two sentences."""
    words = words.rstrip(_TRAILING)
    labels, _, last = words.rpartition(".")
    end = re.match(r"[a-z][a-z0-9-]*|\w+", last)
    if not labels or end is None or len(end[0]) < 2 or words in _ABBREVIATIONS:
        return False
    if not end[0].isascii():
        return end[0] in _IN_SCRIPT or not _OUR_LETTERS.search(end[0])
    known = end[0] in _DOMAINS or end[0].startswith("xn--")
    return known or (any(map(str.isalpha, labels)) and not _are_two(words, end[0], written))


def _are_two(words: str, last: str, written: str) -> bool:
    """Whether a capital letter after the full stop shows two sentences, or an abbreviation: "Fine.Then", "EE.UU"."""
    at = written.lower().find(words)
    if at < 0:
        return False
    ending = at + words.rindex(".") + 1
    cased = written[ending : ending + len(last)]
    if not cased[0].isupper():
        return False
    return len(last) > 2 or last in EMPTY or not any(map(str.islower, written[at:ending]))


def _bare(kind: str, words: str) -> str:
    """The part that the evidence must have: without the scheme of the web, punctuation, and a suffix in another script."""
    if kind == "target":
        words = re.sub(r"^(?:\]\(\s*<?|\]:\s+|\w+\s*=\s*[\"']?)", "", words)
        words = "" if words.startswith("#") else words
    words = words.rstrip(_TRAILING)
    if kind in ("domain", "mail"):
        head, dot, last = words.rpartition(".")
        if dot and (latin := re.match(r"[a-z][a-z0-9_-]*", last)):
            words = f"{head}.{latin[0]}"
    return re.sub(r"^(?:https?:)?//(?:www\.)?|^www\.", "", words).rstrip("/")


def _stands(words: str, text: str, *, parent: bool) -> bool:
    """Whether `text` has the words, and not only as part of a longer name: behind "www.", or with `parent` any subdomain."""
    at = -1
    for _ in range(ADDRESS_OCCURRENCES):
        at = text.find(words, at + 1)
        if at < 0:
            return False
        before, after = text[at - 1 : at], text[at + len(words) : at + len(words) + 2]
        inside = before == "." and (parent or text.endswith("www.", 0, at))
        begins = not _joins(before) or not words[0].isalnum() or inside
        ends = not _joins(after[:1]) or (after[:1] == "." and not after[1:].isalnum())
        if begins and ends:
            return True
    return False


def _joins(char: str) -> bool:
    return bool(char) and ((char.isascii() and char.isalnum()) or char in ".-_@")


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


@lru_cache(maxsize=512)
def _known(text: str) -> str:
    return _canonical(text)


@lru_cache(maxsize=512)
def _joined(text: str) -> str:
    return _BETWEEN.sub("", text)


def _canonical(text: str) -> str:
    """`text` in lower case, with every way of hiding an address undone."""
    for _ in range(2 if "&" in text else 0):
        text = html.unescape(text)
    text = text.lower() if text.isascii() else unicodedata.normalize("NFKC", visible(text)).lower()
    text = _MARKUP.sub("", text)
    if not text.isascii():
        text = _LOOK_ALIKE.sub(".", text)
    text = _HTTP.sub("http", text)
    if _SPELLED_SIGN.search(text):
        text = _BRACKETED.sub(lambda match: "." if match[1] else "@" if match[2] else match[3], text)
        text = _SPELLED.sub(".", text)
    return text


_INLINE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)(?<!`)\1(?!`)")
#: Signs that plain words between backticks do not have.
_SIGNS: Final = re.compile(r"[/\\$|;&><=(){}]|(?:^|\s)--?[a-zA-Z]")
_COMMAND: Final = re.compile(
    r"""
    (?<![\w/-])(?:
      (?:sudo|curl|wget|chmod|chown|rm|ssh|scp|nc|netcat|powershell|iex|certutil|mshta|rundll32|nohup|mkfs|dd)\s+[-\w./$~][^\s,;]*(?:\s+[-./~$][^\s,;]*){0,3}
      |(?:pip3?|npm|npx|yarn|pnpm|brew|apt|apt-get|yum|dnf|apk|gem|cargo|snap|choco|winget|uv|conda)\s+(?:install|add|i|run|exec|remove|uninstall)\s+[^\s,;]+
      |(?:docker|kubectl|git|systemctl|helm|terraform)\s+(?:run|exec|pull|push|apply|delete|clone|start|stop|enable|disable|reset|config|rm)\s+[^\s,;]+
      |(?:python3?|node|perl|ruby|php|bash|zsh|sh|cmd|pwsh)\s+(?:-{1,2}[a-z]|/c\b)[^\n]{0,40}
      |(?:drop|truncate|alter)\s+(?:table|database)\s+\w+|delete\s+from\s+\w+
    )
    |(?<=\s)--[a-z][a-z0-9-]+
    |(?<=[a-z]\s)-[a-z]{1,3}(?=\s|$)
    |\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|perl|iex)\b
    |\$\([^()\n]{1,80}\)
    |&&\s*\w+
    """,
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s+")
_HAS_SIGN: Final = re.compile(
    r"[-`|$&/]|sudo|curl|wget|ch(?:mod|own)|\brm\b|install|\bssh|\bscp|\bdd\b|\bnc\b|drop|truncate|alter|delete|docker|kubectl"
    r"|git|powershell|iex|certutil|nohup|mkfs|mshta|rundll32|helm|systemctl|terraform|npm|npx|yarn|pnpm|brew"
)


def commands(written: str, text: str, known: Sequence[str]) -> Iterator[str]:
    """The commands and the code of a sentence, as `written` and as `text`, its form for comparing, that are not in `known`."""
    if not _HAS_SIGN.search(text):
        return
    for match in _COMMAND.finditer(text):
        words = _loose(match[0]).rstrip(".:!?`'\" ")
        if words and not _in(words, known):
            yield words
    if "`" not in written:
        return
    for fence in fences(written):
        for line in map(_loose, written[fence.code : fence.code_end].splitlines()):
            if any(map(str.isalnum, line)) and not _in(line, known):
                yield line
    for code in _INLINE.finditer(written):
        words = _loose(code[2])
        if _SIGNS.search(code[2]) and not _in(words, known):
            yield words


def _in(words: str, known: Sequence[str]) -> bool:
    return any(words in _loose(text) for text in known)


@lru_cache(maxsize=512)
def _loose(text: str) -> str:
    return _SPACE.sub(" ", text.replace("`", "")).strip().lower()
