"""The index that the settings name: a folder, or a cluster at a URL."""

from index.opening import Credentials, Index, index_at
from runtime.settings import IndexSettings


def index_of(settings: IndexSettings) -> Index:
    """Raises IndexProblem."""
    secret = Credentials(user=settings.user, password=settings.password, ca=settings.ca)
    return index_at(settings.url or settings.dir, secret)
