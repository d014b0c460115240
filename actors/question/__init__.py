"""The question as the stages see it: its profile, the request with every default resolved, whether it sets an exercise."""
