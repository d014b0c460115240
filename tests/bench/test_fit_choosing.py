"""The fit of the weights of the choosing: its figures, its diagram, the calibration, and the command over small real indexes."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from actors.choosing.signs import SIGNS, probability
from actors.choosing.weights import HIGH, Weights
from index.build.ingest import bring_in
from runtime.measure.question_figures import share
from tests.bench.fit_choosing import main
from tests.bench.fitting.calibrating import AGAINST, RIGHT_OF_HIGH, RIGHT_OF_SHOWN, Tried, calibrate
from tests.bench.fitting.figures import Chosen, Tenth, bands, calibration_error, shown_from, tenths
from tests.bench.fitting.report import Fitted, diagram, page, written

RIGHT = Chosen("shop", answerable=True, right=True, near=True, probability=0.95)
ITEMS = [
    RIGHT,
    replace(RIGHT, probability=0.75, right=False),
    replace(RIGHT, probability=0.6),
    replace(RIGHT, probability=0.4),
    replace(RIGHT, probability=0.1, near=False),
    Chosen("bank", answerable=False, right=False, near=False, probability=0.65),
    Chosen("bank", answerable=False, right=False, near=False, probability=0.2),
]


def test_answers_from_a_probability_on() -> None:
    found = shown_from(ITEMS, 0.5)
    assert (found.right_of_shown.found, found.right_of_shown.of) == (2, 4)
    assert (found.right.found, found.right.of) == (2, 5)
    assert (found.near_misses_shown.found, found.near_misses_shown.of) == (1, 2)
    assert (found.helped.found, found.helped.of) == (3, 5)  # one wrong answer hides that the closest would have helped
    assert shown_from(ITEMS, 0.8).helped.found == 4
    assert shown_from([], 0.5).right.share is None


def test_bands_partition_the_answers() -> None:
    found = {band.name: (band.right.found, band.right.of, band.of_shown.found) for band in bands(ITEMS)}
    assert found == {"high": (1, 1, 1), "medium": (0, 1, 1), "low": (1, 2, 2)}


def test_tenths_and_their_distance_from_the_diagonal() -> None:
    certain = [replace(RIGHT, probability=1.0), replace(RIGHT, probability=0.9, right=False)]
    (last,) = tenths(certain)
    assert (last.predicted, last.measured.share) == (pytest.approx(0.95), 0.5)
    assert calibration_error([last]) == pytest.approx(0.45)
    both = [last, Tenth(0.25, share([True, False, False, False], bool))]
    assert calibration_error(both) == pytest.approx(0.15)


def test_diagram_has_a_dot_a_tenth() -> None:
    groups = [Tenth(0.25, share([True] * 4, bool)), Tenth(0.95, share([True] * 16, bool))]
    drawn = ElementTree.fromstring(diagram(groups))
    dots = [one for one in drawn.iter() if one.tag.endswith("circle")]
    radii = [float(dot.attrib["r"]) for dot in dots]
    assert radii[1] == pytest.approx(2 * radii[0])  # four times the count, four times the area
    left, right = (float(dot.attrib["cx"]) for dot in dots)
    assert right - left == pytest.approx(280)  # of a side of 400
    assert len({dot.attrib["cy"] for dot in dots}) == 1
    assert "prefers-color-scheme: dark" in diagram(groups)


def test_report_tables_have_complete_rows() -> None:
    text = page(Fitted((), tuple(ITEMS), (), ()), "a.svg")
    assert "| high, from 0.9 | 1 | 1.00 (0.21 to 1.00) | 0.25 (0.05 to 0.70) |" in text
    assert "| bank | 0 of 1 | - | 1 of 2 | - |" in text
    assert "](a.svg)" in text
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert written(share([], bool)) == "-"


PAGES = {
    "shop": {
        "refunds.md": "# Refunds\n\nRefunds are paid within 14 days of the return.\n\nGift cards are never refunded.\n",
        "hours.md": "# Opening hours\n\nThe shop opens at nine on weekdays.\n\nOn Sundays the shop stays closed.\n",
        "parking.md": "# Parking\n\nParking costs two euros an hour.\n\nBicycles stand behind the house.\n",
    },
    "library": {
        "loans.md": "# Loans\n\nA book may be kept for 28 days.\n\nA late book costs ten cents a day.\n",
        "cards.md": "# Library cards\n\nA library card is valid for two years.\n\nA lost card is replaced for five euros.\n",
        "rooms.md": "# Rooms\n\nThe reading room seats forty people.\n\nThe hall is rented by the evening.\n",
    },
}
ASKED: dict[str, list[tuple[str, str]]] = {
    "shop": [
        ("Within how many days are refunds paid?", "14 days"),
        ("When does the shop open on weekdays?", "at nine"),
        ("What does parking cost an hour?", "two euros"),
        ("Who founded the shop?", ""),
    ],
    "library": [
        ("For how many days may a book be kept?", "28 days"),
        ("How long is a library card valid?", "two years"),
        ("How many people does the reading room seat?", "forty"),
        ("Which languages are taught at the library?", ""),
    ],
}


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of each collection."""
    folder = tmp_path_factory.mktemp("fit")
    for collection, pages in PAGES.items():
        written_to = folder / "pages" / collection
        written_to.mkdir(parents=True)
        for name, text in pages.items():
            (written_to / name).write_text(text)
        bring_in(folder / "indexes" / collection, [str(written_to)], only=True)
    return folder / "indexes"


