"""Cut out a model's thinking before its answer, with the marks of any model family.

`THINKING` declares the marks, a row a family. Thinking that is never closed reaches to the end; a mark that closes what was never
opened turns everything before it into thinking, because some chat templates open it in the prompt. A mark in code is text.
"""

import re
import unicodedata
from typing import Final, NamedTuple

from index.languages.characters import visible

_NAMES: Final = (
    r"(?:think(?:ing)?|thoughts?|thought_process|reasoning|analysis|reflection|scratch_?pad|inner_monologue|cot"
    r"|chain_of_thought)"
)
_NAME: Final = rf"(?:[a-z]{{2,12}}[:_-])?{_NAMES}"
_FINAL: Final = r"(?:<\|start\|>assistant)?<\|channel\|>\s{0,2}final[^<]{0,48}<\|message\|>"


class Marks(NamedTuple):
    """Patterns over text without case and compatibility forms, each at most 150 characters long.

    `leaves` closes too, but means nothing where nothing is open. `nests`: one opened inside another must be closed as well.
    """

    family: str
    opens: str
    closes: str
    leaves: str = r"(?!)"
    nests: bool = False


THINKING: Final = (
    Marks(
        "tags: DeepSeek, Qwen, GLM, Seed, EXAONE and most others",
        rf"<\s{{0,2}}{_NAME}(?:\s[^<>/]{{0,20}})?>",
        rf"<\s{{0,2}}/\s{{0,2}}{_NAME}\s{{0,2}}>",
        nests=True,
    ),
    Marks("square brackets: Magistral", r"\[(?:thinking|thought|think)\]", r"\[/(?:thinking|thought|think)\]", nests=True),
    Marks(
        "tokens: OpenThinker, Command",
        rf"<\|(?:begin_of_|start_of_|begin_|start_)?{_NAMES}(?:_start|_begin)?\|>",
        rf"<\|(?:/|end_of_|end_){_NAMES}\|>|<\|{_NAMES}_end\|>",
        nests=True,
    ),
    Marks("triangles: Kimi", rf"◁{_NAME}▷", rf"◁/{_NAME}▷", nests=True),
    Marks(
        "channels: Harmony",
        r"(?:<\|start\|>assistant)?<\|channel\|>\s{0,2}(?:analysis|commentary|thought|thinking)[^<]{0,48}"
        r"(?:<\|constrain\|>[^<]{0,24})?<\|message\|>",
        _FINAL,
        r"<\|(?:end|return|call)\|>",
    ),
    Marks("channels whose tokens were lost", r"(?!)", r"assistantfinal"),
    Marks("channels: Gemma", r"<\|channel>", r"<channel\|>"),
    Marks("prefixes: Apertus", r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    Marks("unused tokens: Gemma", r"<unused94>", r"<unused95>"),
)  # fmt: skip
#: Marks around the answer itself or at its end, which are dropped.
_AROUND: Final = (
    rf"<\s{{0,2}}{_NAME}\s{{0,2}}/>|<\s{{0,2}}/?\s{{0,2}}(?:answer|solution|response)\s{{0,2}}>"
    r"|</s>|<end_of_turn>|<\|(?:im_end|eot_id|end_of_text|endoftext)\|>"
    r"|<\|(?:begin|end)_of_(?:box|solution|answer)\|>|<\|(?:start|end)_response\|>|(?:<\|start\|>assistant)?<\|message\|>"
)
_MARK: Final = re.compile(
    "|".join(
        f"(?P<{kind}{row}>{pattern})"
        for row, marks in enumerate(THINKING)
        for kind, pattern in (("opens", marks.opens), ("closes", marks.closes), ("leaves", marks.leaves))
    )
    + f"|(?P<around>{_AROUND})"
)
_KEPT: Final = 16  # of a line: enough of its first characters to recognise a fence
_LOST: Final = "assistantfinal"
_STARTS: Final = re.compile(rf"[<\[◁]|{_LOST}|(?:{'|'.join(_LOST[:size] for size in range(len(_LOST) - 1, 0, -1))})\Z")
#: The beginning of a mark at the end of a text, which more text may complete.
_BEGUN: Final = re.compile(
    r"(?:<\|start\|>[a-z]{0,9}|(?:<\|start\|>assistant)?<\|channel\|>[^<]{0,62}(?:<[^<>]{0,16}(?:>[^<]{0,24}(?:<[^<>]{0,16})?)?)?"
    rf"|(?:<\|start\|>assistant)?<[^<>]{{0,64}}|\[[^\[\]\s]{{0,10}}|◁[^◁▷]{{0,40}}|[{''.join(sorted(set(_LOST)))}]{{1,13}})\Z"
)


class Thinking:
    """Takes a text in arbitrary pieces and gives it back without the thinking."""

    def __init__(self) -> None:
        self._held = ""
        self._open = -1  # the row of THINKING that is open
        self._depth = 0
        self._line = ""  # what was given back of the current line, to see where a fence begins
        self._fenced = False
        self._empty = True  # what was given back is empty lines alone
        self._thought = False
        #: How often everything given back before turned out to be thinking.
        self.taken_back = 0

    def feed(self, piece: str) -> str:
        """The certain part so far; when `taken_back` rises, it starts over."""
        self._held += visible(piece)
        return self._advance(last=False)

    def finish(self) -> str:
        """The rest, without thinking that was never closed."""
        return self._advance(last=True)

    def _advance(self, *, last: bool) -> str:
        held, said = self._held, ""
        folded = _folded(held)
        done = here = 0  # in `folded`: the decided part, and the next position
        end = len(folded)
        while found := _STARTS.search(folded, here):
            start = found.start()
            mark = _MARK.match(folded, start)
            if not last and (_BEGUN.match(folded, start) if mark is None else self._may_be_code(folded, mark, done)):
                end = start
                break
            here = start + 1 if mark is None else mark.end()
            if mark is None:
                continue
            if self._open < 0:
                said += self._give(held[done:start])
                done = start
                if self._is_code(folded, mark):
                    continue
            done = mark.end()
            if self._turned(mark):
                said = ""
        if self._open < 0:
            said += self._give(held[done:end])
        self._held = held[end:]
        return said

    def _turned(self, mark: re.Match[str]) -> bool:
        """Open or close what the mark opens or closes; whether all before it was thinking."""
        kind = str(mark.lastgroup)
        if kind == "around":
            return False
        self._thought = True
        row = int(kind[6:] if kind.startswith(("closes", "leaves")) else kind[5:])
        if self._open < 0:
            if kind.startswith("opens"):
                self._open, self._depth = row, 1
            elif kind.startswith("closes"):
                self.taken_back += 1
                self._line, self._fenced, self._empty = "", False, True
                return True
        elif row == self._open:
            nests = THINKING[row].nests
            self._depth = self._depth + 1 if kind.startswith("opens") else self._depth - 1 if nests else 0
            if not self._depth:
                self._open = -1
        return False

    def _give(self, text: str) -> str:
        if self._empty:
            text = text.lstrip("\r\n") if self._thought else text
            self._empty = not text.strip("\r\n")
        *lines, last = (self._line + text).split("\n")
        for line in lines:
            self._fenced ^= line.lstrip().startswith("```")
        self._line = last if len(last) < 2 * _KEPT else last[:_KEPT] + last[-1]
        return text

    def _is_code(self, folded: str, mark: re.Match[str]) -> bool:
        """Whether the mark is alone between backticks, or in a fence."""
        return self._fenced or (self._line.endswith("`") and folded[mark.end() : mark.end() + 1] == "`")

    def _may_be_code(self, folded: str, mark: re.Match[str], done: int) -> bool:
        before = folded[mark.start() - 1] if mark.start() > done else self._line[-1:]
        return self._open < 0 and before == "`" and mark.end() == len(folded)


def without_thinking(text: str) -> str:
    thinking = Thinking()
    before = thinking.feed(text)
    taken_back = thinking.taken_back
    rest = thinking.finish()
    return rest if thinking.taken_back > taken_back else before + rest


def _folded(text: str) -> str:
    """`text` as marks are read in it, character by character."""
    return text.lower() if text.isascii() else "".join(map(_plain, text))


def _plain(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char).lower()
    return plain if len(plain) == 1 else char
