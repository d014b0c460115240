"""Check a sentence against the evidence it cites; returns flags, each with its words and its reason. No model, no I/O."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from actors.facts.copied_code import without_copied
from actors.facts.reading import read
from actors.facts.slots import matches
from actors.facts.stems import stems
from actors.gate.addresses import made_up
from actors.gate.flags import Flag, flag
from actors.gate.markup import without_markup
from actors.gate.names import other_names
from actors.gate.numbers import wrong_numbers
from actors.gate.overlap import foreign, is_factual, is_header, means_nearly, overlap, secrets
from actors.gate.places import closest_part
from actors.gate.prompt_lines import prompt_lines
from actors.gate.quotes import fabricated_quotes, is_term
from actors.gate.support import goes_beyond
from actors.gate.terms import language_of, repeats, reversed_terms
from actors.gate.thresholds import (
    COUNTED_NUMBER,
    FOREIGN_SHARE,
    LABEL_WORDS,
    LANGUAGE_LETTERS,
    LISTED_WORDS,
    MISPLACED_CITED_SHARE,
    MISPLACED_OTHER_SHARE,
)
from index.languages import LANGUAGES, union
from index.languages.characters import HAN, fold, normal
from index.languages.detection import detect, may_be, same_script
from index.text.citations import markers, strip_markers
from index.text.sentences import split
from prompts.contracts import SECTIONS, Evidence

# "Source: handbook, p. 12" names the source of the answer; its numbers are not the evidence's.
_SOURCE_LINE = re.compile(
    rf"[\s*_>-]*(?:{union(lambda language: language.terms.layout.sources).pattern})\s*[*_]*\s*[:：].{{0,200}}\Z",
    re.I | re.S,
)
#: A word with a capital inside a question or before another script, and a code with a digit.
_NAMED = re.compile(
    r"(?<=\w )[A-ZÀ-Ý][A-Za-zÀ-ÿ'’-]+|\b[A-Za-z]+-?\d[A-Za-z\d-]*|(?<![A-Za-z])[A-Z][A-Za-z]+(?= ?[^\x00-\u02ff])"
)
_LATIN = re.compile(r"[a-z]{3}")
#: What stands around the title of a source.
_TITLE_MARKS = " \n>*_–—-.:：\"'“”‘’«»《》『』「」()（）"
_LABEL = re.compile(r"\s*([^\n:：]{1,120})[:：]\s*(?=\S)")
_FOOTNOTE = re.compile(r"\[\^\d{1,3}\]")
# A lead-in is layout: "**TL;DR** …", "Hint: …".
_LEAD_IN = re.compile(
    rf"\A\s*(?:\*\*|__)?(?:{union(lambda language: language.terms.layout.lead_ins).pattern})"
    r"(?:(?:\*\*|__)[:：]?|[:：](?:\*\*|__)?)\s*",
    re.I,
)


def check_sentence(
    sentence: str,
    evidence: Sequence[Evidence],
    *,
    language: str | None = None,
    written: str | None = None,
    urls: Collection[str] = (),
    question: str = "",
) -> tuple[Flag, ...]:
    """The flags of one sentence, strong ones first.

    A sentence with markers is checked against what it cites, one without against all of `evidence`. `language` is the
    language asked for; None accepts any. `written`: the sentence before it was made harmless, which may have removed an
    address; `urls`: the addresses of the sources, to which it may lead; `question`: the question of the run.
    """
    written = (sentence if written is None else written).rstrip()
    sentence, cites, known, against, is_source = _read(sentence, evidence)
    written = without_copied(written, [item.text for item in against])
    flags = [*_citations(sentence, evidence)]
    misplaced = [*_misplaced(sentence, known, evidence)]
    unseen = _never_shown(
        sentence,
        written,
        () if misplaced or is_source else known,
        against,
        frozenset(urls),
        # With other questions, nearly every sentence is known again.
        question=question if secrets(written, ()) else "",
        names_sources=is_source,
    )
    if unseen is not None and not _asked_for(unseen, sentence, known, question):
        flags.append(unseen)
    if not has_content(sentence):
        flags.append(flag("empty", sentence.strip(), (), "says nothing beside its markers"))
    if is_source:
        return tuple(flags)
    flags += [*_contents(sentence, against, _asked_in(question, sentence)), *misplaced]
    if not flags and known and (unnamed := _unnamed(question, sentence, known)):
        flags.append(
            flag("unverified", ", ".join(unnamed), tuple(item.n for item in known), "the cited text does not name it")
        )
    if not cites and evidence and is_factual(sentence):
        flags.append(flag("uncited", strip_markers(sentence).strip(), (), "states something and cites nothing"))
    if language is not None and not _in_language(sentence, language):
        flags.append(
            flag("wrong_language", strip_markers(sentence).strip(), (), f"is not in the asked language {language}")
        )
    return tuple(sorted(flags, key=lambda one: one.strength != "strong"))


class _Read(NamedTuple):
    """A sentence without lead-in, footnotes, markup and copied code; whether it cites, the `known` evidence that it cites, the
    evidence that it is checked `against`, and whether it only names a source.
    """

    text: str
    cites: bool
    known: tuple[Evidence, ...]
    against: tuple[Evidence, ...]
    is_source: bool


def _read(sentence: str, evidence: Sequence[Evidence]) -> _Read:
    # Without white space at its end, a sentence that was checked before is known again.
    sentence = _without_footnotes(_LEAD_IN.sub("", sentence), evidence).rstrip()
    cited = {number for marker in markers(sentence) for number in marker.numbers}
    known = tuple(item for item in evidence if item.n in cited)
    against = known or tuple(evidence)
    text = without_markup(without_copied(_without_label(sentence, against), [item.text for item in against]))
    return _Read(text, bool(cited), known, against, bool(_SOURCE_LINE.match(text)) or _is_title(text, evidence))


def _is_title(sentence: str, evidence: Sequence[Evidence]) -> bool:
    """Whether the sentence is only the name of a source, of a part of its title, or a heading above the evidence."""
    bare = strip_markers(sentence).strip(_TITLE_MARKS)
    if not bare:
        return False
    return any(bare in item.title for item in evidence) or _is_heading(bare, evidence)


def _is_heading(bare: str, evidence: Sequence[Evidence]) -> bool:
    above = (heading for item in evidence if bare in item.section for heading in item.section.split(SECTIONS))
    # Before its words a heading may have a number.
    return any(each.endswith(bare) and not any(map(str.isalpha, each.removesuffix(bare))) for each in above)


def _without_label(sentence: str, against: Sequence[Evidence]) -> str:
    """The sentence without the evidence's own heading before a colon: "Not included: towels" denies nothing that the list says."""
    label = _LABEL.match(sentence)
    return sentence[label.end() :] if label and _is_heading(label[1].strip(_TITLE_MARKS), against) else sentence


