"""What introduces a list, a table or code, and how far it reaches."""

from index.model import Block, Document
from index.readers import Source, read


def intros(text: str, suffix: str = ".md") -> list[tuple[str, str]]:
    document = read(Source(text.encode(), f"a{suffix}", "a", suffix))
    return [(_said(document, block), _intro(document, block)) for block in document.blocks if block.kind != "prose"]


def _said(document: Document, block: Block) -> str:
    return document.text[block.start : block.end]


def _intro(document: Document, block: Block) -> str:
    return document.text[slice(*block.intro)] if block.intro else ""


def test_table_after_code_has_no_earlier_introduction() -> None:
    text = "Fees:\n\n| A |\n|--|\n| 1 |\n\n```\nls\n```\n\n| B |\n|--|\n| 2 |\n"
    assert intros(text) == [("A", "Fees:"), ("A: 1", "Fees:"), ("ls", ""), ("B", ""), ("B: 2", "")]


def test_adjacent_tables_share_their_introduction() -> None:
    text = "<p>Fees:</p><table><tr><th>A<tr><td>1</table><table><tr><th>B<tr><td>2</table>"
    assert {intro for _, intro in intros(text, ".html")} == {"Fees:"}


def test_items_after_code_keep_the_list_introduction() -> None:
    markdown = "Do:\n\n- one\n\n  ```\n  ls\n  ```\n\n  More.\n- two\n"
    html = "<p>Do:</p><ul><li>one<pre>ls</pre>More.<li>two</ul>"
    expected = [("- one", "Do:"), ("ls", "- one"), ("- two", "Do:")]
    assert intros(markdown) == expected
    assert intros(html, ".html") == expected
    nested = "<p>Do:</p><ul><li>one<ul><li>in</ul>More.<li>two</ul>"
    assert intros(nested, ".html") == [("- one", "Do:"), ("- in", "- one"), ("- two", "Do:")]


def test_very_short_sentence_takes_its_predecessor() -> None:
    assert intros("Hello. Send its number. For example:\n\n- 117\n") == [("- 117", "Send its number. For example:")]
    assert intros(f"{'Long ' * 80}end. For example:\n\n- 117\n") == [("- 117", "For example:")]
