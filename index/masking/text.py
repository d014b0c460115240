"""Mask personal data in a text: mail addresses, phone, card, account, passport and identity numbers.

A mask has the length of what it hides, so every offset into a text stays right. It keeps what people recognise their own data by:
the first letter and the last part of an address (`k••@•••••••.com`), the last four digits of a number (`•••-••••-5678`), and
nothing of a resident registration number. Its sign is one that Markdown leaves alone. Citation markers, years, amounts, dates,
versions and the numbers of articles, orders and books are left alone.
"""

import re

from index.masking import identity, mail, numbers
from index.masking.labels import REACH
from index.masking.plain import plain
from index.masking.sign import MASK

_ANYTHING = re.compile(r"\d|[@＠﹫]|%40")


def mask(text: str, before: str = "") -> str:
    """`text` with its personal data masked, as long as it was; masking twice changes nothing.

    `before` is what stands before it, where a label of its first number may be.
    """
    if not _ANYTHING.search(text) and not mail.spelled_out(text):
        return text
    before = before[-REACH:]
    whole, places = plain(before + text)
    hidden = numbers.hidden(whole, mail.hidden(whole) | identity.hidden(whole))
    if not hidden:
        return text
    letters = list(text)
    for at in hidden:
        place = (at if places is None else places[at]) - len(before)
        if place >= 0:
            letters[place] = MASK
    return "".join(letters)
