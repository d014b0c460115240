"""Learn meaning.npy, meaning.npz and translation.npz of index/languages from texts in public repositories, in three steps.

`pairs CLONES OUT`, then `train OUT` and `export OUT`: each reads from OUT what the one before wrote there. The first needs
sentencepiece and the second torch: `uv run --with torch python -m tests.bench.meaning train OUT`.
"""

import importlib
from pathlib import Path

import click
import numpy as np

from index.languages import FOLDER
from tests.bench.meaning import packing, tables
from tests.bench.meaning.sources import clone, groups, sources

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(help=__doc__)
def main() -> None: ...


@main.command()
@click.argument("clones", type=_FOLDER)
@click.argument("out", type=_FOLDER)
@click.option("--count", default=64_000, show_default=True, help="How many pieces at most.")
def pairs(clones: Path, out: Path, count: int) -> None:
    """Read the repositories in CLONES/OWNER/NAME, fetching those that are not there, and learn the pieces of words."""
    _needs("sentencepiece")
    every = sources()
    for source in every:
        clone(source, clones)
    corpus = packing.corpus(groups(every, clones))
    for name in dict.fromkeys(source.name for source in every):
        sizes = [(len(one), len(other)) for one, other, source in corpus.groups if source.name == name]
        made = sum(one * other if other else one * (one - 1) // 2 for one, other in sizes)
        click.echo(f"{name:12} {len(sizes):7} groups {made:8} pairs")
    known, spelled = packing.learn(corpus, count)
    arrays = packing.packed(corpus, known)
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "pieces.npz", **spelled)
    np.savez(out / "pairs.npz", **arrays)
    click.echo(f"{len(corpus.texts)} texts, {len(corpus.groups)} groups, {len(arrays['pairs'])} pairs that count")


@main.command()
@click.argument("out", type=_FOLDER)
@click.option("--seconds", default=545.0, show_default=True)
@click.option("--wholes", default=3072, show_default=True, help="Pairs of a batch that are scored as whole texts.")
@click.option("--singles", default=1024, show_default=True, help="Pairs of a batch that are scored by single pieces.")
def train(out: Path, seconds: float, wholes: int, singles: int) -> None:
    """Learn a vector of each piece, on a GPU where there is one; a CPU wants smaller batches."""
    _needs("torch")
    from tests.bench.meaning import training

    count = len(_arrays(out / "pieces.npz")["cost"])
    np.save(out / "vectors.npy", training.train(_arrays(out / "pairs.npz"), count, seconds, wholes, singles))


@main.command()
@click.argument("out", type=_FOLDER)
@click.option("--to", type=_FOLDER, default=FOLDER, show_default="index/languages")
def export(out: Path, to: Path) -> None:
    """Write the three files that the product reads."""
    vectors = np.load(out / "vectors.npy")
    spelled, pairs = _arrays(out / "pieces.npz"), _arrays(out / "pairs.npz")
    directions, lengths = tables.meaning(pairs, vectors)
    np.save(to / "meaning.npy", directions)
    np.savez_compressed(to / "meaning.npz", **lengths, **spelled)
    written = bytes(spelled["pieces"]).decode().split("\n")
    words = tables.words(pairs, written, vectors)
    np.savez_compressed(to / "translation.npz", **tables.translation(words))
    click.echo(", ".join(f"{len(each.written)} words of {language}" for language, each in words.items()))


def _arrays(path: Path) -> packing.Arrays:
    with np.load(path) as file:
        return dict(file)


def _needs(module: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError:
        raise click.ClickException(f"{module} is missing: begin the command with `uv run --with {module}`") from None


if __name__ == "__main__":
    main()
