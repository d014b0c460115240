"""Recorded runs: replay one through today's code, explain it, compare two, sum up many, or share one.

Most of it takes a `Trace` and needs no bus, index or model; only `journal_traces` talks to a journal. Actors are run by
`bus.delivery.execution`, as everywhere.

    trace             a run as records and frames of events, in memory and as a file
    steps             a trace as steps: which actor made which record from what
    recorded_powers   replies, hits and events taken from a record
    replayer          every step through today's code, its outputs compared; `anew`: recorded in place of the old ones
    difference        where two runs differ, and where two JSON texts do
    explained, why    the reasons of a run, and why it does not cite a source
    prompts_asked     the prompts of a step, by today's prompt files
    run_rows          a row for each run, for lists; `run_statistics` is of many runs
    sharing, masks    a trace with stand-ins for what must not be shown
"""
