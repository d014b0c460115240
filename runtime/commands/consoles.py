"""Tables, progress bars and status lines on a terminal, by rich, which reads no markup here and fits each text."""

from collections.abc import Iterable

from rich.console import (
    Console,
    ConsoleOptions,
    HighlighterType,
    JustifyMethod,
    OverflowMethod,
    RenderableType,
)
from rich.segment import Segment
from rich.status import Status
from rich.style import Style, StyleType
from rich.text import Text

from runtime.terminal import fit, one_line


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console on standard output or error. A str is text: our own words are styled by `style=` or by rich's Text."""
    return _Fitted(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


class _Fitted(Console):
    """Fits a str before it is measured, so that columns stay straight, and all that is printed, however it came."""

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: HighlighterType | None = None,
    ) -> Text:
        return Text(fit(text), style=style, justify=justify, overflow=overflow)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=fit(segment.text))

    def status(
        self,
        status: RenderableType,
        *,
        spinner: str = "dots",
        spinner_style: StyleType = "status.spinner",
        speed: float = 1.0,
        refresh_per_second: float = 12.5,
    ) -> Status:
        return _Plain(
            _line(status),
            console=self,
            spinner=spinner,
            spinner_style=spinner_style,
            speed=speed,
            refresh_per_second=refresh_per_second,
        )


class _Plain(Status):
    """A status with plain text; rich's own reads it as markup."""

    def update(
        self,
        status: RenderableType | None = None,
        *,
        spinner: str | None = None,
        spinner_style: StyleType | None = None,
        speed: float | None = None,
    ) -> None:
        super().update(_line(status), spinner=spinner, spinner_style=spinner_style, speed=speed)


def _line[R](status: R) -> R | Text:
    return Text(one_line(status)) if isinstance(status, str) else status
