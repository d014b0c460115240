"""How much to measure: enough for stable medians on a tiny model, less on a slow real one."""

import msgspec


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """Counts are requests unless named otherwise."""

    repeats: int = 5  # of every timing; the median counts
    outputs: int = 2000  # replies checked against their schema
    others: int = 1000  # requests between pinning and looking
    starts: int = 50  # processes started and stopped under load
    reply_tokens: int = 128  # of a free reply in the throughput figures
    judgements: int = 24  # in one turn
    prefix_tokens: int = 1500


FULL = Scale()
QUICK = Scale(repeats=3, outputs=200, others=100, starts=5)
