"""Code that an answer copies from its evidence letter by letter: nothing in it needs to be checked or made harmless."""

from collections.abc import Sequence

from index.text.citations import Fence, fences


def copied(text: str, evidence: Sequence[str]) -> list[Fence]:
    """The fences of `text` with code that one of `evidence` contains."""
    return [
        fence
        for fence in fences(text)
        if (code := text[fence.code : fence.code_end].strip("\n")).strip() and any(code in one for one in evidence)
    ]


def without_copied(text: str, evidence: Sequence[str]) -> str:
    """`text` without those fences."""
    for fence in reversed(copied(text, evidence)):
        text = text[: fence.start] + text[fence.end :]
    return text
