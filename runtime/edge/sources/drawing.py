"""Whose turn it is to have a page drawn: of the few places that draw, a key has one; what else it wants waits here.

A page may take all its time to draw. It holds its place until it is drawn, also when whoever wanted it has left.
"""

import asyncio
from weakref import WeakValueDictionary

from bus.powers.sources import PageAsked, PageView, Piece, PieceAsked, ask_sources
from bus.transport.connection import Client
from bus.wire.errors import Unavailable

#: How long a page may take to be drawn, in seconds, and how long its turn is waited for.
DRAW_S = 30.0


class Drawing:
    """The turns at one edge. Where no key is needed, one person asks, who needs no share."""

    def __init__(self) -> None:
        #: Of each key that has one or waits for it, and so holds the lock.
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def ask[Reply: (PageView, Piece)](
        self, client: Client, key_id: str, question: PageAsked | PieceAsked, kind: type[Reply]
    ) -> Reply:
        """As `ask_sources`. Raises NoSuchSource, NotServed, Unavailable."""
        if not key_id:
            return await ask_sources(client, question, kind, timeout_s=DRAW_S)
        turn = self._turns.setdefault(key_id, asyncio.Lock())
        try:
            async with asyncio.timeout(DRAW_S):
                await turn.acquire()
        except TimeoutError:
            raise Unavailable("this key's other pages are still being drawn; try again in a moment") from None
        asking = asyncio.create_task(ask_sources(client, question, kind, timeout_s=DRAW_S))
        asking.add_done_callback(lambda done: turn.release())
        asking.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait for it any more
        return await asyncio.shield(asking)
