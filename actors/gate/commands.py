"""Commands and code that are not in the evidence."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from index.text.fences import fences

_INLINE: Final = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)(?<!`)\1(?!`)")
#: Signs that plain words between backticks do not have.
_SIGNS: Final = re.compile(r"[/\\$|;&><=(){}]|(?:^|\s)--?[a-zA-Z]")
_COMMAND: Final = re.compile(
    r"""
    (?<![\w/-])(?:
      (?:sudo|curl|wget|chmod|chown|rm|ssh|scp|nc|netcat|powershell|iex|certutil|mshta|rundll32|nohup|mkfs|dd)\s+[-\w./$~][^\s,;]*(?:\s+[-./~$][^\s,;]*){0,3}
      |(?:pip3?|npm|npx|yarn|pnpm|brew|apt|apt-get|yum|dnf|apk|gem|cargo|snap|choco|winget|uv|conda)\s+(?:install|add|i|run|exec|remove|uninstall)\s+[^\s,;]+
      |(?:docker|kubectl|git|systemctl|helm|terraform)\s+(?:run|exec|pull|push|apply|delete|clone|start|stop|enable|disable|reset|config|rm)\s+[^\s,;]+
      |(?:python3?|node|perl|ruby|php|bash|zsh|sh|cmd|pwsh)\s+(?:-{1,2}[a-z]|/c\b)[^\n]{0,40}
      |(?:drop|truncate|alter)\s+(?:table|database)\s+\w+|delete\s+from\s+\w+
    )
    |(?<=\s)--[a-z][a-z0-9-]+
    |(?<=[a-z]\s)-[a-z]{1,3}(?=\s|$)
    |\|\s*(?:sudo\s+)?(?:sh|bash|zsh|python3?|perl|iex)\b
    |\$\([^()\n]{1,80}\)
    |&&\s*\w+
    """,
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s+")
_HAS_SIGN: Final = re.compile(
    r"[-`|$&/]|sudo|curl|wget|ch(?:mod|own)|\brm\b|install|\bssh|\bscp|\bdd\b|\bnc\b|drop|truncate|alter|delete|docker|kubectl"
    r"|git|powershell|iex|certutil|nohup|mkfs|mshta|rundll32|helm|systemctl|terraform|npm|npx|yarn|pnpm|brew"
)


def commands(written: str, text: str, known: Sequence[str]) -> Iterator[str]:
    """The commands and the code of a sentence, as `written` and as `text`, its form for comparing, that are not in `known`."""
    if not _HAS_SIGN.search(text):
        return
    for match in _COMMAND.finditer(text):
        words = _loose(match[0]).rstrip(".:!?`'\"")
        if words and not _in(words, known):
            yield words
    if "`" not in written:
        return
    for fence in fences(written):
        for line in map(_loose, written[fence.code : fence.code_end].splitlines()):
            if any(map(str.isalnum, line)) and not _in(line, known):
                yield line
    for code in _INLINE.finditer(written):
        words = _loose(code[2])
        if _SIGNS.search(code[2]) and not _in(words, known):
            yield words


def _in(words: str, known: Sequence[str]) -> bool:
    return any(words in _loose(text) for text in known)


@lru_cache(maxsize=512)
def _loose(text: str) -> str:
    return _SPACE.sub(" ", text.replace("`", "")).strip().lower()
