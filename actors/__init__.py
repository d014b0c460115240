"""The stages of a run, one file each, in the order of `pipeline`; nothing else lies flat.

What stages share lives in the folders: `answer`, `evidence`, `outcome` and `gate`. Imports `bus`, `prompts` and `index`; no stage
imports a stage.
"""
