"""Terms whose reversal changes the meaning: negation, duty, ban, limits, opposites, kinds and names."""
