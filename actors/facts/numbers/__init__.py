"""Numbers, dates and amounts as comparable values, and the check that the evidence supports them."""
