"""Convert the index's hits to the form that the bus carries."""

import msgspec

from bus.wire.fields import same_fields
from bus.wire.messages import About, Block, Collection, Passage
from index.groups import Groups
from index.languages.words import written_terms
from index.model import Hit
from index.search.searcher import Searcher
from index.source_paths import openable, source_path


def passage_of(hit: Hit) -> Passage:
    """The hit; where its document is published nowhere, it opens on the page of its source here."""
    own = {
        "url": openable(hit.url) or source_path(hit.source_id, hit.char_start, hit.char_end),
        "blocks": tuple(Block(**msgspec.structs.asdict(block)) for block in hit.blocks),
        "about": about_of(hit),
    }
    return Passage(**(same_fields(hit, Passage) | own))


def collection_of(searcher: Searcher, query: str, language: str, groups: Groups = None) -> Collection:
    """The index's statistics for a question of a caller in these groups."""
    variants = searcher.variants(query, language, groups)
    words = dict(written_terms(" ".join((query, *variants.values()))))
    rarities = searcher.rarity(list(words.values()), groups)
    return Collection(
        languages=searcher.languages(groups),
        rarity={term: round(rare, 3) for term, rare in zip(words, rarities, strict=True)},
        variants=variants,
    )


def about_of(hit: Hit) -> About:
    return msgspec.convert(hit.metadata, About, from_attributes=True)
