"""Runs again: replay a recorded run through today's code, fork it at a stage, compare two, play one back.

A `Trace` in, findings out: no bus, index or model. Only `journal_traces` and `fork_journal` speak with a journal, and only
`fork_powers` makes an engine or opens an index. Actors are run by `bus.execution`, as everywhere.

    trace            a run as records and frames of events, and its file
    steps            which actor made which record of what
    recorded_powers  replies, hits and events out of a record
    replayer         each step through today's code, compared byte for byte
    live_powers      replies and hits of an engine and an index, or of a record where those are wanted
    fork             the steps before a stage kept, the others done anew in this process
    difference       where two runs part; `json_difference`: where two texts of JSON do
    event_times      the events of a run with the time before each
"""
