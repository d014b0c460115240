"""Turn units of evidence into parts of an answer, each whole: a sentence on one line with `[n]` before the full stop, an item
with its introduction, a list below what introduces it, code in a fence below its sentence.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from actors.choosing.rows import told
from actors.gate.check import check_sentence, withholds
from index.languages.characters import HAN
from index.languages.detection import detect
from index.languages.negation import denies_too, excludes
from index.languages.words import terms
from index.text.codes import without_article
from index.text.sentences import CELLS, split
from prompts.contracts import SECTIONS, Evidence, Unit
from runtime.engines.extractive.queries import parts_of
from runtime.engines.extractive.quoted import Quoted, in_one_line, said_once
from runtime.engines.extractive.ranking import Ranked, Read, best_of, rank, unlike

#: Besides the best sentence of each span, others are quoted from this probability on.
WORTH_SAYING = 0.08
#: A sentence with fewer content words says nothing on its own: a heading, a caption, a row of a table.
FEWEST_TERMS = 2

_FOREIGN_MARKER = re.compile(r"\s?[\[［【][\d٠-٩０-９\s,،、，;–-]{1,40}[\]］】]")
_LIST_MARK = re.compile(r"^(?:[#>*•·|–—-]+\s+|\d{1,2}[.)]\s+(?=\S))+")
_STEP = re.compile(r"\W*(\d{1,2})[.)]\s+(?=\S)")
_ENDING = re.compile(r"[.!?。！？؟…;；:：,،]+$")
_CLOSED = re.compile(r"[.!?。！？؟…][\"'”’»」』)）\]]+$")
_WIDE_STOP = re.compile(rf"[{HAN}][\"'”’»」』)）]*$")
_COLONS = (":", "：")
_TICKS = re.compile("`+")
_SYNTAX = re.compile(r"[\w+#.-]{1,30}")
PARAGRAPH = "\n\n"
_CLAUSE_ENDS = (", ", "; ", "，", "；", "、", "، ")


class Limits(NamedTuple):
    """The most characters of a sentence, and of what is shown whole; 0 for no limit."""

    sentence: int
    whole: int


def quote(
    question: str, evidence: tuple[Evidence, ...], language: str, most_chars: int = 0, most_whole: int = 0
) -> list[Quoted]:
    """The units worth quoting, best first: what rules chose, the best of each span, others that are as likely to answer.

    Only those in `language` if there are any, and none that the gate would withhold. Long sentences are cut at a
    clause to `most_chars`; 0 for no limit. What is not a sentence is quoted whole up to `most_whole`, or `most_chars` if that
    is more, and cut only if there is nothing else to quote.
    """
    ranked = best_of([rank(part, language, evidence) for part in parts_of(question, language)])
    if unlike(ranked) and detect(question) in {detect(e.text) for e in evidence}:
        return []
    limits = Limits(most_chars, max(most_chars, most_whole))
    asked = (question, language)
    found = (
        _found(ranked, evidence, limits, FEWEST_TERMS, asked)
        or _found(ranked, evidence, limits, 0, asked)
        or _found(ranked, evidence, limits, 0, asked, whole=False)
    )
    # A span shows its language better than one short sentence of it.
    own = [q for q in found if q.kind in ("table_row", "code") or detect(q.evidence.text) in (language, "und")]
    return sorted(own or found, key=lambda each: not answers(each))


def answers(part: Quoted) -> bool:
    """Whether it has the sentence that rules chose as an answer."""
    return bool(part.evidence.lead) and clean(part.evidence.lead) in part.text


def _found(
    ranked: Sequence[Ranked],
    evidence: tuple[Evidence, ...],
    limits: Limits,
    fewest_terms: int,
    asked: tuple[str, str],
    *,
    whole: bool = True,
) -> list[Quoted]:
    said: set[int] = set()
    shown: set[tuple[int, int]] = set()
    found: list[Quoted] = []
    for k, r in enumerate(ranked):
        if r.read.passage in said and (CELLS in r.text or (k > 0 and r.share < WORTH_SAYING)):
            continue
        if (r.read.passage, r.read.position) in shown:
            continue
        quoted = quoted_unit(r.read, evidence[r.read.passage], limits, fewest_terms, whole=whole, asked=asked)
        if quoted is not None:
            said.add(r.read.passage)
            shown.update((r.read.passage, position) for position in quoted.positions)
            found.append(replace(quoted, covered=r.covered))
    return said_once(found)


def clean(text: str) -> str:
    """`text` on one line, without leading list marks and without bracketed numbers that would read as citations."""
    return _LIST_MARK.sub("", " ".join(_FOREIGN_MARKER.sub("", text).split())).rstrip(" |")


def cite(text: str, n: int, *, capital: bool = True) -> str:
    """The sentence `text` with its marker before the final full stop, which is added if missing, or behind another mark.

    It begins with a `capital`, as a lower-case word after a full stop would read as the same sentence; what is no word, such
    as a name in a program or one in a script without capitals, stays as it is.
    """
    text = clean(text)
    first = text.split(" ", 1)[0].rstrip(".,;:!?…’")
    if capital and first and all(map(str.islower, first)):
        text = text[0].upper() + text[1:]
    if _CLOSED.search(text):
        return f"{text} [{n}]."
    ending = _ENDING.search(text)
    body = text[: ending.start()].rstrip() if ending else text
    stop = ending.group() if ending and ending.group()[0] in ".!?。！？؟…" else "。" if _WIDE_STOP.search(body) else "."
    space = "" if stop[0] in "。！？" else " "
    return f"{body}{stop}{space}[{n}]" if stop[-1] in "?!？！؟" else f"{body}{space}[{n}]{stop}"


def shorten(text: str, limit: int) -> str:
    """The beginning of `text`, at most `limit` characters, cut at a clause or else at a word."""
    text = clean(text)
    if len(text) <= limit:
        return text
    clause = max(text.rfind(mark, 0, limit) for mark in _CLAUSE_ENDS)
    word = text.rfind(" ", 0, limit)
    return text[: clause if clause > limit // 3 else word if word > limit // 2 else limit].rstrip(" ,;，；、،")


def laid_out(quoted: list[Quoted], *, by_section: bool = False) -> str:
    """The parts of an answer in this order: sentences in one paragraph, or one for each section, items of one list below what
    introduces them.
    """
    text, alone = "", False
    section: tuple[str, str, bool] | None = None
    k = 0
    while k < len(quoted):
        same = 1
        while quoted[k].item and k + same < len(quoted) and _of_one_list(quoted[k], quoted[k + same]):
            same += 1
        if same > 1:
            one = quoted[k]
            above = [announced(one.intro, one.evidence.n)] if one.intro else []
            lines = [*above, *(q.item for q in quoted[k : k + same])]
            part, stands_alone = "\n".join(lines), True
        else:
            part, stands_alone = quoted[k].cited, quoted[k].stands_alone
            # The sentence before begins with the same heading or introduction.
            named = quoted[k].intro if k and quoted[k].intro == quoted[k - 1].intro else ""
            if named and part.casefold().startswith(named.casefold()):
                part = part[len(named) :].lstrip(": ")
        own = (quoted[k].evidence.source_id, quoted[k].evidence.section, quoted[k].kind == "quotation")
        begins = text and (alone or stands_alone or (by_section and own != section))
        text = f"{text}{PARAGRAPH}{part}" if begins else in_one_line(filter(None, (text, part)))
        alone, section = stands_alone, own
        k += same
    return text


def announced(text: str, n: int) -> str:
    """What introduces something, with its marker: before the colon that ends it, or with a colon if nothing ends it."""
    text = clean(text)
    ending = _ENDING.search(text)
    return cite(text, n) if ending and ending.group()[-1] not in ":：" else f"{_ENDING.sub('', text).rstrip()} [{n}]:"


def _of_one_list(one: Quoted, other: Quoted) -> bool:
    """Whether both are items below the same introduction, or without any in the same evidence."""
    if not other.item or one.intro != other.intro:
        return False
    return one.evidence.source_id == other.evidence.source_id if one.intro else one.evidence.n == other.evidence.n


def quoted_unit(
    read: Read, evidence: Evidence, limits: Limits, fewest_terms: int, *, whole: bool, asked: tuple[str, str]
) -> Quoted | None:
    """A unit as it is quoted; None for one that says nothing, does not fit or would be withheld. `asked`: question and language."""
    unit, n = read.unit, evidence.n
    if unit.kind in ("heading", "table_header"):
        return None
    positions = [read.position]
    said = told(read.text, *asked, evidence.lead) if unit.kind == "table_row" else read.text
    intro = _introduction(read)
    text = f"{intro}{' ' if _ENDING.search(intro) else ': '}{clean(said)}" if intro else clean(said)
    item = ""
    if unit.kind == "code":
        cited = _code(read, evidence)
        text = " ".join(cited.split())
    elif below := _introduced(read, evidence, limits.whole):
        cited = "\n".join(
            [
                announced(text, n),
                *(_item(evidence.text[u.start : u.end], n) for _, u in below),
            ]
        )
        positions += [position for position, _ in below]
    else:
        if unit.kind in ("", "prose", "quotation") or not whole:
            if whole and text.endswith(_COLONS):
                return None
            text = shorten(text, limits.sentence - len(f" [{n}].")) if limits.sentence else text
        # Below an introduction in one line with it, an item keeps its number.
        step = _STEP.match(read.text) if read.before and unit.kind in ("", "prose") else None
        cited = f"{step[1]}. {_cited(text, n)}" if step else _cited(text, n)
        item = _item(read.text, n) if unit.kind == "list_item" else ""
    if whole and limits.whole and len(cited) > limits.whole:
        return None
    if len(terms(text)) < fewest_terms or (fewest_terms and read.silent) or not any(map(str.isalnum, text)):
        return None
    if withholds(check_sentence(cited, (evidence,))):
        return None
    return Quoted(evidence, text, cited, read.position, tuple(positions), unit.kind, intro, item)


def _introduction(read: Read) -> str:
    """What introduces an item; or the heading to name with any unit, if neither the unit nor its introduction says the same."""
    intro = clean(read.unit.intro) if read.unit.kind in ("list_item", "definition") else ""
    if not read.above:
        return intro
    above = without_article(clean(read.above))  # the number is not of what is said
    enough = bool(intro) and (excludes(intro) or not excludes(above))
    if read.unit.kind in ("", "prose"):  # "Not covered: it is not covered" would read as its opposite
        enough = enough or all(denies_too(read.text[start:end], above) for start, end in split(read.text))
    return intro if enough or {*terms(above)} <= {*terms(read.text)} else above


def _item(text: str, n: int) -> str:
    """A line of a list: an item below its own number, if it has one."""
    step = _STEP.match(text)
    return f"{f'{step[1]}.' if step else '-'} {_cited(clean(text), n, capital=False)}"


def _cited(text: str, n: int, *, capital: bool = True) -> str:
    # Lines that were one sentence on several lines may be several on one.
    return in_one_line(cite(text[start:end], n, capital=capital) for start, end in split(text))


def _code(read: Read, evidence: Evidence) -> str:
    """Code in a fence, below the sentence that introduces it, or else its heading."""
    unit = read.unit
    code = evidence.text[unit.code : unit.end]
    sentence = clean(evidence.text[unit.start : unit.code]) or clean(unit.intro)
    nearest = SECTIONS.join(evidence.section.split(SECTIONS)[-2:])  # of the headings that lead to it, the last two
    above = sentence or clean(nearest or evidence.title or evidence.source_id)
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    syntax = unit.syntax if _SYNTAX.fullmatch(unit.syntax) else ""
    return f"{announced(above, evidence.n)}\n\n{fence}{syntax}\n{code}\n{fence}"


def _introduced(read: Read, evidence: Evidence, most: int) -> list[tuple[int, Unit]]:
    """The units below this one that it introduces, with their positions: as many as fit in `most` characters (0: all)."""
    if read.unit.kind != "prose":
        return []
    below: list[tuple[int, Unit]] = []
    length = len(read.text)
    for position, unit in enumerate(evidence.units):
        if position <= read.position or unit.kind in ("heading", "table_header"):
            continue
        if unit.kind == "code" or not unit.intro or not read.text.endswith(unit.intro):
            break
        length += len(f"- {evidence.text[unit.start : unit.end]} [{evidence.n}].\n")
        if below and most and length > most:
            break
        below.append((position, unit))
    return below
