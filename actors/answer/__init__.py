"""What the answering stages share: drafting, releasing checked sentences, conflict notices, links, masking, and the question's
profile.
"""
