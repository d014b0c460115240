"""Routes in the forms of OpenAI's API, where a model name is a profile name; imports nothing of the other routes."""
