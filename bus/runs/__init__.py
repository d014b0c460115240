"""The pipeline as its clients see it: submit a question, follow its events, read its record.

Imports all of the bus but `bus.delivery`.
"""
