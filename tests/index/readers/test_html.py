"""HTML: each thing that a page shows, as the block that it is."""

from index.readers.building import TextBuilder
from index.readers.html import read_fragment


def test_a_fragment_inside_another_format_becomes_its_blocks() -> None:
    builder = TextBuilder()
    builder.add("Before")
    read_fragment(builder, "<details><summary>More</summary><p>Hidden at <b>first</b></p></details>")
    read_fragment(builder, "</div><!-- nothing -->")
    builder.add("After")
    assert builder.finish("a", "a").text == "Before\n\nMore\n\nHidden at first\n\nAfter"
