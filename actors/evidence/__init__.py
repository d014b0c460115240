"""What stages share about evidence: lanes, contexts, analyses, spans, amounts, audiences, conflicts, documents in force."""
