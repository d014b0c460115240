"""Find the sentences of a draft in the text that is shown, where markers have other numbers and the end may be cut off.

The letters and digits outside markers are the same in both, so the n-th of the draft is the n-th of the text.
"""

from collections.abc import Sequence

from index.text.citations import markers


def aligned(text: str, sentences: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end of each sentence in `text`, without white space around it; both are equal for one that is not there."""
    at = _letters(text)
    starts: list[int] = []
    done = 0
    for sentence in sentences:
        own = _letters(sentence)
        before = at[done - 1] + 1 if 0 < done <= len(at) else 0
        if own:
            starts.append(max(before, at[done] - own[0]) if done < len(at) else len(text))
            done += len(own)
        else:
            starts.append(-1)
    found: list[tuple[int, int]] = []
    end = len(text)
    for start in reversed(starts):
        if start < 0:
            found.append((end, end))
            continue
        words = text[start:end]
        begin = start + len(words) - len(words.lstrip())
        found.append((begin, begin + len(words.strip())))
        end = start
    return found[::-1]


def line_break(before: str, dropped: str) -> str:
    """The white space behind a sentence that is left out, if it ends a line or a paragraph that `before` does not end."""
    gap = dropped[len(dropped.rstrip()) :]
    ended = before[len(before.rstrip()) :].count("\n")
    return gap.removeprefix("\n" * ended) if before.strip() and gap.count("\n") > ended else ""


def _letters(text: str) -> list[int]:
    """The places of the letters and digits outside markers; a sentence may end inside one over two lines, which is none here."""
    one_line = (marker for marker in markers(text) if "\n" not in text[marker.start : marker.end])
    marked = {at for marker in one_line for at in range(marker.start, marker.end)}
    return [at for at, char in enumerate(text) if char.isalnum() and at not in marked]
