"""Stand-ins for what a shared trace must not show: the same one for the same value wherever it is, as long and of the same kinds.

A stand-in keeps the separators and what `index.masking` leaves of a value, and is personal data of the same form: whatever the code
of a run does with a value, it does with the stand-in. It depends on a random key, so nobody can compute a value from it.
"""

import hmac
import random
import re
import unicodedata
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from string import ascii_lowercase
from typing import Final

from index.languages.words import written_terms
from index.masking import Value, mask, personal_in, secret_in

#: How often another stand-in is tried until it is data of the same form.
_TRIES: Final = 600
_SHORTEST_CUT: Final = 4
#: From which length a word is compared with the values, and the ratio of `difflib` from which it nearly is one.
_NEAR_FROM, _NEAR = 8, 0.8
_HAS_DIGIT = re.compile(r"\d").search
#: The letters of numbers of base sixteen stand in for one another.
_HEX: Final = "abcdef"
_SEPARATED = re.compile(r"(?:\w|[ ()./·_~*-])*")


def _bare(text: str) -> str:
    """The letters and digits of a text alone, by which it is the same value however it is written."""
    return "".join(filter(str.isalnum, text)).casefold()


#: Letters or digits, and which of them are hidden: of two values that share it, the stand-ins share it too.
type Run = tuple[str, tuple[int, ...]]
_RUN = re.compile(r"[^\W\d_]+|\d+")


@dataclass(slots=True)
class Masks:
    """Learns values from texts, then applies stand-ins to texts. `secrets`: besides personal data, secrets and addresses too.

    `keep_form`: the stand-in of personal data is masked as it would be, for runs that mask it.
    """

    key: bytes
    secrets: bool = True
    keep_form: bool = True
    values: dict[str, Value] = field(default_factory=dict)
    _instead: dict[str, str] = field(default_factory=dict)  # letters and digits, by those of the value
    _runs: dict[Run, str] = field(default_factory=dict)
    _together: dict[str, tuple[int, ...]] = field(default_factory=dict)  # what every value hides of a run
    _pattern: re.Pattern[str] | None = None
    _cut: dict[str, str] = field(default_factory=dict)  # a value by each of its beginnings
    _terms: dict[str, str] = field(default_factory=dict)

    def learn(self, text: str) -> None:
        for value in (*personal_in(text), *(secret_in(text) if self.secrets else ())):
            bare = _bare(value.text)
            if len(bare) >= _SHORTEST_CUT and (bare not in self.values or value.personal):
                self.values.setdefault(bare, value)

    def learn_near(self, text: str) -> None:
        """Learn the words that nearly are a value: a model changed a digit, and what is left is no value of its form any more."""
        for word in filter(_HAS_DIGIT, re.findall(rf"[^\W_]{{{_NEAR_FROM},}}", text)):
            known = [bare for bare, value in self.values.items() if value.text.isalnum()]
            near = (SequenceMatcher(None, word.casefold(), bare).ratio() for bare in known)
            if word.casefold() not in known and any(ratio >= _NEAR for ratio in near):
                self.values.setdefault(_bare(word), Value(word, frozenset(range(len(word)))))

    def choose(self, ordinary: Set[str]) -> None:
        """Choose the stand-ins for all values that were learned. `ordinary`: words that stay where they are no part of a value."""
        for value in self.values.values():
            for _, (text, hidden) in _runs_of(value):
                self._together[text] = tuple(n for n in self._together.get(text, hidden) if n in hidden)
        for bare in sorted(self.values, key=len, reverse=True):
            value = self.values[bare]
            whole = next((v for b, v in self.values.items() if b != bare and b.startswith(bare)), None)
            # The beginning of another value is that value, cut off.
            cut = self._instead[_bare(whole.text)][: len(bare)] if whole else ""
            self._instead[bare] = cut or self._chosen(value)
        ordered = sorted(self.values.values(), key=lambda value: -len(value.text))
        self._cut = {v.text[:n]: v.text for v in ordered for n in range(_SHORTEST_CUT, len(v.text))}
        parts = dict.fromkeys(match for v in ordered for match in self._parts(v) if match[0] not in ordinary)
        self._instead = {**dict(parts.keys()), **self._instead}
        patterns = [*map(_pattern_of, ordered), *(rf"(?<![^\W_]){re.escape(part)}(?![^\W_])" for part, _ in parts)]
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE) if patterns else None
        for value in self.values.values():
            old, new = written_terms(value.text), written_terms(self.apply(value.text))
            if len(old) == len(new):
                self._terms |= {before[0]: after[0] for before, after in zip(old, new, strict=True)}

    def words_outside(self, text: str) -> set[str]:
        if not self.values:
            return set()
        values = re.compile("|".join(map(_pattern_of, self.values.values())), re.IGNORECASE)
        return {word.casefold() for word in re.findall(r"[^\W_]+", values.sub(" ", text))}

    def _parts(self, value: Value) -> Iterator[tuple[str, str]]:
        """The longer words of a value with their stand-ins: a reply may take a value apart."""
        written = self._written(value.text, _bare(value.text))
        for match in re.finditer(r"[^\W_]+", value.text):
            if len(match[0]) >= _SHORTEST_CUT and written[slice(*match.span())] != match[0]:
                yield match[0].casefold(), written[slice(*match.span())].casefold()

    def _chosen(self, value: Value) -> str:
        """The letters and digits of the stand-in; runs that an earlier value shares are as they are there."""
        formed = value.personal and self.keep_form
        seen = mask(value.before + value.text + value.after) if formed else ""
        bare = _bare(value.text)
        together = {run: self._together.get(run[0], run[1]) for _, run in _runs_of(value)}
        if not any(together.values()):
            together = {run: run[1] for run in together}
        letters = _HEX if {*filter(str.isalpha, bare)} <= {*_HEX} else ascii_lowercase
        runs = [(start, (run[0], together[run])) for start, run in _runs_of(value)]
        new: dict[Run, str] = {}
        for n in range(_TRIES):
            chance = random.Random(hmac.digest(self.key, f"{n}.{bare}".encode(), "sha256"))
            new = {run: self._runs.get(run) or self._swapped(run, chance, letters) for _, run in runs}
            written = self._put_together(value.text, runs, new)
            if not formed or mask(value.before + written + value.after) == seen:
                break
        self._runs |= new
        return _bare(self._put_together(value.text, runs, new))

    def _put_together(self, text: str, runs: list[tuple[int, Run]], new: dict[Run, str]) -> str:
        for start, run in runs:
            text = text[:start] + "".join(map(_as, text[start:], new[run])) + text[start + len(run[0]) :]
        return text

    def _swapped(self, run: Run, chance: random.Random, letters: str) -> str:
        text, hidden = run
        taken = {other for (_, at), other in self._runs.items() if len(at) == len(hidden)} | {text}
        for _ in range(40):
            chars = list(text)
            for n in hidden:
                chars[n] = _other(text[n], chance, letters, first=n == 0)
            if (new := "".join(chars)) not in taken:
                break
        return new

    def _written(self, text: str, bare: str) -> str:
        """The stand-in of a value as that value is written here."""
        letters = iter(self._instead[bare])
        return "".join(_as(char, next(letters)) if char.isalnum() else char for char in text)

    def apply(self, text: str) -> str:
        """`text` with every learned value replaced, as long as it was; a value that its end cuts off too."""
        if self._pattern is None:
            return text
        end = next((text[-n:] for n in range(min(len(text), 80), 3, -1) if text[-n:] in self._cut), "")
        whole = text + self._cut[end][len(end) :] if end else text
        return self._pattern.sub(self._replaced, whole)[: len(text)]

    def _replaced(self, match: re.Match[str]) -> str:
        bare = _bare(match[0])
        return self._written(match[0], bare) if bare in self._instead else match[0]

    def term(self, term: str) -> str:
        """The folded term of a text, such as the key of a term's rarity."""
        return self._terms.get(term) or self.apply(term)


