"""Measurements: quality of answers, gate, retrieval and rewriting; `device/` benchmarks the inference device."""
