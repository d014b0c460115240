"""Pictures of pages: their text is recognised (OCR), and laid out as a PDF's is."""

import io

from index.model import Document, Metadata
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.pdf_document import fill
from index.readers.recognition import INSTALL, available, missing, recognized
from index.readers.unreadable import Unreadable

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
