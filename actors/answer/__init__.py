"""What the answering stages share: drafting, release of checked sentences, conflict notices, links, masking, the profile."""
