"""How far a build is, where nobody sees a bar."""

from runtime.commands.progress import lines


def test_a_long_build_says_now_and_then_how_far_it_is() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for second in range(61):
        now = float(second)
        tell("read", second * 20, 1_200)
    assert said[0] == "Reading files 100 of 1,200"
    assert len(said) == 11
    assert said[-1] == "Reading files 1,200 of 1,200"


def test_a_short_build_says_nothing_and_a_slow_tenth_is_said_once() -> None:
    said: list[str] = []
    now = 0.0
    tell = lines(said.append, lambda: now)
    for step in range(100):
        now = step / 25
        tell("read", step, 100)
    assert said == []
    for step in range(5, 60):
        now = float(step)
        tell("bm25", 3, 100)
    assert said == ["BM25 3 of 100"]