def stands_alone(sentence: str, evidence: Sequence[Evidence]) -> bool:
    """Whether the sentence cites nothing and its words are for the most part not in the evidence either."""
    if markers(sentence) or _SOURCE_LINE.match(sentence) or _is_title(sentence, evidence):
        return False
    plain = _LEAD_IN.sub("", sentence)
    words = foreign(plain, [_text(item) for item in evidence])
    return bool(words) and (is_factual(plain) or len(words) >= LABEL_WORDS)


def has_content(sentence: str) -> bool:
    """Whether there is anything to read besides markers and punctuation; white space and rules are layout, not a sentence."""
    return not markers(sentence) or any(map(str.isalnum, strip_markers(sentence)))


@lru_cache(maxsize=512)
def _never_shown(
    sentence: str,
    written: str,
    cited: tuple[Evidence, ...],
    against: tuple[Evidence, ...],
    urls: frozenset[str],
    *,
    question: str,
    names_sources: bool,
) -> Flag | None:
    """The first reason never to show the sentence; one reason is enough, since each flag counts against the answer."""
    texts = [_everything(item) for item in against]
    numbers = tuple(item.n for item in against)
    if addresses := list(dict.fromkeys(made_up(written, texts, urls=urls, names_sources=names_sources))):
        why = "an address, account or command that is not in the evidence"
        return flag("fabricated_address", ", ".join(addresses), numbers, why)
    if repeated := prompt_lines(written, texts):
        return flag("repeated_prompt", repeated, numbers, "repeats the instructions to the model")
    if named := secrets(written, [*texts, question]):
        return flag(
            "unsupported", ", ".join(named), numbers, "names what people keep secret, and the evidence does not"
        )
    read_in = [_text(item) for item in cited]
    words = foreign(sentence, read_in, FOREIGN_SHARE)
    if not words or not (is_factual(sentence) or len(words) >= LABEL_WORDS):
        return None
    if means_nearly(sentence, read_in) and not (
        (found := objections(sentence, cited)).doubts.keys() - found.computed or found.new
    ):
        return None  # a paraphrase, right or wrong, which `_contents` marks
    return flag("unsupported", ", ".join(words), numbers, "nearly all of the sentence is foreign to its evidence")


def _asked_for(unseen: Flag, sentence: str, cited: Sequence[Evidence], question: str) -> bool:
    """Whether a sentence is foreign to its evidence only because it repeats the question, and has its answer from there."""
    if unseen.kind != "unsupported" or not question:
        return False
    texts = list(map(_text, cited))
    asked, there = _stems([question]), _stems(texts)
    answers = bool((_stems([strip_markers(sentence)]) - asked) & there)
    return (
        answers
        and not secrets(sentence, [*texts, question])
        and not foreign(sentence, [*texts, question], FOREIGN_SHARE)
    )


