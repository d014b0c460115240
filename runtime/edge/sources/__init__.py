"""The documents of the index over HTTP: their text as data, and the page that shows it at a cited place."""
