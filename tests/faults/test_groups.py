"""Documents by group: for any question of any caller, no word of a document leaves for a caller outside its groups."""

import itertools
import random
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from actors.pipeline import pipeline
from bus.journal.access import Access, grant
from bus.powers.searching import SearchRequest
from bus.wire.messages import QuestionAsked
from index.errors import IndexProblem
from index.filters import Filter, predicate
from index.model import Document, Entry, Groups, Metadata
from index.search.local_backend import LocalSnapshots
from index.search.searcher import Searcher
from index.snapshot import snapshot
from index.snapshot.views import Views
from runtime.commands.answer_shown import OverBus, show
from runtime.forking.fork import fork
from runtime.processes.kept_index import KeptIndex
from runtime.processes.search import Pins, Threads
from runtime.replay.journal_traces import read_run
from runtime.replay.replayer import replay
from runtime.replay.trace import Trace
from tests.index.conftest import opened_by, update
from tests.made_runs import live_over
from tests.whole import Whole, whole_over

GROUPS = ("sales", "hr", "board", "경영")
_SYLLABLES = [a + b for a in "bdfgklmprstvz" for b in "aeiou"]
_random = random.Random(12)
COUNT = 30
#: A word for each document, in its title, its headings, its introductions and its text, and nowhere else.
SECRETS = ["".join(_random.sample(_SYLLABLES, 4)) for _ in range(COUNT)]
_OPENING = {
    "en": "The gate of the yard opens at {n} on weekdays and the fee is {n} euros.",
    "ko": "정문은 평일 {n}시에 열리고 요금은 {n} 유로입니다.",
    "fr": "Le portail de la cour ouvre à {n} heures et le tarif est de {n} euros.",
}


