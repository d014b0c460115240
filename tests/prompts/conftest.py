"""One compiled library for all tests of this folder: compiling is what takes the time."""

import pytest

from prompts.library import Library


@pytest.fixture(scope="session")
def library() -> Library:
    return Library()
