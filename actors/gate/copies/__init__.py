"""Sentences copied from the evidence with a word or two changed, and whether the change alters the claim."""
