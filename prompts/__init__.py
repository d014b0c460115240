"""One `.prompt` file per agent, their typed contracts, the profiles, and the words that people read.

Imports neither `bus` nor `index`: a prompt is data and the rules to read it.
"""
