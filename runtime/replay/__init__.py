"""Recorded runs: replay one through today's code, fork it at a stage, compare two, or play one back.

Most of it takes a `Trace` and needs no bus, index or model. Only `journal_traces` and `fork_journal` talk to a journal, and
only `fork_powers` makes an engine or opens an index. Actors are run by `bus.delivery.execution`, as everywhere.

    trace            a run as records and frames of events, in memory and as a file
    steps            a trace as steps: which actor made which record from what
    recorded_powers  replies, hits and events taken from a record
    replayer         every step through today's code, compared byte for byte
    live_powers      replies and hits from an engine and an index, or from a record
    fork             the steps before a stage kept, the rest run again in this process
    difference       where two runs differ; `json_difference`: where two JSON texts do
    event_times      a run's events with the wait before each
"""
