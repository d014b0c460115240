"""Every agent's contract by rules: pure functions from a prompt's variables to its reply, one module per group of agents.

No model, no clock, no randomness: the same variables give the same reply on every machine. Imports `prompts` for the
contracts, `index` for sentences and languages, and `actors` for the gate; never an engine or a bus.
"""
