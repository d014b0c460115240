"""How a run ends: the re-gate table, admissions of uncertainty, refusals, and the closest passages."""
