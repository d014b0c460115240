"""PPTX by python-pptx: a slide is a page."""

import io

from index.model import Document
from index.readers.building import TextBuilder
from index.readers.formats import Format, Source
from index.readers.packages import opened
from index.readers.unreadable import Unreadable


def read_slides(source: Source) -> Document:
    """Raises Unreadable."""
    import pptx

    builder = TextBuilder()
    with opened(source.data, "PPTX"):
        presentation = pptx.Presentation(io.BytesIO(source.data))
        for number, slide in enumerate(presentation.slides, 1):
            builder.page(number)
            title = slide.shapes.title
            if title is not None:
                builder.add(title.text_frame.text, "heading", 1)
            for shape in slide.shapes:
                if title is not None and shape.shape_id == title.shape_id:
                    continue
                if shape.has_text_frame:
                    builder.add(shape.text_frame.text, "list_item" if "\n" in shape.text_frame.text else "prose")
                elif getattr(shape, "has_table", False):
                    rows = [[cell.text for cell in one.cells] for one in shape.table.rows]
                    builder.table(rows[1:], rows[0])
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                builder.add(slide.notes_slide.notes_text_frame.text)
        title_of_all = presentation.core_properties.title or ""
    if not builder:
        raise Unreadable("the document has no text", failed=False)
    return builder.finish(source.source_id, title_of_all.strip() or source.title)


FORMATS = (Format("PowerPoint", (".pptx",), read_slides, "python-pptx", "slides as pages, titles, tables, notes"),)
