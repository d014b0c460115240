"""Groups of texts with one meaning, out of the files of public repositories (sources.toml says which).

Input: the files of one source. Output: groups. Every text of `one` means the same as every text of `other`, or as every
other text of `one` where `other` is empty; a heading counts as its section.
"""

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import yaml

type Texts = Sequence[tuple[str, str]]  # language and text
type Entries = Iterator[tuple[Hashable, str, str]]  # key, language and text


class File(NamedTuple):
    """`place` is the path without what says the language: the versions of a page have one place."""

    place: str
    language: str
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def rows(self, mark: str = "\t") -> Iterator[list[str]]:
        return (line.split(mark) for line in self.text.split("\n"))


class Group(NamedTuple):
    one: Texts
    other: Texts = ()


type Reader = Callable[[Iterable[File]], Iterator[Group]]


def by_key(entries: Callable[[File], Entries]) -> Reader:
    """The texts of one key are a group."""

    def read(files: Iterable[File]) -> Iterator[Group]:
        texts: dict[Hashable, dict[str, str]] = defaultdict(dict)
        for key, language, text in chain.from_iterable(map(entries, files)):
            texts[key][language] = text
        yield from (Group(list(each.items())) for each in texts.values())

    return read


def lines(file: File) -> Entries:
    for number, (line,) in enumerate(file.rows("\n")):
        yield (file.place, number), file.language, line


def attributed(file: File) -> Entries:
    """Lists of tatoeba.org: English, another language, and the licence of the two sentences; others are left out."""
    for cells in file.rows():
        if len(cells) == 3 and cells[2].startswith("CC-BY"):
            yield from ((cells[0], "en", cells[0]), (cells[0], file.language, cells[1]))


def sentences(file: File) -> Entries:
    """The sentences of a treebank."""
    for key, sentence in re.findall(r"^# sent_id = (.*)\n(?:# .*\n)*?# text = (.*)$", file.text, re.MULTILINE):
        yield key, file.language, sentence


def translation_memory(file: File) -> Entries:
    """A zipped TMX file: English first."""
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        text = archive.read(archive.namelist()[0]).decode("utf-8", "replace")
    for english, other in re.findall(r"(?s)<tu\b.*?<seg>(.*?)</seg>.*?<seg>(.*?)</seg>", text):
        yield from ((english, "en", english), (english, file.language, other))


def messages(file: File) -> Entries:
    """A gettext file, without what nobody confirmed; of plurals the first form."""
    for block in re.split(r"\n\s*\n", file.text):
        found = re.findall(r'^(msgid|msgstr)(?:\[0\])? +((?:"(?:[^"\\]|\\.)*"\s*)+)', block, re.MULTILINE)
        if len(found) == 2 and not re.search("^#~|^#,.*fuzzy", block, re.MULTILINE):
            strings = ("".join(re.findall(r'"(.*)"', quoted)) for _, quoted in found)
            key, text = (re.sub(r"[\\_&]", "", re.sub(r"\\[nt]", " ", string)) for string in strings)
            if len(key) > 1 and text:
                yield from ((key, "en", key), (key, file.language, text))


def assigned(file: File) -> Entries:
    """Lines `name = text`: Fluent's, by file and name; of a file .properties the name is the English text."""
    for name, text in re.findall(r"^([^#\s=][^=\n]*) = (\S.*)$", file.text, re.MULTILINE):
        if file.place.endswith(".properties"):
            yield name, "en", name
        yield name if file.place.endswith(".properties") else (file.place, name), file.language, text


def annotations(file: File) -> Entries:
    """The names and keywords of each sign, together."""
    (document,) = json.loads(file.data).values()
    for sign, told in document["annotations"].items():
        yield sign, file.language, " ".join([*told.get("tts", ()), *told.get("default", ())])


def leaves(file: File) -> Entries:
    """The texts of a JSON or YAML file by their paths in it; none of a file that is broken."""
    try:
        document = json.loads(file.data) if file.place.endswith("json") else yaml.load(file.data, yaml.CSafeLoader)
    except (ValueError, yaml.YAMLError):
        return
    while isinstance(document, dict) and len(document) == 1 and isinstance(*document.values(), dict):
        (document,) = document.values()  # the language, and what stands above it
    yield from (((file.place, key), file.language, text) for key, text in _leaves(document, ""))


