"""Files as documents: one module for each format.

Input: the bytes of a file (`read`), or lines of records (`read_records`). Output: a Document: its text, blocks with offsets, pages
and metadata. Guarantees: nothing is fetched, every block is a slice of the text, every problem of a file is Unreadable with a
reason. `all_formats` and `by_suffix` list the formats, KNOWN_UNREAD other suffixes with a remedy.

Imports the model, the languages, and the rules of names, groups and sentences. A module with FORMATS adds a format.
"""

from index.readers.formats import KNOWN_UNREAD, Format, Source, Unreadable, all_formats, by_suffix, read
from index.readers.records import read_records

__all__ = ["KNOWN_UNREAD", "Format", "Source", "Unreadable", "all_formats", "by_suffix", "read", "read_records"]
