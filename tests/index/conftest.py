"""One small index in five languages, built once for the session, and documents to build others from."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from index.build.build import Build
from index.build.opening import Index, index_at
from index.model import Document
from index.search.local_backend import LocalBackend
from index.search.searcher import Searcher
from index.snapshot.prepared import prepare
from index.snapshot.snapshot import Manifest
from tests.index.brought_in import readers

DOCUMENTS = (
    Document(
        source_id="refund",
        title="환불 규정",
        text="제6장 환불. 상품을 받은 날부터 14일 이내에 환불을 신청할 수 있습니다. 검수가 끝나면 3일 안에 지급합니다.",
    ),
    Document(
        source_id="ship",
        title="배송 안내",
        text="배송은 평일 오후 두 시 이전 주문에 한해 당일 출발합니다. 도서 지역은 닷새가 걸립니다.",
    ),
    Document(
        source_id="helmet",
        title="Protective equipment",
        text="Every visitor shall wear a helmet in the foundry. The helmet follows ISO-9001 and is replaced after four years.",
    ),
    Document(
        source_id="library",
        title="Library hours",
        text="The reading room opens at nine in the morning. Borrowed books are returned within three weeks.",
    ),
    Document(
        source_id="eyes",
        title="近视防控",
        text="第十五条 学生每学期应当检查一次视力。近视的孩子每天户外活动两小时，可以延缓近视发展。",
    ),
    Document(
        source_id="lens",
        title="角膜塑形镜",
        text="角膜塑形镜需要在夜间佩戴，每天清洗，每年更换一次。佩戴者应定期复查。",
    ),
    Document(
        source_id="inscription",
        title="Inscription",
        text="L'inscription à l'université ferme le 30 septembre. Les étudiants boursiers ne paient pas les droits.",
    ),
    Document(
        source_id="examen",
        title="Examens",
        text="Article L. 123-4. L'étudiant absent à un examen fournit un certificat médical sous huit jours.",
    ),
    Document(
        source_id="exam-ar",
        title="الامتحانات",
        text="المادة 15: يجب على الطالب الحضور قبل الامتحان بعشرين دقيقة. لا يسمح بالهاتف في القاعة.",
    ),
    Document(
        source_id="fees-ar",
        title="الرسوم",
        text="تدفع الرسوم الدراسية على ثلاثة أقساط. يعفى الطالب المتفوق من القسط الأخير.",
    ),
)


def update(
    index: Index | Path,
    put: Iterable[Document] = (),
    remove: Iterable[str] = (),
    move: Mapping[str, str] | None = None,
    access: Mapping[str, tuple[str, ...] | None] | None = None,
) -> Manifest:
    """Change an index of any kind; a path is that of a folder."""
    index = index_at(index) if isinstance(index, Path) else index
    with index.writing(), closing(Build(index.sink())) as build:
        for source_id in remove:
            assert build.remove(source_id)
        build.move(move or {})
        for document in put:
            build.put(prepare(document))
        build.regroup(access or {})
        return build.publish()


def opened_by(searcher: Searcher) -> LocalBackend:
    """The files that a searcher over a folder reads."""
    backend = searcher.backend
    assert isinstance(backend, LocalBackend)
    return backend


@pytest.fixture(scope="session", autouse=True)
def readers_end() -> Iterator[None]:
    yield
    if readers.cache_info().currsize:
        readers().__exit__(None, None, None)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that no test changes."""
    index = tmp_path_factory.mktemp("index") / "five-languages"
    update(index, DOCUMENTS)
    return index


@pytest.fixture(scope="session")
def searcher(built: Path) -> Iterator[Searcher]:
    opened = Searcher.open(built)
    yield opened
    opened.close()
