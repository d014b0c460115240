"""source.toml: the texts of the page that shows a source."""

import msgspec

from index.languages.tables.kinds import Text


class SourcePage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Links, headings and states of the page. `{page}` and `{pages}` are numbers."""

    cited: Text  # link to the cited place
    earlier: Text  # link to the text before this
    later: Text
    page: Text  # which page of how many is shown
    previous_page: Text
    next_page: Text
    picture: Text  # what the picture of a page shows
    larger: Text  # link to the picture in more detail
    page_text: Text  # heading over the text of the page
    not_marked: Text  # the cited words were not found in the picture
    no_picture: Text  # there can be no picture of the page
    original: Text  # link to the file itself
    published: Text  # link to where the document is published
    columns: Text  # what a table is called that a reader of screens meets
    not_whole: Text  # the index is older and lacks the text between passages
    missing: Text  # heading: there is no such document
    missing_why: Text
    key_needed: Text  # heading: the service asks for a key
    open: Text  # button
    key_refused: Text  # the key is wrong or may not open sources
    away: Text  # heading: no answer from the index
    script_needed: Text  # to a browser that runs no scripts, where a key is needed
