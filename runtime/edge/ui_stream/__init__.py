"""The routes of the AI SDK's `useChat`, and its UI message stream; imports nothing of the other routes but how they read a key."""
