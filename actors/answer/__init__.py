"""What the answering stages share: drafting, the release of checked sentences, notices of conflict, links, masking, profiles."""