def _runs_of(value: Value) -> Iterator[tuple[int, Run]]:
    for match in _RUN.finditer(value.text):
        start = match.start()
        yield start, (match[0].casefold(), tuple(n - start for n in range(*match.span()) if n in value.hidden))


def _pattern_of(value: Value) -> str:
    """The value with or without its separators, where its letters and digits do not go on, or go on as where it was learned."""
    bare = [char for char in value.text if char.isalnum()]
    digits = sum(map(str.isdecimal, bare))
    first, last = ("[0-9]" if char.isdecimal() else "[A-Za-z]" for char in (bare[0], bare[-1]))
    kept, more = value.before[-1:], value.after[:1]  # the mask of an address leaves its first letter
    begins = rf"(?:(?<!{first})|(?<={kept}))" if re.fullmatch(first, kept) else f"(?<!{first})"
    ends = rf"(?:(?!{last})|(?={more}))" if re.fullmatch(last, more) else f"(?!{last})"
    loose = 2 * digits > len(bare) and _SEPARATED.fullmatch(value.text)
    inner = r"[ ()./·_~*-]{0,3}".join(bare) if loose else re.escape(value.text.strip())
    return f"{begins}{inner}{ends}"


def _other(char: str, chance: random.Random, letters: str, *, first: bool) -> str:
    """Another character of the same kind."""
    if char.isdecimal():
        worth = unicodedata.decimal(char)
        new = chance.randrange(1 if first else 0, 10) if worth or not first else 0
        return chr(ord(char) - worth + new)
    if "A" <= char.upper() <= "Z":
        return _as(char, chance.choice(letters))
    block = ord(char) & ~31
    alike = [c for c in map(chr, range(block, block + 32)) if unicodedata.category(c) == unicodedata.category(char)]
    return chance.choice(alike) if char.isalpha() and alike else char


def _as(char: str, new: str) -> str:
    return new.upper() if char.isupper() else new.lower() if char.islower() else new
