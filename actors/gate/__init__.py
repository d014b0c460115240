"""The gate: every check of a sentence against its evidence that needs no model. Pure and synchronous.

`check` is the entry point and `flags` its result. `stems` and `places` prepare text; `citations`, `quotes` and `overlap` each
find one kind of flag, `numbers/` checks numbers, and `terms/` checks duties, negations and names. Imports `prompts` (for
`Evidence`) and `index` (languages, sentences), never `bus`.
"""
