"""Actor tests read every profile beforehand, and fail when something blocks the event loop."""

from collections.abc import Iterator

import pytest
from blockbuster import BlockBuster, blockbuster_ctx

from actors.question.profile import preload
from index.languages import LANGUAGES
from index.languages.detection import detect, detect_in_question
from index.languages.meaning import nearness
from index.languages.names import named


@pytest.fixture(scope="session", autouse=True)
def everything_is_read() -> None:
    preload()
    detect("The first call loads the words of both.")
    detect_in_question("key words")
    nearness("The first call", ["loads the vectors."])
    for language in LANGUAGES:
        named((language,), language)


@pytest.fixture(autouse=True)
def nothing_blocks() -> Iterator[BlockBuster]:
    with blockbuster_ctx() as blocking:
        yield blocking
