"""CSV and TSV by the csv module: the table alone, since there is no place for anything else."""

import csv
import io

from tests.documents.described import Described, Table, spread
from tests.documents.described import joined_header as header


def written(described: Described, delimiter: str, encoding: str) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    for block in described.blocks:
        if isinstance(block, Table):
            writer.writerows([header(block), *spread(block)[block.header :]])
    return file.getvalue().encode(encoding)


def comma(described: Described) -> bytes:
    return written(described, ",", "utf-8-sig")


def tab(described: Described) -> bytes:
    return written(described, "\t", "utf-16")
