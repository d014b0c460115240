"""From the chosen passages to the next message: an answer request with numbered evidence, or the end of the run."""
