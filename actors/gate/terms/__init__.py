"""Terms that can be turned round: negation, duty, ban, limits, opposites, kinds and names."""
