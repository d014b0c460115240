"""What Sphinx adds to reStructuredText. In a folder of its own, so that docutils is loaded only when a file needs it."""
