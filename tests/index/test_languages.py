"""A language is a folder with everything that every language must have; languages are detected alone and mixed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import inspect

from index.languages import FALLBACK, FOLDER, LANGUAGES, LanguageProblem, of, read
from index.languages.detection import ScannedText, detect, detect_in_question, may_be, surely
from index.languages.tables import Language


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a language, to be spoilt."""
    return Path(shutil.copytree(FOLDER / FALLBACK, tmp_path / "xx"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_every_table(language: str) -> None:
    assert of(language) == read(FOLDER / language)


def test_every_table_refuses_unknown_keys() -> None:
    subjects = inspect.type_info(Language)
    assert isinstance(subjects, inspect.StructType)
    tables = [table for field in subjects.fields for table in structs_in(field.type)]
    assert len(tables) > len(subjects.fields)
    assert [table.cls for table in tables if not table.forbid_unknown_fields] == []


def structs_in(found: inspect.Type) -> Iterator[inspect.StructType]:
    if isinstance(found, inspect.StructType):
        yield found
        for field in found.fields:
            yield from structs_in(field.type)
    elif isinstance(found, inspect.VarTupleType):
        yield from structs_in(found.item_type)
    elif isinstance(found, inspect.DictType):
        yield from structs_in(found.value_type)
    elif isinstance(found, inspect.UnionType):
        for choice in found.types:
            yield from structs_in(choice)


def test_invalid_toml_is_reported_with_its_place(folder: Path) -> None:
    (folder / "notices.toml").write_text("[reasons\n", encoding="utf-8")
    with pytest.raises(LanguageProblem, match=r"xx/notices\.toml: is not TOML"):
        read(folder)


def test_all_errors_are_reported_at_once(folder: Path) -> None:
    (folder / "notices.toml").unlink()
    (folder / "notes.toml").write_text("", encoding="utf-8")
    with pytest.raises(LanguageProblem) as caught:
        read(folder)
    missing, unknown = str(caught.value).splitlines()
    assert "xx: has no notices.toml" in missing
    assert "xx: notes.toml is not a known file; there are " in unknown


def test_texts_have_the_keys_of_english(folder: Path) -> None:
    notices = (folder / "notices.toml").read_text(encoding="utf-8")
    (folder / "notices.toml").write_text(notices.replace("timeout =", "timeouts ="), encoding="utf-8")
    with pytest.raises(LanguageProblem) as caught:
        read(folder)
    assert str(caught.value).splitlines() == [
        "xx/notices.toml: reasons.timeout: is missing",
        "xx/notices.toml: reasons.timeouts: unknown key; did you mean 'timeout'?",
    ]


#: Rows of names: nine Spanish words among them, and none of English or French.
NAMES = """Name: El Salvador (el) | Capital: San Salvador | Code: SLV | Region: Latin America | Currency: Dollar | Formal: Salvador
Name: Portugal | Formal: la República Portuguesa | Capital: Lisboa | Code: POR | Continent: EU | Region Name: Southern Europe
Name: Líbano (el) | Formal: la República Libanesa | Capital: Beirut | Code: LBN | Region Name: Western Asia | Currency: Pound
Name: Uruguay (el) | Formal: la República Oriental del Uruguay | Capital: Montevideo | Code: URY | Currency: Peso Uruguayo
Name: Alemania | Formal: Alemania | Capital: Berlín | Code: GER | Continent: EU | Region Name: Western Europe | Currency: Euro
"""


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("환불은 구매 후 7일 안에 신청해야 합니다.", "ko"),
        ("환불", "ko"),
        ("BM25 retrieval system 설정은 어디에 있습니까?", "ko"),
        ("Refunds must be requested within seven days.", "en"),
        ("opening hours", "en"),
        ("hello", "en"),
        ("deploy a chart on a cluster", "en"),
        ("近视手术后需要休息多久？", "zh"),
        ("近视", "zh"),
        ("什么是RCEP?", "zh"),
        ("¿Cuál es el horario de apertura?", "es"),
        ("permiso de conducir", "es"),
        ("El Estado paga la ayuda.", "es"),
        ("hola", "es"),
        ("pagar a plazos", "es"),
        ("tu cuenta", "es"),
        ("bonjour", "fr"),
        ("Quels sont les horaires d'ouverture ?", "fr"),
        ("carte grise", "fr"),
        ("L’État verse l’aide.", "fr"),
        ("ما هي ساعات العمل؟", "ar"),
        ("تأشيرة", "ar"),
        ("ما هو بروتوكول HTTP؟", "ar"),
        ("uv에서 lock 파일을 update 하려면 command가 뭐야", "ko"),
        ("React useEffect cleanup function 的调用时机", "zh"),
        ("كيف أستخدم useEffect في React Native", "ar"),
        ("كتابة `if. في السطر\nجملة `switch` يمكنها استبدال العديد من الجمل، و `case` واحدة", "ar"),
        ("what does 환불 mean on this form", "en"),
        ("Vue에서 v-model directive modifier", "ko"),
        (" ".join(f"Xarelto{n} Bvlgari Qatar" for n in "abcdefgh"), "und"),
        ("日本の首都はどこですか", "und"),
        ("", "und"),
        ("12 345,6 %", "und"),
        ("[1] https://example.com/the/page", "und"),
    ],
)
def test_detect(text: str, language: str) -> None:
    assert detect(text) == language
    assert detect_in_question(text) == language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("fianza alquiler clarinete", "es"),
        ("alquiler", "es"),
        ("horario piano", "es"),
        ("vacances", "fr"),
        ("deposit clarinet rental", "en"),
        ("galway hotel price adults", "en"),
        ("caution location", "en"),  # words of both
        ("postgrst defualt prot", "en"),
    ],
)
def test_key_words_have_the_language_that_knows_them(text: str, language: str) -> None:
    assert detect_in_question(text) == language


