"""Numbers, dates and amounts of a text as comparable values."""
