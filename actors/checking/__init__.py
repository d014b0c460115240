"""Check a text by anyone against documents: its claims, the spans about each of them, and a verdict on each claim.

`claims` cuts a text, `spans` finds what documents say about a claim, `verdicts` compares the two with the gate. All are pure.
Imports the gate, choosing, the evidence, the facts, `index`, the passage of the bus and the evidence type of `prompts`.
"""
