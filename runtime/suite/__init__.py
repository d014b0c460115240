"""Suites: recorded runs with what is expected of them, checked again as code, prompts, thresholds and documents change.

cases      a case and its file; what a finished run lets one expect; a finished run against a case
running    a case run again, over its recorded evidence or over today's index; the results as JUnit has them
foreign    cases as items of a Langfuse dataset, or as spans of OpenInference, and back
"""
