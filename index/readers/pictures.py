"""Text in pictures (OCR), laid out as a PDF's: by RapidOCR where it is installed, else by the program Tesseract where that is."""

import io
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING

from index.model import Document, Metadata
from index.readers.formats import Format, Source, TextBuilder, Unreadable
from index.readers.pdf_document import fill
from index.readers.pdf_page import SCALE, Page, Run

if TYPE_CHECKING:
    from PIL.Image import Image

INSTALL = "install groundwire[ocr] or the program tesseract"
_UNSURE = 0.5
_TIMEOUT_S = 120


def available() -> bool:
    return _recognizer() is not None


def recognized(image: "Image", number: int) -> Page:
    """A picture as a page, its lines as runs with their places. Raises Unreadable where nothing is installed that reads it."""
    recognizer = _recognizer()
    if recognizer is None:
        raise missing()
    return Page(number, image.height / SCALE, _even(recognizer(image)), "", [])


def missing() -> Unreadable:
    return Unreadable(f"a picture; to have its text recognised (OCR), {INSTALL}", failed=False)


def _even(runs: list[Run]) -> list[Run]:
    """Lines of about the usual height are of one size: a line's box is lower where no letter of it is high."""
    usual = median(run.size for run in runs) if runs else 0.0
    return [run._replace(size=usual) if 0.7 < run.size / usual < 1.35 else run for run in runs]


@cache
def _recognizer() -> "Callable[[Image], list[Run]] | None":
    if find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None:
        return _rapidocr()
    program = shutil.which("tesseract")
    return None if program is None else _tesseract(program)


def _run(text: str, left: float, right: float, top: float, bottom: float) -> Run:
    """The size is taken from the height of the line's box, which its letters do not quite fill."""
    position = left / SCALE, right / SCALE, top / SCALE, bottom / SCALE
    return Run(text, *position, size=round(0.8 * (bottom - top) / SCALE, 1), bold=False, fixed=False)


def _rapidocr() -> "Callable[[Image], list[Run]]":
    import numpy
    from rapidocr import RapidOCR
    from rapidocr.utils.output import RapidOCROutput

    engine = RapidOCR(params={"Global.log_level": "error"})

    def read(image: "Image") -> list[Run]:
        result = engine(numpy.asarray(image.convert("RGB"))[:, :, ::-1])
        if (
            not isinstance(result, RapidOCROutput)
            or result.boxes is None
            or result.txts is None
            or result.scores is None
        ):
            return []
        return [
            _run(text, min(box[:, 0]), max(box[:, 0]), min(box[:, 1]), max(box[:, 1]))
            for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
            if score >= _UNSURE and text.strip()
        ]

    return read


def _tesseract(program: str) -> "Callable[[Image], list[Run]]":
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    languages = "+".join(name for name in listed.stdout.split("\n")[1:] if name and name not in ("osd", "equ"))

    def read(image: "Image") -> list[Run]:
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "PNG")
        command = [program, "stdin", "stdout", "-l", languages, "tsv"]
        try:
            done = subprocess.run(command, input=buffer.getvalue(), capture_output=True, timeout=_TIMEOUT_S, check=True)
        except (subprocess.SubprocessError, OSError) as error:
            raise Unreadable(f"tesseract could not read it ({type(error).__name__})") from error
        return lines_of(done.stdout.decode("utf-8", "replace"))

    return read


def lines_of(table: str) -> list[Run]:
    """The lines in Tesseract's table: a row for each word, with its block, paragraph and line, its place and its confidence."""
    lines: dict[tuple[str, ...], list[tuple[str, int, int, int, int]]] = {}
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) == 12 and cells[0] == "5" and float(cells[10]) >= 100 * _UNSURE and cells[11].strip():
            left, top, width, height = map(int, cells[6:10])
            lines.setdefault(tuple(cells[1:5]), []).append((cells[11].strip(), left, left + width, top, top + height))
    return [
        _run(" ".join(word[0] for word in words), min(word[1] for word in words), max(word[2] for word in words),
             min(word[3] for word in words), max(word[4] for word in words))
        for words in lines.values()
    ]  # fmt: skip


_MOST_PAGES = 500


def read_picture(source: Source) -> Document:
    """Raises Unreadable for any other file, and where no program that recognises text is installed."""
    from PIL import Image, ImageSequence, UnidentifiedImageError

    if not available():
        raise missing()
    try:
        with Image.open(io.BytesIO(source.data)) as image:
            frames = [frame.copy() for _, frame in zip(range(_MOST_PAGES), ImageSequence.Iterator(image), strict=False)]
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise Unreadable(f"no readable picture ({type(error).__name__})") from error
    builder = TextBuilder()
    title = fill(builder, [recognized(frame, number) for number, frame in enumerate(frames, 1)], [])
    if not builder:
        raise Unreadable("no text in the picture", failed=False)
    return builder.finish(source.source_id, title or source.title, metadata=Metadata(recognized=True))


FORMATS = (
    Format(
        "Picture",
        (".png", ".jpg", ".jpeg", ".tif", ".tiff"),
        read_picture,
        "rapidocr or tesseract",
        "recognised text, in paragraphs and columns",
        "all other content",
        extra=INSTALL,
    ),
)
