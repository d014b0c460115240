"""Why a file was left out."""


class Unreadable(Exception):
    """The reason, for the report. `failed` False: there is nothing wrong with the file, only nothing in it to index."""

    def __init__(self, reason: str, *, failed: bool = True) -> None:
        super().__init__(reason)
        self.failed = failed
