"""The engine of any OpenAI-compatible server: the requests, and the openai client with its deadlines and refusals around it."""