@pytest.mark.parametrize(
    ("text", "language", "low", "high"),
    [
        ("환불은 됩니다", "ko", 1.0, 1.0),
        ("환불은 됩니다", "en", 0.0, 0.0),
        ("환불은 refund 입니다", "ko", 0.6, 0.9),
        ("12", "fr", 1.0, 1.0),
        ("les 近视", "fr", 0.1, 0.5),
    ],
)
def test_share_of(text: str, language: str, low: float, high: float) -> None:
    assert low <= ScannedText(text).share_of(language) <= high


@pytest.mark.parametrize(
    ("text", "language", "sure"),
    [
        ("The gate is closed at ten and it is opened again by the guard who has the key in the morning.", "en", True),
        ("AdGuard Dashboard Europe Paris config", "fr", False),
        ("Le portail est fermé à dix heures et il est rouvert par le gardien qui a la clé dans la loge.", "fr", True),
        ("El portón se cierra a las diez y por la mañana lo abre el guardia que tiene la llave de la casa.", "es", True),
        ("El portón se cierra a las diez y la clé est dans la loge du gardien qui ferme le portail.", "es", False),
        ("환불", "ko", False),
        ("환불은 구매일로부터 십사일 이내에 신청하실 수 있습니다. 고객센터로 문의해 주세요.", "ko", True),
    ],
)  # fmt: skip
def test_certain_language_needs_strong_evidence(text: str, language: str, *, sure: bool) -> None:
    assert ScannedText(text).is_strongly(language) is sure


def test_names_are_no_running_text() -> None:
    sentences = "El portón se cierra a las diez y por la mañana lo abre el guardia que tiene la llave de la casa."
    assert (surely(NAMES, "en"), surely(NAMES, "en", running=0.8)) == ("es", "en")
    assert (surely(sentences, "en"), surely(sentences, "en", running=0.8)) == ("es", "es")


@pytest.mark.parametrize(
    ("text", "language", "other"),
    [
        ("A lost room key costs 45 euros.", "en", "fr"),
        ("Room 4 Grenadier costs 150 euros.", "en", "fr"),
        ("Yousef touche 2 310 euros.", "fr", "en"),
        ("Emma pesa 30 kg.", "es", "fr"),
        ("La habitación 4 cuesta 150 euros.", "es", "fr"),
        ("La chambre 4 coûte 150 euros.", "fr", "en"),
        ("열쇠를 잃어버리면 45유로입니다.", "ko", "zh"),
        ("延迟退房需付25欧元。", "zh", "en"),
        ("تكلف المغادرة المتأخرة 25 يورو.", "ar", "es"),
    ],
)
def test_a_short_sentence_may_be_in_its_own_language(text: str, language: str, other: str) -> None:
    assert may_be(text, language)
    assert not may_be(text, other)
