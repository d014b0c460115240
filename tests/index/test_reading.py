"""Documents without an end and documents that end the process which reads them cost nothing but themselves."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from index.errors import IndexProblem
from index.reading.job import Limits, Outcome, Task
from index.reading.pool import Pool
from tests.index import files

HOSTILE = (sys.executable, "-m", "tests.index.hostile_reading")
SHORT = Limits(seconds=2, memory_bytes=400 * 1024**2, characters=100_000)
PATIENT = Limits(seconds=60, memory_bytes=SHORT.memory_bytes, characters=SHORT.characters)


def task(path: Path, content: bytes) -> Task:
    path.write_bytes(content)
    return Task(
        path=os.fsencode(path), source_id=path.name, title=path.stem, suffix=path.suffix, size_bytes=len(content)
    )


def read(tasks: list[Task], limits: Limits = SHORT, program: tuple[str, ...] = HOSTILE) -> list[Outcome]:
    with Pool(limits, processes=2, program=program) as pool:
        done = list(pool.read([(one.source_id, one) for one in tasks]))
    assert [name for name, _ in done] == [one.source_id for one in tasks]
    return [outcome for _, outcomes in done for outcome in outcomes]


def said(outcomes: list[Outcome]) -> dict[str, str]:
    return {one.name: one.reason if one.read is None else one.read.passages[0].text for one in outcomes}


def test_hostile_documents_are_named_and_others_read(tmp_path: Path) -> None:
    hostile = {
        "a.endless": (str(tmp_path / "begun").encode(), "took longer than 2 s; split it"),
        "b.greedy": (b"", "needs more than 0.390625 GB of memory; split it"),
        "c.leaves": (b"", "ended the process that reads it (exit code 0); it may be damaged: save it again"),
        "d.killed": (b"", "ended the process that reads it (SIGKILL); it may be damaged: save it again"),
        "e.faulty": (b"", "its reader failed (RuntimeError: a bug)"),
        "f.long": (b"30000", "more than 0.1 million characters of text; split it"),
        "g.prints": (b"", "Quiet."),
    }
    answers: dict[str, str] = {}
    for limits, some in ((SHORT, ["a.endless"]), (PATIENT, [*hostile][1:])):
        tasks = []
        for name in some:
            tasks.append(task(tmp_path / name, hostile[name][0]))
            tasks += [task(tmp_path / f"{name}{number}.txt", b"An honest text.") for number in range(3)]
        answers |= said(read(tasks, limits))
    assert {name: answers.pop(name) for name in hostile} == {name: reason for name, (_, reason) in hostile.items()}
    assert set(answers.values()) == {"An honest text."}
    assert len(answers) == 21


def test_unlimited_memory_is_watched(tmp_path: Path) -> None:
    tasks = [task(tmp_path / "a.large", str(SHORT.memory_bytes).encode()), task(tmp_path / "b.txt", b"Fine.")]
    found = said(read(tasks, PATIENT, (*HOSTILE, "--unlimited")))
    assert found == {"a.large": "needs more than 0.390625 GB of memory; split it", "b.txt": "Fine."}


def test_endless_record_costs_only_itself(tmp_path: Path) -> None:
    rows = [f'{{"source_id": "r{n}", "text": "Row {n}."}}' for n in range(30)]
    rows[3] = '{"source_id": "r3", "text": "' + "a" * 24_000_000 + '"}'
    records = task(tmp_path / "rows.jsonl", "\n".join(rows).encode())
    stretches = list(records.stretches())
    assert [(one.line, one.lines) for one in stretches] == [(1, 4), (5, 26)]
    with Pool(SHORT) as pool:
        found = [one for _, outcomes in pool.read([(0, one) for one in stretches]) for one in outcomes]
    assert [one.name for one in found] == [f"rows.jsonl line {n}" for n in range(1, 31)]
    (lost,) = [one for one in found if one.read is None]
    assert lost.name == "rows.jsonl line 4"
    assert lost.reason in ("took longer than 2 s; split it", "needs more than 0.390625 GB of memory; split it")


def test_endless_files_are_cut_or_named(tmp_path: Path) -> None:
    hard = [
        task(tmp_path / "loop.pdf", files.looping_pdf()),
        task(tmp_path / "word.txt", b"a" * 10_000_000),
        task(tmp_path / "line.md", b"*a[b](c" * 1_400_000),
    ]
    honest = [task(tmp_path / f"{number}.txt", b"An honest text.") for number in range(9)]
    with Pool(SHORT) as pool:
        found = said([one for _, outcomes in pool.read([(0, one) for one in [*hard, *honest]]) for one in outcomes])
    for one in hard:
        assert found[one.source_id].endswith(("; split it", "(SIGABRT); it may be damaged: save it again"))
    assert [found[one.source_id] for one in honest] == ["An honest text."] * 9


def test_sparse_sheet_needs_little_memory(tmp_path: Path) -> None:
    corner = task(tmp_path / "corner.xlsx", files.far_corner())
    with Pool(PATIENT) as pool:
        ((_, outcomes),) = pool.read([(0, corner)])
    assert said(outcomes)[corner.source_id].endswith("end")


def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    stuck = task(tmp_path / "a.endless", str(begun).encode())
    program = f"""
from index.reading.pool import Pool
from index.reading.job import Task
with Pool(program={HOSTILE!r}) as pool:
    list(pool.read([(0, Task(path={stuck.path!r}, source_id="", title="", suffix=".endless", size_bytes=0))]))
"""
    builder = subprocess.Popen([sys.executable, "-c", program])
    reader = psutil.Process(int(begun.read_text()))
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    gone, _ = psutil.wait_procs([reader], timeout=20)
    assert gone == [reader]


def test_program_that_fails_to_start_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(IndexProblem, match="does not start"):
        read([task(tmp_path / "a.txt", b"text")], program=(sys.executable, "-c", "raise SystemExit(1)"))


def test_failed_process_leaves_its_work_to_others(tmp_path: Path) -> None:
    at = shlex.quote(str(tmp_path))
    script = f'mkdir {at}/first || {{ mkdir {at}/second && exit 1; }}; exec "$@"'
    tasks = [task(tmp_path / "a.endless", os.fsencode(tmp_path / "begun"))]
    tasks += [task(tmp_path / f"{number}.txt", b"It rains.") for number in range(11)]
    texts = said(read(tasks, program=("sh", "-c", script, "sh", *HOSTILE)))
    assert texts.pop("a.endless") == "took longer than 2 s; split it"
    assert set(texts.values()) == {"It rains."}
    assert len(texts) == 11
    assert (tmp_path / "second").is_dir()
