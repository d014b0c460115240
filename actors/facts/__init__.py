"""What a text states: numbers with their units, terms of duty and negation, content words, copied code.

The gate compares these facts with the evidence, and `actors.evidence` compares two documents. Imports `index` only.
"""
