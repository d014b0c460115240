"""The question as the stages see it: its profile, and the request with every default resolved."""
