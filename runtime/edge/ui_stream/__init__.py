"""The routes of the AI SDK's `useChat`, and its UI message stream."""
