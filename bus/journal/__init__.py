"""The journal: the records of every run, written once, and what keeps, ends and removes them.

Imports `bus.wire` and `bus.transport`.
"""
