"""How a run ends: the re-gate table, admissions of uncertainty, and what the client is told."""
