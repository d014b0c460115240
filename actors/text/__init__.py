"""Filters for the text of an answer on its way out: limit, links, numbering, the places of its sentences. They know no prompt."""
