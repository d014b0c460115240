"""The tables that a question is recognised by: each pattern compiles and has the groups that the rules read."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from index.languages import LANGUAGES, of, pattern


def patterns(table: msgspec.Struct) -> Iterator[str]:
    for value in msgspec.structs.asdict(table).values():
        if isinstance(value, msgspec.Struct):
            yield from patterns(value)
        elif isinstance(value, tuple):
            yield from (piece for piece in value if isinstance(piece, str))


@pytest.mark.parametrize("language", LANGUAGES)
def test_alternatives_compile_and_never_match_empty(language: str) -> None:
    assert all(re.compile(piece) for piece in patterns(of(language).followups))
    for piece in patterns(of(language).questions):
        assert piece
        assert not re.compile(piece).match(""), piece


@pytest.mark.parametrize("language", LANGUAGES)
def test_patterns_have_their_groups(language: str) -> None:
    own = of(language)
    assert all(set(pattern(piece).groupindex) == {"one", "two"} for piece in own.questions.comparison.sides)
    pronouns = set(pattern(own.followups.pointing.pronouns).groupindex)
    assert pronouns <= {"replaced", "possessive"}
    assert "possessive" not in pronouns or own.followups.wording.genitives[-1][0] == ""
    assert all(set(pattern(piece).groupindex) == {"subject"} for piece in own.followups.naming.names)
    assert bool(pronouns) == bool(own.followups.naming.marked)