def lines(*collections: str, gold: str = "gold") -> list[dict[str, object]]:
    return [
        {
            "id": f"{collection}-{number}",
            "collection": collection,
            "question": question,
            "answerable": bool(answer),
            gold: [answer] if answer else [],
        }
        for collection in collections
        for number, (question, answer) in enumerate(ASKED[collection])
    ]


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def run_command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_fit_is_reproducible(indexes: Path, tmp_path: Path) -> None:
    both = write(tmp_path / "both" / "questions.jsonl", lines("shop", "library"))
    passages = write(tmp_path / "passages.jsonl", [{**one, "collection": ""} for one in lines("shop", gold="answers")])
    held = write(tmp_path / "held.jsonl", lines("library"))
    made: list[dict[str, bytes]] = []
    for name in ("one", "two"):
        out = tmp_path / name
        out.mkdir()
        result = run_command(
            *("--set", f"{both}={indexes}", "--qa", f"{passages}={indexes / 'shop'}", "--qa-most", 3),
            *("--score", f"{held}={indexes}", "--out", out / "weights.json", "--report", out / "report"),
        )
        assert result.exit_code == 0, result.output
        made.append({str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()})
    assert made[0] == made[1]
    assert set(made[0]) == {"weights.json", "report/choosing.md", "report/reliability.svg"}
    learned = msgspec.json.decode(made[0]["weights.json"], type=Weights)
    assert learned.ranking
    assert [(one.question_set, one.collection, one.questions) for one in learned.fitted_on] == [
        ("both", "library", 4),
        ("both", "shop", 4),
        ("passages", "passages", 3),
    ]
    text = made[0]["report/choosing.md"].decode()
    for heading in ("left out of the fit: 6 answerable questions, 2 near misses", "Not fitted on: held: 3 answerable"):
        assert heading in text
        assert heading in result.stdout
    assert "| both | 2 | 6 | 2 |" in text
    assert str(tmp_path) not in text + made[0]["weights.json"].decode()
    ElementTree.fromstring(made[0]["report/reliability.svg"].decode())


def test_two_collections_are_enough(indexes: Path, tmp_path: Path) -> None:
    both = write(tmp_path / "both.jsonl", lines("shop", "library"))
    result = run_command("--set", f"{both}={indexes}", "--out", tmp_path / "weights.json")
    assert result.exit_code == 0, result.output
    assert msgspec.json.decode((tmp_path / "weights.json").read_bytes(), type=Weights).calibration


