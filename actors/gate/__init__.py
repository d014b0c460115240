"""The gate: what can be checked about a sentence and its evidence without a model. Pure and synchronous.

`check` is the way in and `flags` what comes out. `normal`, `stems` and `places` prepare text; `citations`, `quotes` and `overlap`
each find one kind of flag, as do `numbers/` and `terms/` for numbers and for duties, negations and names. Imports `prompts`
(for `Evidence`) and `index` (languages, sentences), never `bus`.
"""