def _stems(texts: Iterable[str]) -> set[str]:
    return {stem.stem for text in texts for stem in stems(normal(text))}


def _everything(item: Evidence) -> str:
    return "\n".join(part for part in (item.source_id, item.title, item.section, item.intro, item.text) if part)


def _without_footnotes(sentence: str, evidence: Sequence[Evidence]) -> str:
    """The sentence without the footnotes that it copies with the words of the evidence; they cite nothing."""
    known = {f"[^{item.n}]" for item in evidence}
    copied = {mark for mark in _FOOTNOTE.findall(sentence) if mark not in known}
    for mark in copied:
        if any(mark in item.text for item in evidence):
            sentence = sentence.replace(mark, "")
    return sentence


def check_contents(answer: str, evidence: Sequence[Evidence]) -> tuple[Flag, ...]:
    """The flags for what the sentences of `answer` state, in their order."""
    read = [_read(answer[start:end], evidence) for start, end in split(answer)]
    return tuple(one for each in read if not each.is_source for one in _contents(each.text, each.against))


def reveals(text: str, known: Sequence[str]) -> bool:
    """Whether the text has an address, a prompt's instruction or the name of a secret that none of the `known` texts has."""
    return any(made_up(text, known)) or bool(prompt_lines(text, known) or secrets(text, known))


def withholds(flags: Sequence[Flag]) -> bool:
    """Whether a sentence with these flags must be withheld: at least one is strong."""
    return any(one.strength == "strong" for one in flags)


def _citations(sentence: str, evidence: Sequence[Evidence]) -> Iterator[Flag]:
    known = {item.n for item in evidence}
    for marker in markers(sentence):
        wrong = [number for number in marker.numbers if number not in known]
        if wrong:
            there = f"the evidence has {min(known)} to {max(known)}" if known else "there is no evidence"
            words = sentence[marker.start : marker.end]
            yield flag("citation_out_of_range", words, (), f"cites {', '.join(map(str, wrong))}, {there}")


def _misplaced(sentence: str, cited: Sequence[Evidence], evidence: Sequence[Evidence]) -> Iterator[Flag]:
    """A citation of evidence with few words of the sentence, when uncited evidence has nearly all of them."""
    others = [item for item in evidence if item not in cited]
    if not cited or not others or overlap(sentence, [_text(item) for item in cited]) > MISPLACED_CITED_SHARE:
        return
    near = (item for item in others if overlap(sentence, [_text(item)]) >= MISPLACED_OTHER_SHARE)
    source = next((item for item in near if not any(wrong_numbers(sentence, [_text(item)]))), None)
    if source is not None and is_factual(sentence):
        wrong = tuple(item.n for item in cited)
        why = f"stands in {source.n}, not in {', '.join(map(str, wrong))}"
        yield flag("citation_out_of_range", strip_markers(sentence).strip(), wrong, why)


def _text(item: Evidence) -> str:
    return without_markup("\n".join(part for part in (item.title, item.intro, item.text) if part))


def _asked_in(question: str, sentence: str) -> str:
    """The question if the sentence has a number of it, else empty: with other questions, the sentence is known again."""
    numbers = read(question).values
    return question if any(matches(one, each) for each in read(sentence).values for one in numbers) else ""


def _unnamed(question: str, sentence: str, cited: Sequence[Evidence]) -> list[str]:
    """The names and codes of the question that the sentence has and what it cites does not: it may speak of another one. None where
    what it cites is in other letters.
    """
    found = () if question.isupper() else _NAMED.findall(question)
    names = [name for name in found if fold(name) in fold(sentence)]
    there = fold("\n".join(map(_everything, cited))) if names else ""
    return [name for name in names if fold(name) not in there] if _LATIN.search(there) else []


@lru_cache(maxsize=512)
def _contents(sentence: str, against: tuple[Evidence, ...], asked: str = "") -> tuple[Flag, ...]:
    """The flags for what a sentence states. The rules, the gate and the verifier each check the same sentence."""
    if not against:
        return ()
    found = objections(sentence, against, asked)
    texts = list(map(_text, against))
    beyond = (goes_beyond(sentence, texts) or foreign(sentence, texts, FOREIGN_SHARE)) if is_factual(sentence) else []
    words = list(dict.fromkeys([*found.doubts, *beyond]))[:LISTED_WORDS]
    if not words:
        return (*found.wrong, *found.new)
    why = "; ".join(dict.fromkeys([*found.doubts.values(), *(["goes beyond the cited text"] if beyond else [])]))
    return (*found.wrong, *found.new, flag("unverified", ", ".join(words), tuple(item.n for item in against), why))


