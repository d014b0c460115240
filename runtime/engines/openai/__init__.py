"""The engine of any OpenAI-compatible server: requests, the wire and its event streams."""
