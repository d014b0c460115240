"""One compiled library for all tests of this folder, since compiling takes most of the time."""

import pytest

from prompts.library import Library


@pytest.fixture(scope="session")
def library() -> Library:
    return Library()