def _leaves(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        if key != "history":  # what a text was before
            yield from _leaves(each, f"{path}/{key}")


def dictionary(files: Iterable[File]) -> Iterator[Group]:
    """Wiktionary's lists, `word {class} (sense) :: word, word`: from English by sense, with the sense, and into English."""
    senses: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for file in files:
        for entry, *told in file.rows("::"):
            sense = re.search(r"\(([^()]{4,})\)", entry)
            parts = re.split("[,;]", re.sub(r"\([^)]*\)|/[^/]*/", "", "::".join(told)))
            word, *others = (" ".join(_NOTES.sub(" ", each).split()).strip(" ,;") for each in (entry, *parts))
            others = [each for each in others if each][:4]
            if word and others and file.place.startswith("src/en-"):
                senses[word, sense[1] if sense else ""].update((file.language, each) for each in others)
            elif word and others:
                yield Group([(file.language, word), *(("en", each) for each in others[:3])])
    for (word, sense), found in senses.items():
        yield Group([("en", word), *sorted(found)])
        yield Group([("en", word), *sorted(found)], [("en", sense if len(sense) > 12 else "")])


_NOTES = re.compile(r"\{[^}]*\}|\([^)]*\)|/[^/]*/|\[[^\]]*\]|SEE:.*")


def wordnets(files: Iterable[File]) -> Iterator[Group]:
    """The words of a sense, and these and its examples with its definitions; tables of words, and English in YAML."""
    words: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for file in files:
        if file.place.endswith(".tab"):
            for cells in file.rows():
                if len(cells) > 2 and cells[1].endswith("lemma"):
                    words[cells[0].replace("-s", "-a")].add((file.language, re.sub("[_+]", " ", cells[2])))
            continue
        for sense, told in yaml.load(file.data, yaml.CSafeLoader).items():
            known = words[sense.replace("-s", "-a")]
            known.update(("en", each) for each in told.get("members", ()))
            definitions = [("en", each) for each in told.get("definition", ()) if isinstance(each, str)]
            yield Group(sorted(known), definitions)
            yield Group([("en", each) for each in told.get("example", ())[:2] if isinstance(each, str)], definitions)
    yield from (Group(sorted(each)[:24]) for each in words.values())


def questions(files: Iterable[File]) -> Iterator[Group]:
    """SQuAD's form: a question with its passage."""
    for file in files:
        for paragraph in (each for article in json.loads(file.data)["data"] for each in article["paragraphs"]):
            passage = [(file.language, paragraph["context"][:1200])]
            yield from (Group([(file.language, each["question"])], passage) for each in paragraph["qas"])


def pages(files: Iterable[File]) -> Iterator[Group]:
    """Markdown: the headings of a section, these with its text, and its paragraphs where the versions have as many."""
    every: dict[str, dict[str, list[tuple[str, list[str]]]]] = defaultdict(dict)
    for file in files:
        every[file.place][file.language] = sections(file.text)
    for versions in every.values():
        count = len(versions.get("en") or max(versions.values(), key=len))
        same = {language: each for language, each in versions.items() if len(each) == count}
        for row in zip(*same.values(), strict=True):
            headings = [(language, heading) for language, (heading, _) in zip(same, row, strict=True)]
            if "en" not in same:
                headings += [
                    ("en", named[1].replace("-", " ")) for _, each in headings[:1] if (named := _NAME.search(each))
                ]
            texts = {language: paragraphs for language, (_, paragraphs) in zip(same, row, strict=True)}
            yield Group(headings)
            yield Group(headings, [(language, " ".join(each)[:1200]) for language, each in texts.items() if each])
            most = max(texts.values(), key=len)
            even = {language: each for language, each in texts.items() if len(each) == len(most)}
            for number in range(len(most)):
                yield Group([(language, each[number]) for language, each in even.items()])


def sections(text: str) -> list[tuple[str, list[str]]]:
    """Heading and paragraphs of each section: no code, tables or pictures, list items apart, links as their text."""
    text = re.sub(r"\A---\n(?:.*\n)*?title: *[\"']?(.*?)[\"']? *\n(?:.*\n)*?---\n", r"# \1\n", text)
    text = re.sub(r"(?ms)\A---\n.*?^---\n|<!--.*?-->|^(```|~~~).*?^\1|\{#[^}]*\}|!\[[^\]]*\]\([^)]*\)", "\n\n", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    _, *parts = re.split(r"(?m)^#{1,6}\s+(.*)$", text)
    return [
        (heading, [each for each in map(str.strip, re.split(_BREAK, body)) if each and not each.startswith(_NO_PROSE)])
        for heading, body in zip(parts[::2], parts[1::2], strict=True)
    ]


#: Microsoft's translations name a section by its English heading.
_NAME = re.compile('<a name="([a-z0-9-]+)"')
_BREAK = re.compile(r"(?:^|\n\s*)(?:[-*+>]|\d+\.) |\n\s*\n")
_NO_PROSE = ("|", "<", "[[", ":::", "{{", "//")

#: By the names in sources.toml.
READERS: dict[str, Reader] = {each.__name__: each for each in (dictionary, wordnets, questions, pages)} | {
    each.__name__: by_key(each)
    for each in (lines, attributed, sentences, translation_memory, messages, assigned, annotations, leaves)
}
