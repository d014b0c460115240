"""Why a file was skipped."""


class Unreadable(Exception):
    """The reason, for the report. `failed` False: nothing is wrong with the file, but it holds nothing to index."""

    def __init__(self, reason: str, *, failed: bool = True) -> None:
        super().__init__(reason)
        self.failed = failed
