"""Every threshold of the verdicts on a claim: its value and its meaning. docs/reference.md shows this file as a table."""

from typing import Final

# ---- verdicts on claims, contradicted and verified

#: A claim is searched for in this many passages,
PASSAGES: Final = 8
#: and compared with this many of their spans.
SPANS: Final = 5
#: Of this many content words of a verified claim, one may be missing from the span and what stands around it;
SPARE_WORDS: Final = 10
#: at least this share is in the span itself.
OWN_SHARE: Final = 0.75
#: or this share, where headings and the title have the rest.
OWN_SHARE_BELOW: Final = 0.5
#: The words that a claim shares with the span that verifies or contradicts it are at least this close together there.
CLOSE_TOGETHER: Final = 0.5
#: A contradicted claim has at least this share of the words that are not in dispute in the span,
SAME_SUBJECT: Final = 0.7
#: or this share where one of the two denies what the other states,
DENIED_SUBJECT: Final = 0.9
#: and at least so many of them.
SAME_WORDS: Final = 3
#: Where it is not about a number, the span has at most this many times the words of the claim.
LONGER: Final = 2.5
#: A claim is covered when a passage has at least this share of it, as the index weighs it by rarity, by the script of its words;
#: of Chinese and Korean sentences about something else, one in twenty is covered at most.
COVERED: Final = {"": 0.45, "han": 0.25, "hangul": 0.35, "arabic": 0.45}
#: or a span this share of its words, where no index is searched.
COVERED_SHARE: Final = {"": 0.35, "han": 0.2, "hangul": 0.35, "arabic": 0.35}
#: A short claim is about what its lead names, of which a span or what stands around it has at least this share.
LEAD_SHARE: Final = 0.3
