"""Make outside text harmless before it goes into a prompt, and mark visibly every place that had to change.

Three things are changed: the first character of anything that a model's chat template, the Dotprompt format or our own tags
would read as structure; control characters and hidden text; and, in a value that must stay on one line, line breaks and
quotation marks. Everything else survives character by character, because spans are copied from it.
"""

import re
import unicodedata
from collections.abc import Iterable

from index.languages.characters import INVISIBLE, visible

#: Names of tags that chat templates and reasoning models treat as structure, besides the prompts' own.
_MODEL_TAGS = (
    "s", "bos", "eos", "pad", "unk", "mask", "sep", "cls", "start_of_turn", "end_of_turn", "start_of_image", "end_of_text",
    "im_start", "im_end", "think", "thinking", "tool_call", "tool_response", "tools", "function", "system", "user", "assistant",
    "human", "model", "instruction", "instructions", "image_soft_token", r"unused\d+",
)  # fmt: skip
_MODEL_WORDS = (
    "INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS", "IMG", "PREFIX", "SUFFIX", "MIDDLE", "CLS", "SEP",
    "MASK", "PAD", "UNK", "gMASK", "BOS", "EOS",
)  # fmt: skip
_OPENING = re.compile("[<＜﹤]|[\\[［﹇](?![0-9])")  # [1] is a citation
_VISIBLE = {"<": "‹", "＜": "‹", "﹤": "‹", "[": "⟦", "［": "⟦", "﹇": "⟦"}
_LONGEST = 64  # characters of a marker, not counting hidden ones
#: Control characters, bidirectional overrides, lone surrogates, invisible ASCII, hidden runs.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202d\u202e\ud800-\udfff]|[\U000e0000-\U000e007f]+"
    f"|[{INVISIBLE}]{{8,}}"  # no script or emoji needs so many in a row
)
_ATTRIBUTE = str.maketrans({'"': "'", "<": "‹", ">": "›"})


class Neutral:
    """Neutralises text for prompts with tags of the given names."""

    def __init__(self, tags: Iterable[str]) -> None:
        ours = "|".join(sorted(map(re.escape, set(tags)), key=len, reverse=True))
        self._angle = re.compile(
            rf"<[<\s]*/?\s*(?:{ours})(?=[\s/>]|$)"
            rf"|</?(?:{'|'.join(_MODEL_TAGS)})/?>"
            r"|<\|[^\s<>|‹]{1,48}\|?>|<[^\s<>|‹]{1,48}\|>"  # <|im_start|>, <|turn>, <turn|>
            r"|<+dotprompt:|<+\s*/?\s*SYS>",
            re.IGNORECASE,
        )
        self._square = re.compile(rf"\[\|[^\s\[\]|⟦]{{1,48}}\|\]|\[/?(?:{'|'.join(_MODEL_WORDS)})\]")

    def block(self, text: str) -> str:
        """`text` for a place with several lines, between our tags."""
        return _OPENING.sub(self._seen, _UNFIT.sub(_shown, text))

    def line(self, text: str) -> str:
        """`text` for a place inside a line."""
        return " ".join(self.block(text).split())

    def attribute(self, text: str) -> str:
        """`text` for a quoted attribute: no line break, quotation mark or angle bracket."""
        return self.line(text).translate(_ATTRIBUTE)

    def marks(self, text: str) -> list[str]:
        """The marks in `text` that a model would read as structure, as it reads them."""
        if not _OPENING.search(text):
            return []
        near = (_folded(text, found.start()) for found in _OPENING.finditer(text))
        return [mark[0] for one in near if (mark := self._angle.match(one) or self._square.match(one))]

    def _seen(self, found: re.Match[str]) -> str:
        after = _folded(found.string, found.start())
        structure = self._angle.match(after) or self._square.match(after)
        return _VISIBLE[found[0]] if structure else found[0]


def _shown(found: re.Match[str]) -> str:
    code = ord(found[0][0])
    if len(found[0]) > 1 or code >= 0xE0000:
        return "‹hidden characters›"
    if code < 0x20:
        return chr(0x2400 + code)
    return {0x7F: "␡", 0x202D: "‹LRO›", 0x202E: "‹RLO›"}.get(code, "\ufffd")


def _folded(text: str, start: int) -> str:
    """The text at `start` as a normalising tokenizer reads it: compatibility forms, without invisible characters."""
    near = text[start : start + _LONGEST]
    if near.isascii():
        return near
    return unicodedata.normalize("NFKC", visible(text[start : start + _LONGEST * 8])[:_LONGEST])
