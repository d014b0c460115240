"""The gate checks one sentence against its evidence, by rules alone.

Input: a sentence and the numbered evidence. Output: flags, each with the words, the evidence and the reason.
`flags.standing` says whether a sentence with these flags is verified, unverified or withheld. The gate is pure: no model, no
clock, no I/O, and equal input gives equal flags.

`check.check_sentence` is its public function, and `flags.Flag` is the result. The other modules are private to the package. The
gate imports the languages and sentences of `index`, evidence and prompt files of `prompts`, `actors.facts`, and no `bus`.
"""
