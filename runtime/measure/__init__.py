"""Measures: benches of the device, and the figures of answers, the gate, retrieval and rewriting. Pure but for the benches."""