class Objections(msgspec.Struct, frozen=True):
    """What the rules have against a sentence: flags that withhold it, weak ones for numbers that are nowhere, and words that make
    it doubtful, each with the reason; of these the numbers that are `computed` from others of the evidence.

    The same words make a copied sentence wrong and a free paraphrase doubtful, since the difference may be one of wording.
    """

    wrong: list[Flag]
    new: list[Flag]
    doubts: dict[str, str]
    computed: set[str]


def objections(sentence: str, against: Sequence[Evidence], asked: str = "") -> Objections:
    """The objections of all rules to what the sentence states. `asked`: a question, whose numbers are not made up."""
    found = Objections([], [], {}, set())
    texts = [_text(item) for item in against]
    numbers = tuple(item.n for item in against)
    is_heading = sentence.lstrip().startswith("#") or is_header(sentence)
    _object_to_numbers(found, sentence, against, texts, asked)
    for quoted in fabricated_quotes(sentence, texts):
        why = "is quoted but not written so in the evidence"
        if is_term(quoted, sentence, texts):
            found.doubts[quoted] = why
        elif _is_translated(quoted, texts):
            found.doubts[quoted] = "is quoted in another language than the evidence"
        else:
            found.wrong.append(flag("fabricated_quote", quoted, numbers, why))
    if not is_heading:
        for words, why, numbered, sure in _turned(sentence, against, texts):
            if sure:
                found.wrong.append(flag("reversed_term", words, numbered, why))
            else:
                found.doubts[words] = why
    return found


def _object_to_numbers(
    found: Objections, sentence: str, against: Sequence[Evidence], texts: Sequence[str], asked: str
) -> None:
    numbers = tuple(item.n for item in against)
    is_heading = sentence.lstrip().startswith("#") or is_header(sentence)
    for number in wrong_numbers(sentence, texts, asked):
        if not number.instead and _is_of_heading(number.words, sentence, against):
            continue
        numbered = (against[number.evidence].n,) if number.evidence is not None else numbers
        why = f"the evidence says {number.instead} there" if number.instead else "is not in the evidence"
        if number.sure:
            found.wrong.append(flag("fabricated_number", number.words, numbered, f"{number.words}: {why}"))
        elif number.new and not is_heading:
            made_up = flag("fabricated_number", number.words, numbered, f"{number.words}: {why}")
            found.new.append(msgspec.structs.replace(made_up, strength="weak"))
        elif not (is_heading and number.words.isdecimal() and int(number.words) <= COUNTED_NUMBER):  # "Argument 3"
            found.doubts[number.words] = f"{number.words}: {why}"
            found.computed.update([number.words] if number.computed else [])


def _is_translated(quoted: str, texts: Sequence[str]) -> bool:
    """Whether no evidence is in the language of the quotation."""
    own = detect(quoted)
    languages = {language for language in map(language_of, texts) if language in LANGUAGES}
    return own in LANGUAGES and bool(languages) and own not in languages


def _is_of_heading(number: str, sentence: str, against: Sequence[Evidence]) -> bool:
    """Whether the number, with the word before it wherever it stands, is of the headings above the evidence: "Article 16"."""
    named = re.findall(rf"(?:[{HAN}]|[^\W\d{HAN}]*[ .:]{{0,2}}){re.escape(number)}", normal(sentence))
    above = normal("\n".join(item.section for item in against))
    return bool(named) and all(each[:1].isalpha() and each in above for each in named)


def _turned(
    sentence: str, against: Sequence[Evidence], texts: Sequence[str]
) -> Iterator[tuple[str, str, tuple[int, ...], bool]]:
    """The terms and names that differ from the evidence: words, reason, evidence, and whether the sentence is else the same."""
    language = _read_in(sentence, texts)
    # A text in none of the languages has no terms to look for.
    if language not in LANGUAGES:
        return
    for turned in reversed_terms(sentence, texts, language):
        yield turned.words, turned.why, (against[turned.evidence].n,), turned.sure
    for other in other_names(sentence, texts, language):
        why = f"the evidence names {', '.join(other.instead)}, not {other.name}"
        text = normal(strip_markers(sentence))
        there = closest_part(text, texts)
        sure = there is not None and repeats(text, there.text, normal(other.name), language)
        yield other.name, why, tuple(item.n for item in against), sure


def _read_in(sentence: str, texts: Sequence[str]) -> str:
    """The language of the terms to look for; a short sentence takes its evidence's language if both use the same script."""
    detected = detect(sentence)
    alike = same_script(detected)
    return next((language for language in map(language_of, texts) if language in alike), detected)


def _in_language(sentence: str, language: str) -> bool:
    """Whether the text is in the language asked for, ignoring short pieces, names and quotations in another language."""
    plain = strip_markers(sentence)
    if sum(map(str.isalpha, plain)) < LANGUAGE_LETTERS:
        return True
    return may_be(plain, language)
