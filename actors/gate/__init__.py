"""The gate: what can be checked about a sentence and its evidence without a model. Pure and synchronous.

`gate` is the way in and `flags` what comes out. `normal`, `reading`, `stems` and `places` prepare text; `citations`,
`number_check`, `quotes`, `terms`, `names` and `overlap` each find one kind of flag, `lexicon` holds their terms in five
languages. `masking` and `links` make a text safe to show. Imports `prompts` (for `Evidence`) and `index` (languages,
sentences), never `bus`.
"""