def document(n: int) -> Document:
    """One of several passages; two after each other are near copies but for their word."""
    language = ("en", "en", "ko", "en", "fr")[n // 2 % 5]
    secret, opening = SECRETS[n], _OPENING[language].format(n=n // 2)
    parts = [f"{secret} {opening}", *(f"{opening} Note {each} of {n // 2}." * 12 for each in range(2)), opening * 3]
    return Document(
        source_id=f"{secret}/{n}.md",
        title=f"Gate {secret}",
        text="\n\n".join([*parts, secret]),
        language=language,
        metadata=Metadata(author=secret.capitalize(), tags=(secret,)),
    )


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    index = tmp_path_factory.mktemp("groups") / "index"
    update(index, map(document, range(COUNT)))
    opened = Searcher.open(index)
    yield opened
    opened.close()


def regroup(searcher: Searcher, named: Sequence[tuple[str, ...]]) -> list[Entry]:
    """Give the documents of the index these groups, and tags that let a filter pass the same documents."""
    opened = opened_by(searcher)
    entries = [
        msgspec.structs.replace(
            entry, metadata=msgspec.structs.replace(entry.metadata, groups=groups, tags=groups or ("everybody",))
        )
        for entry, groups in zip(sorted(opened.catalogue.values(), key=lambda entry: entry.first), named, strict=True)
    ]
    opened.views = Views(entries, opened.store, opened.manifest.languages)
    return entries


def may_see(entry: Entry, groups: Groups) -> bool:
    return groups is None or not entry.metadata.groups or bool({*entry.metadata.groups} & {*groups})


named = st.lists(st.sets(st.sampled_from(GROUPS), max_size=2).map(tuple), min_size=COUNT, max_size=COUNT)
callers = st.none() | st.sets(st.sampled_from((*GROUPS, "nobody's")), max_size=2).map(tuple)
asked = st.lists(
    st.sampled_from((*SECRETS, "gate", "fee", "opens", "정문", "portail", "euros", "Suisse", "Switzerland", "스위스")),
    min_size=1,
    max_size=6,
).map(" ".join)
only = st.sampled_from([None, Filter(path="*/1*.md"), Filter(language="ko"), Filter(path=f"{SECRETS[0]}/**")])


@settings(max_examples=80)
@given(named, callers, asked, only, st.sampled_from([(5, 5), (30, 30), (10, 0), (0, 10)]))
def test_hidden_words_do_not_leave_the_search(
    searcher: Searcher,
    named: list[tuple[str, ...]],
    groups: Groups,
    query: str,
    only: Filter | None,
    candidates: tuple[int, int],
) -> None:
    entries = regroup(searcher, named)
    bm25_k, vector_k = candidates
    request = SearchRequest(
        query=query, language="en", k=20, bm25_k=bm25_k, vector_k=vector_k, filter=only, groups=groups, topic=query
    )
    reply = Threads._search(searcher, Pins(), request)
    hidden = {secret for entry, secret in zip(entries, SECRETS, strict=True) if not may_see(entry, groups)}
    # The question's own words come back, and prove only that no document has them.
    terms = {term: rare for term, rare in reply.collection.rarity.items() if len(term) > 5}
    assert {rare for term, rare in terms.items() for secret in hidden if secret.startswith(term)} <= {1.0}
    said = msgspec.json.encode(
        msgspec.structs.replace(reply, collection=msgspec.structs.replace(reply.collection, rarity={}, variants={}))
    )
    assert not [secret for secret in hidden if secret.encode() in said.lower()]
    assert {*reply.collection.variants} <= {*reply.collection.languages}
    seen = [entry for entry in entries if may_see(entry, groups)]
    assert sum(reply.collection.languages.values()) == sum(entry.count for entry in seen)
    assert {entry.language for entry in seen} >= {*reply.collection.languages}
    passing = seen if only is None else [*filter(predicate(only), seen)]
    assert reply.none_passes == (only is not None and not reply.passages and not passing)
    hits = searcher.search(query, k=50, bm25_k=bm25_k, vector_k=vector_k, filter=only, groups=groups)
    ids = {entry.source_id for entry in seen}
    assert {hit.source_id for hit in hits} | {other for hit in hits for other in hit.also_in} <= ids


@settings(max_examples=40)
@given(named, callers, asked)
def test_visible_hits_rank_as_with_a_filter(
    searcher: Searcher, named: list[tuple[str, ...]], groups: Groups, query: str
) -> None:
    regroup(searcher, named)
    same = None if groups is None else Filter(tag=("everybody", *groups))
    terms = {"k": 20, "bm25_k": 20, "vector_k": 0}
    assert searcher.search(query, groups=groups, **terms) == searcher.search(query, filter=same, **terms)
    both = searcher.search(query, k=100, bm25_k=100, vector_k=100, threshold=-1, groups=groups)
    filtered = searcher.search(query, k=100, bm25_k=100, vector_k=100, threshold=-1, filter=same)
    assert sorted(hit.passage for hit in both if not hit.also_in) == sorted(
        hit.passage for hit in filtered if not hit.also_in
    )


def test_hidden_documents_change_no_figure(tmp_path: Path) -> None:
    """The same index, except for the text of a document that the caller does not see."""
    replies = []
    for name, word in (("one", "merger"), ("two", "picnic")):
        secret = Document(
            source_id="plan",
            title="Plan",
            text=f"The {word} of 2031 is planned. La fusion.",
            metadata=Metadata(groups=("board",)),
        )
        shared = [document(n) for n in range(6)]
        update(tmp_path / name, [secret, *shared])
        searcher = Searcher.open(tmp_path / name)
        request = SearchRequest(query="When does the merger gate open?", language="en", k=5, groups=("sales",))
        replies.append(Threads._search(searcher, Pins(), request))
        searcher.close()
    one, two = replies
    assert one.collection == two.collection
    assert one.collection.rarity["merg"] == 1.0
    assert [(hit.source_id, hit.coverage) for hit in one.passages] == [
        (hit.source_id, hit.coverage) for hit in two.passages
    ]


def test_hidden_word_changes_no_score(tmp_path: Path) -> None:
    """Whether a hidden document has the word, or one like it, the hits are the same."""
    words = ["".join(letters) for letters in itertools.permutations("zqxv", 4)]
    results: dict[str, list[object]] = {word: [] for word in words}
    for name, some in (("one", words[::2]), ("two", words[1::2])):
        hidden = [
            Document(source_id=word, title=word, text=f"The {word} of the fee.", metadata=Metadata(groups=("board",)))
            for word in some
        ]
        update(tmp_path / name, [*(document(n) for n in range(12)), *hidden])
        with closing(Searcher.open(tmp_path / name)) as searcher:
            for word, sides in itertools.product(words, ({"bm25_k": 20}, {"bm25_k": 0})):
                hits = searcher.search(f"{word} gate", language="en", k=100, vector_k=20, groups=("sales",), **sides)
                results[word].append([(hit.source_id, round(hit.score, 6), hit.cosine) for hit in hits])
                assert not {hit.source_id for hit in hits} & set(words)
            assert searcher.search(f"{some[0]} gate", k=1, groups=("board",))[0].source_id == some[0]
    assert all(found[:2] == found[2:] for found in results.values())


class Reading:
    """A reranker that remembers what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.texts += texts
        return [0.0 for _ in texts]


def test_reranker_reads_visible_passages_only(searcher: Searcher) -> None:
    reader = Reading()
    mine = Searcher.open(opened_by(searcher).handle.directory.parents[1], reranker=reader)
    try:
        entries = regroup(mine, [("hr",) if n % 2 else () for n in range(COUNT)])
        mine.search("gate fee " + " ".join(SECRETS[:4]), k=20, bm25_k=40, vector_k=40, groups=("sales",))
        assert reader.texts
        hidden = [secret for entry, secret in zip(entries, SECRETS, strict=True) if entry.metadata.groups]
        assert not [secret for secret in hidden if secret in "".join(reader.texts).lower()]
    finally:
        mine.close()


def test_index_without_groups_has_no_view(searcher: Searcher) -> None:
    regroup(searcher, [()] * COUNT)
    opened = opened_by(searcher)
    assert opened.views.of(("sales",)) is opened.views.of(()) is opened.views.of(None)
    assert opened.views.of(()).allowed is None


def test_views_are_shared_by_equal_groups(searcher: Searcher) -> None:
    regroup(searcher, [("hr",) if n % 2 else () for n in range(COUNT)])
    views = opened_by(searcher).views
    assert views.of(("hr", "unknown")) is views.of((" hr",)) is views.of(None)
    assert views.of(("unknown",)) is views.of(())
    assert views.of(()) is not views.of(None)


def test_older_snapshot_reveals_no_restricted_document(tmp_path: Path) -> None:
    index = tmp_path / "index"
    plan = Document(source_id="plan", title="Plan", text="The gate opens at six.")
    update(index, [plan, document(1)])
    kept = KeptIndex(LocalSnapshots(index), lambda name: Searcher.open(index, name))
    assert kept.look()
    try:
        assert kept.searcher().search("gate", groups=())
        newer = update(index, [msgspec.structs.replace(plan, metadata=Metadata(groups=("board",)))]).snapshot
        (index / "snapshots" / newer / "documents" / "000001.msgpack").write_bytes(b"?")
        kept.look()
        assert kept.snapshot != newer
        assert kept.searcher().search("gate")
        with pytest.raises(IndexProblem, match="who may see what has changed"):
            kept.searcher().search("gate", groups=("sales",))
        with pytest.raises(IndexProblem):
            kept.searcher().languages(())
        shutil.rmtree(index / "snapshots" / newer)
        snapshot.point_at(index, snapshot.names(index)[-1])
        kept.look()
        assert kept.searcher().search("gate", groups=("sales",))
    finally:
        kept.close()


# ---------------------------------------------------------------- the whole stack

HIDDEN = {
    "merger": "The merger with Vantolar is signed on 4 May 2031. The gate opens at nine for it. Refunds are paid within 77 days.",
    "salaries": "The salary of Pemdrika is 812,000 won. Refunds are paid within 99 days to Pemdrika.",
}
OPEN = {
    "refunds": "Refunds are paid within 14 days of the return. The gate opens at six on weekdays.",
    "opening": "The gate opens at six on weekdays. On Saturdays the gate opens at ten.",
}
WORDS = ("vantolar", "pemdrika", "merger", "salaries", "salary", "812,000")
QUESTIONS = (
    "How many days until refunds are paid?",
    "When does the gate open?",
    "How many days until refunds are paid, and when does the gate open on Saturdays?",
    "What is signed on 4 May 2031, and by whom?",
)


@pytest.fixture(scope="module")
async def run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Whole]:
    documents = [
        Document(source_id=f"{name}.md", title=name.capitalize(), text=text, metadata=Metadata(groups=groups))
        for texts, groups in ((HIDDEN, ("board",)), (OPEN, ()))
        for name, text in texts.items()
    ]
    async with whole_over(tmp_path_factory.mktemp("grouped"), documents) as made:
        yield made


async def told(run: Whole, run_id: str, groups: Groups, question: str) -> tuple[bytes, Trace]:
    """All that a run left, in small letters: what the client was sent, its record, and the whole trace."""
    if groups is not None:
        assert await grant(run.journal, run_id, Access(key="k", groups=groups))
    await run.runs.submit(QuestionAsked(question=question, events="all", deadline_s=100.0), run_id)
    lines = [line async for _, line in run.runs.events(run_id)]
    record = await run.runs.record(run_id)
    assert record is not None
    assert record.outcome in ("answered", "closest", "refused")
    trace = await read_run(run.journal, run_id)
    left = [*lines, msgspec.json.encode(record), *(each.data for each in trace.records)]
    left += [frame.data for frame in trace.frames]
    return b"\n".join(left).lower(), trace


@pytest.mark.parametrize("groups", [(), ("sales",)])
@pytest.mark.parametrize("question", QUESTIONS)
async def test_hidden_words_do_not_leave_a_run(run: Whole, groups: Groups, question: str) -> None:
    run_id = f"hidden-{len(groups or ())}-{QUESTIONS.index(question)}"
    left, trace = await told(run, run_id, groups, question)
    assert not [word for word in WORDS if word.encode() in left]
    assert b"refunds.md" in left or question == QUESTIONS[-1]
    assert (await replay(trace, pipeline())).divergence is None


async def test_permitted_caller_is_answered_from_the_document(run: Whole) -> None:
    for run_id, groups in (("board", ("board", "sales")), ("all", None)):
        left, _ = await told(run, run_id, groups, "What is the salary of Pemdrika?")
        assert b"812,000 won" in left
        assert b"salaries.md" in left


async def test_fork_searches_like_its_run(run: Whole) -> None:
    _, trace = await told(run, "to-fork", ("sales",), QUESTIONS[1])
    live = live_over(run.find)
    forked = await fork(trace, pipeline(), "retrieve", "forked", live, profile="library")
    left = b"\n".join(record.data for record in forked.records).lower()
    assert b"opening.md" in left
    assert not [word for word in WORDS if word.encode() in left]


async def test_command_line_asks_as_a_group(run: Whole, capsys: pytest.CaptureFixture[str]) -> None:
    asked = QuestionAsked(question="What is the salary of Pemdrika?", deadline_s=100.0)
    console = Console(stderr=True)
    assert await show(OverBus(run.runs, asked, ("board",)), console=console) == 0
    assert "812,000 won" in capsys.readouterr().out
    await show(OverBus(run.runs, asked, ("sales",)), console=console)
    left = capsys.readouterr()
    assert not [word for word in ("812,000", "salaries.md") if word in left.out + left.err]
