"""What is known of evidence before an answer is made: spans, the amounts and audiences they state, where they disagree."""
