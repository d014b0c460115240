"""Numbers, dates and amounts of a text as comparable values, with the words around them."""
