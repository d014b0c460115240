"""Filters for the text of an answer on its way out: limit, links, numbering. They know no prompt and no evidence."""
