"""What `groundwire eval` measures: answers to questions, the gate's verdicts, rankings of a search, two prompts side by side."""
