"""reStructuredText as docutils and Sphinx show it."""

import pytest

from index.model import Document
from index.readers import Source, read
from tests.index.readers.office import blocks


def rst(text: str) -> Document:
    return read(Source(text.encode(), "a.rst", "a", ".rst"))


def test_a_page() -> None:
    document = rst(
        """:author: Ada Stein
:date: 2024-05-01
:version: 1.2

.. meta::
   :keywords: bells, metal

Rules of the house
==================

One *emphasised* word, a `link <https://example.org>`_, ``inline code``
and a note [#one]_.

.. _the-fees:

The fees
--------

They are::

    320 euros

#. first

   * inner
   * again, see :ref:`the-fees`

#. second

.. [#one] Of long ago.
"""
    )
    assert document.title == "Rules of the house"
    assert document.metadata.author == "Ada Stein"
    assert (document.metadata.date, document.metadata.version) == ("2024-05-01", "1.2")
    assert document.metadata.tags == ("bells", "metal")
    assert blocks(document) == [
        ("heading", "Rules of the house"),
        ("prose", "One emphasised word, a link, `inline code` and a note [1]."),
        ("heading", "The fees"),
        ("prose", "They are:"),
        ("code", "320 euros"),
        ("list_item", "1. first"),
        ("list_item", "- inner"),
        ("list_item", "- again, see The fees"),
        ("list_item", "2. second"),
        ("prose", "[1] Of long ago."),
    ]
    headings = [block for block in document.blocks if block.kind == "heading"]
    assert [(block.level, block.anchor) for block in headings] == [(1, "rules-of-the-house"), (2, "the-fees")]
    assert [block.level for block in document.blocks if block.kind == "list_item"] == [1, 2, 2, 1]


def test_a_table_with_cells_that_span() -> None:
    text = """
+---------+-------+------+
| Course  | Where | Fee  |
+=========+=======+======+
| Welding | Lyon  | 320  |
|         +-------+------+
|         | Paris | 340  |
+---------+-------+------+
| Casting | not offered  |
+---------+-------+------+
"""
    assert blocks(rst(text)) == [
        ("table_header", "Course | Where | Fee"),
        ("table_row", "Course: Welding | Where: Lyon | Fee: 320"),
        ("table_row", "Course: Welding | Where: Paris | Fee: 340"),
        ("table_row", "Course: Casting | Where: not offered"),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (".. code-block:: python\n   :linenos:\n\n   x = 1\n", [("code", "x = 1")]),
        (".. note:: Mind the gap.\n", [("prose", "Note: Mind the gap.")]),
        (".. versionadded:: 2.1\n   The gate opens.\n", [("prose", "New in version 2.1: The gate opens.")]),
        (".. deprecated:: 3.0\n\nx", [("prose", "Deprecated since version 3.0"), ("prose", "x")]),
        (".. toctree::\n   :hidden:\n\n   one\n   two\n\nx", [("prose", "x")]),
        (".. option:: --fast\n\n   Be quick.\n", [("definition", "--fast\nBe quick.")]),
        (".. py:function:: pour(metal)\n\n   Pours it.\n", [("definition", "pour(metal)\nPours it.")]),
        (".. tab:: On ``Linux``\n\n   Do this.\n", [("prose", "On `Linux`"), ("prose", "Do this.")]),
        (".. a-new-one::\n   :option: 3\n\n   Kept.\n", [("prose", "Kept.")]),
        (".. raw:: html\n\n   <b>x</b>\n\ny", [("prose", "y")]),
        (".. include:: /etc/hostname\n\ny", [("prose", "y")]),
        ("Use :class:`~a.b.Furnace` and :meth:`.pour`.", [("prose", "Use `Furnace` and `pour()`.")]),
        ("See :doc:`/guide/index`, :doc:`this <that>`.", [("prose", "See guide, this.")]),
        ("An :unheard-of:`role` here.", [("prose", "An role here.")]),
        ("Version |version| and `nowhere`_.", [("prose", "Version version and nowhere.")]),
        ("term\n    What it is.\n", [("definition", "term\nWhat it is.")]),
        (":size: large\n\nx", [("prose", "x")]),
        ("x\n\n:size: large\n", [("prose", "x"), ("definition", "size: large")]),
        ("x\n\n    quoted\n", [("prose", "x"), ("quotation", "quoted")]),
        ("iv. four\nv. five\n", [("list_item", "iv. four"), ("list_item", "v. five")]),
        ("第一行\n第二行", [("prose", "第一行第二行")]),
        ("| one\n| two\n", [("prose", "one\ntwo")]),
        ("Broken heading\n====\n\n*open", [("heading", "Broken heading"), ("prose", "*open")]),
    ],
)
def test_visible_text(text: str, shown: list[tuple[str, str]]) -> None:
    assert blocks(rst(text)) == shown


def test_code_has_its_language() -> None:
    assert [
        block.syntax for block in rst(".. code:: sql\n\n   SELECT 1\n\n.. sourcecode:: c\n\n   int x;\n").blocks
    ] == ["sql", "c"]
