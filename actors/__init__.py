"""The stages of a run, one file each, in the order that `pipeline` gives.

The folders hold what stages share, and import one another in one direction only:

    answering, selecting -> outcome -> question -> choosing -> evidence -> facts
    answering, outcome, checking -> gate -> facts        answering, outcome -> text        checking -> choosing

Imports `bus`, `prompts` and `index`; no stage imports another stage.
"""
