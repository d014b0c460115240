"""The `.prompt` files with their typed contracts; the profiles, the notices, and the shared vocabulary.

Never imports `bus`; from `index` it takes only the languages and filters. A prompt is data, plus the rules to read it.
"""
