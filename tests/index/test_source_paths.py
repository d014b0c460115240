"""Which addresses a client is given."""

import pytest

from index.source_paths import on_the_web, openable


@pytest.mark.parametrize(
    ("url", "of_a_document", "of_an_index"),
    [
        ("https://example.org/a?b#c", True, True),
        ("file:///home/me/a.md", False, True),
        ("/guide/a.html#b", False, True),
        ("", False, False),
        ("javascript:alert(1)", False, False),
        (" javascript:alert(1)", False, False),
        ("data:text/html,a", False, False),
        ("//evil.example", False, False),
        ("/\\evil.example", False, False),
        ("https:evil.example", False, False),
        ("https://a.example/\r\nb", False, False),
    ],
)
def test_unsafe_address_is_dropped(url: str, of_a_document: bool, of_an_index: bool) -> None:
    assert on_the_web(url) == (url if of_a_document else "")
    assert openable(url) == (url if of_an_index else "")
