"""The engine without a model: every prompt answered by rules, pure functions from a prompt's variables to its reply.

No model, clock or randomness: the same variables give the same reply on every machine. The rules import `prompts` for the
contracts, `index` for sentences and languages, and `actors` for gate and choosing; never NATS or another engine.
"""
