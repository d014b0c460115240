"""Runs again: replay a recorded run through today's code, fork it at a stage, compare two, play one back.

The core is pure: a `Trace` in, findings out; no bus, index or model. Only `reading` and `keeping` speak with a journal.

    trace      a run as records and event frames, and its file
    steps      which actor made which record of what
    powers     ask, search and emit, answered from a record
    replaying  each step through today's code, compared byte for byte
    forking    the steps before a stage kept, the others done anew in this process
    comparing  the first difference of two records, and of two runs
    pacing     the events of a run with the time before each
"""
