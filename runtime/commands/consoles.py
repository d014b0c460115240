"""Tables, progress bars and status lines on a terminal, by rich, which reads no markup here and fits each text."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.style import Style
from rich.text import Text

from runtime.terminal import fit, one_line


def plain_console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A console on standard output or error. A str is text: our own words are styled by `style=` or by rich's Text."""
    return _Fitted(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


class _Fitted(Console):
    """Fits a str before it is measured, so that columns stay straight, and all that is printed, however it came."""

    def render_str(self, text: str, *, style: str | Style = "", **form: Any) -> Text:
        return Text(fit(text), style=style, justify=form.get("justify"), overflow=form.get("overflow"))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=fit(segment.text))

    def status(self, status: RenderableType, **form: Any) -> Status:
        return _Plain(_line(status), console=self, **form)


class _Plain(Status):
    """A status with plain text; rich's own reads it as markup."""

    def update(self, status: RenderableType | None = None, **form: Any) -> None:
        super().update(_line(status), **form)


def _line[R](status: R) -> R | Text:
    return Text(one_line(status)) if isinstance(status, str) else status
