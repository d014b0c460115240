"""Numbers, dates and amounts of a text as comparable values, and whether the evidence bears them out."""
