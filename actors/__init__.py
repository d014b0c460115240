"""The stages of a run, one file each, in the order that `pipeline` gives; no other modules stand at this level.

Code that stages share lives in the folders `answer`, `evidence`, `outcome` and `gate`. Imports `bus`, `prompts` and `index`;
no stage imports another stage.
"""