NEAR = {"answerable": False, "gold": []}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (lines("shop"), "all questions are about one collection, shop"),
        ([{**one, **NEAR} for one in lines("shop")], "has no answerable question"),
        ([{**one, "gold": []} for one in lines("shop")], "is answerable but has no gold"),
        ([{**one, "collection": "bank"} for one in lines("shop")], "holds no index of bank; build it with"),
        ([{**one, "history": ["before"]} for one in lines("shop")], "`history` is a list of objects"),
        ([{**one, "gold": ["nowhere"]} for one in lines("shop", "library")], "in no collection at all"),
        ([{"id": "1"}], "line 1"),
        ([], "has no lines"),
    ],
)
def test_a_bad_set_is_one_line(indexes: Path, tmp_path: Path, rows: list[dict[str, object]], says: str) -> None:
    file = write(tmp_path / "bad.jsonl", rows)
    result = run_command("--set", f"{file}={indexes}", "--out", tmp_path / "weights.json")
    assert result.exit_code == 1
    assert says in result.stderr.splitlines()[-1]
    assert not (tmp_path / "weights.json").exists()


def test_bad_options_are_one_line(indexes: Path, tmp_path: Path) -> None:
    file = write(tmp_path / "set.jsonl", lines("shop", "library"))
    good, out = f"{file}={indexes}", tmp_path / "weights.json"
    for arguments, says in (
        (("--set", file, "--out", out), "is not FILE=INDEX"),
        (("--set", f"{tmp_path / 'gone'}={indexes}", "--out", out), "there is no file"),
        (("--set", f"{file}={tmp_path / 'gone'}", "--out", out), "there is no folder"),
        (("--set", good, "--score", good, "--out", out), "two sets are called set"),
        (("--set", good, "--out", tmp_path / "gone" / "weights.json"), "there is no folder"),
    ):
        result = run_command(*arguments)
        assert result.exit_code in (1, 2)
        assert says in result.stderr.splitlines()[-1]


COLLECTIONS = ("north", "east", "south", "west")


def tried(count: int, told: float) -> list[Tried]:
    """Choices with `shown` as their only informative sign."""
    draw = np.random.default_rng(0)
    found = []
    for at in range(count):
        shown = float(draw.normal())
        right = bool(draw.random() < 1 / (1 + np.exp(-(told * shown + 0.5))))
        values = dict.fromkeys(SIGNS, 0.0) | {"shown": shown, "far": -float(right)}
        found.append(Tried(COLLECTIONS[at % len(COLLECTIONS)], values, right, 1.0))
    return found


@pytest.mark.parametrize("told", [1.5, 3.0])
def test_promised_share_of_answers_is_right(told: float) -> None:
    found = [Tried(each.collection, each.signs | {"far": 0.0}, each.right, 1.0) for each in tried(4000, told)]
    fitted = calibrate(found)
    for least, promised in ((0.5, RIGHT_OF_SHOWN), (HIGH, RIGHT_OF_HIGH)):
        shown = [each.right for each in found if probability(each.signs, fitted) >= least]
        assert sum(shown) / len(shown) == pytest.approx(promised, abs=0.02)


def test_hidden_passages_do_not_change_the_promise() -> None:
    found = [Tried(each.collection, each.signs | {"far": 0.0}, each.right, 1.0) for each in tried(2000, 2.0)]
    hidden = [
        Tried(each.collection, each.signs | {"shown": each.signs["shown"] - 1}, False, 0.25, hidden=True)
        for each in found
    ]
    fitted = calibrate(found + hidden)
    shown = [each.right for each in found if probability(each.signs, fitted) >= 0.5]
    assert sum(shown) / len(shown) == pytest.approx(RIGHT_OF_SHOWN, abs=0.02)


def test_sign_weights_have_the_right_sign() -> None:
    against = calibrate(
        [Tried(e.collection, e.signs | {"score": -float(e.right)}, e.right, 1.0) for e in tried(800, 1.0)]
    )
    assert "score" not in against.calibration
    assert all(weight <= 0 if name in AGAINST else weight >= 0 for name, weight in against.calibration.items())


def test_uncertain_choices_are_not_stretched() -> None:
    never = [Tried(each.collection, each.signs, False, 1.0) for each in tried(200, 1.0)]
    assert all(probability(each.signs, calibrate(never)) < 0.5 for each in never[:5])
