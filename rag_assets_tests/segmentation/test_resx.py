"""RESX: entries as properties, by a scanner that expands no entities and loses no readable entry."""

from __future__ import annotations

import pytest

from rag_assets.contracts.segment import ParseHealth
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, texts

HEADER = """<?xml version="1.0" encoding="utf-8"?>
<root>
  <!-- Example: <data name="Name1"><value>this is my long string</value></data> -->
  <xsd:schema id="root"><xsd:element name="data"/></xsd:schema>
  <resheader name="version"><value>2.0</value></resheader>
"""


def entries(body: str) -> list[tuple[str, str, str]]:
    """(key, value, comment) of each entry."""
    (segment,) = segment_file(f"{HEADER}{body}</root>", "Texts.nl.resx", "resx").segments
    return [(member.name, member.value, member.doc) for member in segment.members]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<data name="A" xml:space="preserve"><value>é</value></data>', [("A", "é", "")]),
        ("<data name='A'><value>x</value><comment> why </comment></data>", [("A", "x", "why")]),
        ("<data name='A'><comment>why</comment><value>x</value></data>", [("A", "x", "why")]),
        ("<data name='A'><value>a &lt;b&gt; &amp;amp; &#65;&#x42;</value></data>", [("A", "a <b> &amp; AB", "")]),
        ("<data name='A'><value>&unknown; &#0; &#xD800;</value></data>", [("A", "&unknown; &#0; &#xD800;", "")]),
        ("<data name='A'><value><![CDATA[<b>&amp;</data>]]></value></data>", [("A", "<b>&amp;</data>", "")]),
        ("<data name='A'><value/></data><data name='B'/>", [("A", "", ""), ("B", "", "")]),
        ("<data name='A'><value> two\n lines </value></data>", [("A", " two\n lines ", "")]),
        ("<data name='I' type='X.Bitmap'><value>a.png;X.Bitmap</value></data>", [("I", "", "")]),
        ("<data name='a>b'><value>x</value></data>", [("a>b", "x", "")]),
        ("<data><value>x</value></data>", [("", "x", "")]),
    ],
    ids=[
        *("simple", "comment", "comment-first", "references", "unknown-references", "cdata", "empty", "blanks"),
        *("file-reference", "angle-in-attribute", "no-name"),
    ],
)
def test_entries(body: str, expected: list[tuple[str, str, str]]) -> None:
    assert entries(body) == expected


def test_spans_are_those_of_the_entries() -> None:
    first = "<data name='A'><value>é𝄞</value></data>"
    second = "<data name='B'>\r\n<value>x</value>\r\n</data>"
    text = f"{HEADER}{first}\r\n{second}</root>"
    file = segment_file(text, "Texts.resx", "resx")
    check_invariants(text, file)
    (segment,) = file.segments
    assert texts(text, segment) == [first, second]
    assert (segment.name, segment.kind, segment.health) == ("Texts", "resource", ParseHealth.OK)
    assert segment.members[0].signature == "A = é𝄞"


@pytest.mark.parametrize(
    ("text", "keys", "detail"),
    [
        ("<data name='A'><value>x", ["A"], "1 unclosed entries"),
        ("<data name='A'><data name='B'></data>", ["A", "B"], "1 unclosed entries"),
        ("<data name='A'></data><!-- <data name='B'></data>", ["A"], ""),
        ("<root></root>", [], "no <data> entries"),
    ],
    ids=["truncated", "nested", "unclosed-comment", "no-entries"],
)
def test_broken_files_keep_what_can_be_read(text: str, keys: list[str], detail: str) -> None:
    file = segment_file(text, "Texts.resx", "resx")
    assert [member.name for member in file.segments[0].members] == keys
    assert file.detail == detail
    assert file.health is (ParseHealth.PARTIAL if detail else ParseHealth.OK)


def test_an_entity_bomb_stays_text() -> None:
    bomb = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
    (segment,) = segment_file(f"{bomb}<data name='A'><value>&b;</value></data>", "T.resx", "resx").segments
    assert segment.members[0].value == "&b;"
