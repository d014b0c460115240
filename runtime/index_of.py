"""The index that the settings name: a folder, or a cluster at a URL."""

from typing import TYPE_CHECKING

from index.errors import IndexProblem
from runtime.settings import IndexSettings

if TYPE_CHECKING:
    from index.build.opening import Index


def index_of(settings: IndexSettings) -> "Index":
    """Raises IndexProblem."""
    from index.build.opening import Credentials, index_at  # `up` opens no index itself

    secret = Credentials(user=settings.user, password=settings.password, ca=settings.ca)
    return index_at(settings.url or settings.dir, secret)


def overheard(settings: IndexSettings) -> str:
    """The warning when the index's password crosses a network unencrypted; empty otherwise."""
    if not (settings.url and settings.password):
        return ""
    from index.opensearch.client import located  # a folder needs none of it

    try:
        return located(settings.url, user=settings.user, password=settings.password).overheard
    except IndexProblem:  # reported when the index is opened
        return ""
