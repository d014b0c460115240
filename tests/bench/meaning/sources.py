"""Groups of texts with one meaning out of the repositories of sources.toml, cleaned."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import msgspec

from index.languages.detection import surely
from tests.bench.meaning.readers import READERS, File, Group, Texts

HOST = "https://github.com/"
#: What repositories call our languages.
_CODES = {
    "ar": "ar ar_SA ara arabic arb", "en": "en en-snapshot eng", "es": "es es-419 es-ES es-LA es-mx espanol spa Spanish",
    "fr": "fr fra French", "ko": "ko kor korean Korean nk",
    "zh": "zh zh-cn zh-CN zh_CN zh-hans zh-Hans zh_Hans chinese cmn cmn_Hans cn zho zho-CN Simplified_Chinese",
}  # fmt: skip
_LANGUAGE_OF = {code: language for language, codes in _CODES.items() for code in codes.split()}
_MARKUP = re.compile(
    r"<[^>]{1,200}>|\{\{[^}]*\}\}|%(?:\([a-z_]+\))?[sd]|\$\d|https?://\S+|:[a-z]+:`|[`*_|#]+|\{[^{}]{0,40}\}"
)
_LETTER = re.compile(r"[^\W\d_]")
#: The letters of languages that are not written in Latin ones.
SCRIPTS = {"ar": "[\u0600-\u06ff]", "ko": "[\uac00-\ud7a3]", "zh": "[\u4e00-\u9fff]"}


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`language` is that of the files whose path has no code; `weight` is how much a group counts."""

    name: str
    repository: str
    licence: str
    reader: str
    pattern: str
    weight: float = 1.0
    language: str = ""
    branch: str = "HEAD"


def sources() -> list[Source]:
    table = Path(__file__).with_name("sources.toml").read_bytes()
    return msgspec.toml.decode(table, type=dict[str, list[Source]])["source"]


def groups(every: Sequence[Source], clones: Path) -> Iterator[tuple[Source, Group]]:
    """The groups of all sources that clean texts are left of."""
    for _, rows in groupby(every, key=lambda source: source.name):
        first, *others = rows
        files = (file for source in (first, *others) for file in files_of(source, clones / source.repository))
        for group in READERS[first.reader](files):
            one, other = clean(group.one), clean(group.other)
            if (one and other) if group.other else len(one) > 1:
                yield first, Group(one, other)


def clean(texts: Texts) -> list[tuple[str, str]]:
    """Texts without markup, each once, that are written as their language is and not too long."""
    seen: dict[str, tuple[str, str]] = {}
    for language, text in texts:
        plain = " ".join(_MARKUP.sub(" ", text).split())
        letters = len(_LETTER.findall(plain))
        if language in SCRIPTS:
            fits = len(re.findall(SCRIPTS[language], plain)) >= 0.3 * letters
        else:
            fits = sum(letter > "\u0400" for letter in plain) < 0.2 * len(plain)
        if fits and letters and len(plain) <= 3000:
            # a text that nobody translated is English
            seen.setdefault(plain.lower(), (language if language in SCRIPTS else surely(plain, language), plain))
    return list(seen.values())


def clone(source: Source, clones: Path) -> None:
    """Fetch the newest commit of a repository that is not there. Raises subprocess.CalledProcessError."""
    target = clones / source.repository
    if not target.exists():
        branch = [] if source.branch == "HEAD" else ["--branch", source.branch]
        command = ["git", "clone", "--quiet", "--bare", "--depth", "1", *branch, HOST + source.repository, str(target)]
        subprocess.run(command, check=True)


def git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    """What git prints. Raises subprocess.CalledProcessError."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, check=True, capture_output=True, input=given).stdout


def files_of(source: Source, repository: Path) -> Iterator[File]:
    """The files of a source whose path has one of our languages, or that have the source's."""
    pattern = re.compile(source.pattern.replace("LANGUAGE", f"(?P<language>{'|'.join(_LANGUAGE_OF)})"))
    wanted: list[tuple[bytes, str, str]] = []
    for line in git(repository, "ls-tree", "-r", "-z", source.branch).split(b"\0"):
        about, _, name = line.partition(b"\t")
        path = name.decode("utf-8", "replace")
        if (match := pattern.search(path)) and b" blob " in about:
            known = {name: text for name, text in match.groupdict().items() if text}
            start, end = match.span("cut" if "cut" in known else "language") if known else (0, 0)
            language = _LANGUAGE_OF[known["language"]] if "language" in known else source.language
            wanted.append((about.split()[2], path[:start] + path[end:], language))
    held = git(repository, "cat-file", "--batch", given=b"".join(blob + b"\n" for blob, _, _ in wanted))
    at = 0
    for _, place, language in wanted:
        start = held.index(b"\n", at) + 1
        kind, *size = held[at:start].split()[1:]
        at = start
        if kind == b"blob":  # else the clone lacks it
            yield File(place, language, held[start : start + int(size[0])])
            at += int(size[0]) + 1
