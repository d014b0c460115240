"""What goes wrong, as exceptions."""

import msgspec


class GroundwireError(Exception):
    """The server refused or could not be reached. `status` is 0 when nothing answered; `code` is stable, for programs.

    `field`: the path of the wrong field of the request, if there is one.
    """

    def __init__(
        self, status: int, code: str, detail: str, retry_after_s: float | None = None, field: str = ""
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.field = field


class Unreachable(GroundwireError):
    """Nothing answered, or no more came, for as long as the client was patient."""


class Refused(GroundwireError):
    """The request itself is wrong, or may not be made: sending it again changes nothing."""


class TryLater(GroundwireError):
    """It may be sent again after `retry_after_s`: too many questions (429), or a part of the server is away (503)."""


class RunFailed(GroundwireError):
    """The run ended without an answer; `code` is the failure's."""


class _Problem(msgspec.Struct):
    code: str = ""
    detail: str = ""
    field: str = ""


def error_of(status: int, body: bytes, retry_after: str | None) -> GroundwireError:
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem("", body[:200].decode(errors="replace").strip())
    try:
        after_s = float(retry_after) if retry_after else None
    except ValueError:  # a date
        after_s = None
    kind = TryLater if status in (429, 503) else Refused if status < 500 else GroundwireError
    detail = problem.detail or f"the server answered with status {status}"
    return kind(status, problem.code, detail, after_s, problem.field)
