"""The stages of a run, one file each, in the order that `pipeline` gives.

The folders hold what stages share, and import one another in one direction only:

    answering, selecting -> outcome, choosing -> evidence -> facts        checking -> gate -> facts        question, text

Imports `bus`, `prompts` and `index`; no stage imports another stage.
"""
