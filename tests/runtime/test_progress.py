"""Progress of a build without a progress bar."""

from runtime.commands.progress import lines


def test_long_build_reports_progress_and_estimate() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for second in range(301):
        now = float(second)
        tell("read", second * 400, 120_000)
    assert said[0] == "read 4,000 of 120,000 documents, 5 min left"
    assert said[26] == "read 108,000 of 120,000 documents, less than a minute left"
    assert len(said) == 30
    assert said[-1] == "read 120,000 of 120,000 documents"


def test_estimate_follows_recent_speed() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    tell("read", 0, 1_000_000)
    for second in range(10, 200):
        now = float(second)
        tell("read", 900_000 + 10 * second, 1_000_000)  # most was read by a build that was stopped
    assert said[0].endswith("less than a minute left")
    assert said[-1] == "read 901,900 of 1,000,000 documents, 2 h 44 min left"


def test_a_file_that_takes_long_is_named() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for second in range(31):
        now = float(second)
        tell("reading Logs/big.log", second, 60)
    assert said[0] == "reading Logs/big.log: 10 s; stopped at 60 s"
    assert len(said) == 3


def test_short_or_stalled_build_is_silent() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for step in range(100):
        now = step / 11
        tell("read", step, 100)
    assert said == []
    for step in range(10, 60):
        now = float(step)
        tell("bm25", 3 if step > 10 else 1, 100)
    assert said == ["indexed 3 of 100 passages for BM25, 1 min left"]
