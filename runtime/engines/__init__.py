"""The engines that answer prompts: a folder each, behind the Protocol in `engine.py`; `choice` makes the one in the settings."""
