"""How many subtle lies the gate withholds, by kind and language, and how many true sentences.

    uv run python -m tests.bench.bench_subtle_lies PASSAGES.jsonl... [--each 60] [--beside 3] [--unseen] [--verbose KIND]

Each file has lines `{source_id, title, text, language}`. A lie is a sentence of a passage, cited, with one word changed; the
evidence is that passage among `--beside` others of the same file. True sentences are the same sentences copied, shortened, in other
typesetting, and with one synonym.
"""

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from actors.gate.check import check_sentence, withholds
from actors.gate.overlap import overlap
from index.languages import LANGUAGES
from prompts.contracts import Evidence
from tests.lies import Passage, passages_in, tellable
from tests.subtle_lies import LIES, TRUTHS, Material, lies, names_in, reasons_in, truths

LONGEST = 6000


class Case(msgspec.Struct):
    kind: str
    language: str
    text: str
    evidence: tuple[Evidence, ...]


def cases(passages: Sequence[Passage], each: int, beside: int, rng: random.Random, *, unseen: bool) -> Iterator[Case]:
    """Up to `each` cases of each kind and language, no two of a kind from one sentence."""
    for language in LANGUAGES:
        pool = [p for p in passages if p.language == language and len(p.text) < LONGEST and tellable(p.text)]
        if len(pool) < beside:
            continue
        left: dict[str, int] = dict.fromkeys([*LIES, *TRUTHS], each)
        sentences = [(at, sentence) for at, passage in enumerate(pool) for sentence in tellable(passage.text)]
        rng.shuffle(sentences)
        reasons = reasons_in([sentence for _, sentence in sentences], language)
        for at, sentence in sentences:
            others = [other for other in range(max(0, at - 3), min(len(pool), at + 4)) if other != at]
            chosen = [at, *rng.sample(others, min(beside - 1, len(others)))]
            rng.shuffle(chosen)
            evidence = tuple(
                Evidence(n=n, source_id=pool[one].source_id, title=pool[one].title, text=pool[one].text)
                for n, one in enumerate(chosen, 1)
            )
            near = [name for one in chosen for name in names_in(pool[one].text, language)]
            far = names_in(rng.choice(pool).text, language)
            for kind in LIES:
                # Half of the other names are in the evidence, half are not.
                near_or_far = near if left[kind] % 2 or not far else far
                found = left[kind] and lies(sentence, kind, Material(language, near_or_far, reasons, rng, unseen))
                if found:
                    left[kind] -= 1
                    yield Case(kind, language, _cited(rng.choice(found), chosen.index(at) + 1, language), evidence)
            for truth in TRUTHS:
                ways = left[truth] and truths(sentence, language, truth, unseen=unseen)
                if ways:
                    left[truth] -= 1
                    yield Case(truth, language, _cited(rng.choice(ways), chosen.index(at) + 1, language), evidence)


def _cited(text: str, n: int, language: str) -> str:
    return f"{text}[{n}]。" if language == "zh" else f"{text} [{n}]."


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("passages", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument(
        "--beside", type=int, default=3, metavar="N", help="passages that are the evidence of a sentence"
    )
    parser.add_argument("--unseen", action="store_true", help="use the words that the gate's tables were not made with")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--verbose", default="", metavar="KIND", help="print every wrong verdict of this kind, or of all"
    )
    arguments = parser.parse_args()
    passages = list(passages_in(arguments.passages))
    table: dict[tuple[str, str], list[bool]] = defaultdict(list)
    overlaps: dict[bool, list[float]] = {True: [], False: []}
    took: list[float] = []
    for case in cases(
        passages, arguments.each, arguments.beside, random.Random(arguments.seed), unseen=arguments.unseen
    ):
        began = time.process_time()
        flags = check_sentence(case.text, case.evidence)
        took.append(time.process_time() - began)
        withheld, lie = withholds(flags), case.kind in LIES
        for language in (case.language, "all"):
            for kind in (case.kind, "lies" if lie else "true"):
                table[language, kind].append(withheld)
        overlaps[lie].append(overlap(case.text, [one.text for one in case.evidence]))
        if withheld is not lie and arguments.verbose in (case.kind, "all", "true" if not lie else "lies"):
            why = "; ".join(f"{one.words}: {one.why}" for one in flags if one.strength == "strong")
            print("SHOWN   " if lie else "WITHHELD", case.kind, case.language, case.text, "|", why)
    kinds = [*LIES, "lies", *TRUTHS, "true"]
    print(f"{'':4}" + "".join(f"{kind:>12}" for kind in kinds))
    for language in (*LANGUAGES, "all"):
        cells = [table.get((language, kind), []) for kind in kinds]
        print(f"{language:4}" + "".join(f"{sum(cell) / max(1, len(cell)):>7.2f}/{len(cell):<4}" for cell in cells))
    best = max(
        (
            sum(o <= t for o in overlaps[True]) / max(1, len(overlaps[True]))
            + sum(o > t for o in overlaps[False]) / max(1, len(overlaps[False]))
        )
        / 2
        for t in {*overlaps[True], *overlaps[False]}
    )
    print(f"share withheld; word overlap at its best threshold reaches a balanced accuracy of {best:.2f}")
    print(f"{sum(took) * 1000 / max(1, len(took)):.2f} ms of CPU time a sentence, reading its evidence included")


if __name__ == "__main__":
    main()
