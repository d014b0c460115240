"""CSV and TSV by the csv module: a header and rows that say their column names."""

import csv

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.decoding import decode
from index.readers.formats import Format, Source


def read_delimited(source: Source) -> Document:
    text = decode(source.data)
    rows = list(csv.reader(text.splitlines(), delimiter="\t" if source.suffix == ".tsv" else ","))
    builder = TextBuilder()
    if rows:
        builder.table(rows[1:], rows[0])
    return builder.finish(source.source_id, source.title)


FORMATS = (
    Format("CSV, TSV", (".csv", ".tsv"), read_delimited, "the standard library", "rows, each with its column names"),
)
