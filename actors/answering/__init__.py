"""What the answering stage uses: drafting, release of checked sentences, conflict notices, answers in JSON."""
