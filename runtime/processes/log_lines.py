"""Lines of a process's log: text from outside cannot forge a line, nor control the terminal."""

import logging
from types import TracebackType

from runtime.terminal import escaped

type _Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class OneLine(logging.Formatter):
    """A record is one line, its control characters as escapes; the lines of a traceback below it are indented."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return escaped(super().formatMessage(record))

    def formatException(self, ei: _Raised) -> str:
        return _below(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        return _below(super().formatStack(stack_info))


def _below(text: str) -> str:
    return "\n".join(f"  {escaped(line)}" for line in text.split("\n"))
