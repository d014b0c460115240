"""What `groundwire eval` measures: answers to questions, the gate's verdicts, two prompts side by side."""
