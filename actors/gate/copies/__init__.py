"""Sentences that are copied from the evidence but for a word or two, and whether those words change what is claimed."""
