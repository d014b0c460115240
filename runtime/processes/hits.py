"""Convert the index's hits to the form that the bus carries."""

import msgspec

from bus.messages import About, Block, Passage
from index.model import Hit


def passage_of(hit: Hit) -> Passage:
    return Passage(
        source_id=hit.source_id,
        title=hit.title,
        url=hit.url or "",
        score=hit.score,
        score_type=hit.score_type,
        text=hit.text,
        char_start=hit.char_start,
        char_end=hit.char_end,
        language=hit.language,
        snapshot=hit.snapshot,
        page=hit.page,
        headings=hit.headings,
        blocks=tuple(Block(**msgspec.structs.asdict(block)) for block in hit.blocks),
        intros=hit.intros,
        about=about_of(hit),
        rerank_score=hit.rerank_score,
    )


def about_of(hit: Hit) -> About:
    return msgspec.convert(hit.metadata, About, from_attributes=True)
