"""The page that people ask on: its document, scripts and styles as they are served, and `document`, which serves them."""
