"""Choosing selects the blocks of the retrieved passages that answer a question, by learned weights.

Input: a question, passages best first, and what the index knows of the question's terms. Output: a `Choice` with every block
ranked, the blocks to show, and the probability that they answer; None for passages without text. Choosing is pure: no model, no
clock, and no I/O except the weights file, which is read once.

`follow_ups.choose_parts` is its public function. Choosing imports `index`, `actors.facts`, `actors.evidence` and the bus's
parts, and no gate.
"""
