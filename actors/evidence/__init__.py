"""What stages share about evidence: lanes, contexts, analyses, spans, amounts, audiences, conflicts, and the request they lead
to.
"""
