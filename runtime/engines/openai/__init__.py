"""The engine for any OpenAI-compatible server: requests and replies, and the openai client with deadlines, retries and errors."""
