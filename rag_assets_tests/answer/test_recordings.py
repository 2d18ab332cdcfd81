"""Documents with pages and recordings, from the repository to the citation (E01–E03, E19)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rag_assets import Index
from rag_assets.answer.citations import Support, check
from rag_assets.answer.passages import passages_of
from rag_assets.contracts.evidence import clock
from rag_assets.index.vectors.filters import SearchFilters
from rag_assets_tests.answer.pieces import piece
from rag_assets_tests.cli.conftest import opened_index
from rag_assets_tests.documents import docx, paragraph, pdf, vtt

SUBJECTS = ("conveyor belt", "robot arm", "night shift", "refund desk")
TALK = vtt(
    *(
        (f"{minute:02d}:{second:02d}", f"<v {'Anna' if minute % 5 < 3 else 'Bob'}>Sentence {minute}.{second} is about "
         f"the {SUBJECTS[minute // 15]} and what it costs us.")
        for minute in range(60) for second in range(0, 60, 20)
    ),
    title="Quarterly talk",
)  # fmt: skip
VIDEO = {"title": "Launch", "segments": [{"text": "Parcel drones fly at noon.", "start": 3725, "duration": 9}]}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("recordings")
    files = {
        "talks/quarterly.vtt": TALK,
        "talks/launch.transcript.json": json.dumps(VIDEO),
        "docs/policy.docx": docx(paragraph("Policy", "Heading1"), paragraph("Gift cards are never refunded.")),
        "docs/handbook.pdf": pdf(
            "The warehouse opens at six.", "A clerk checks the seal.\nThen the parcel is weighed."
        ),
    }
    with opened_index(base, files, "shop") as index:
        yield index


@pytest.mark.rule("E01", "E03", "E04")
def test_chunks_of_a_recording_keep_time_speakers_and_turns(library: Index) -> None:
    hits = library.search(
        "conveyor belt robot arm night shift refund desk",
        filters=SearchFilters(paths=("talks/quarterly.vtt",)),
        limit=50,
    )
    points = sorted((library.get(hit.point_id) for hit in hits), key=lambda point: point["MediaStart"])
    assert len(points) > 3
    assert {point["SourceTitle"] for point in points} == {"Quarterly talk"}
    assert all(point["MediaStart"] < point["MediaEnd"] for point in points)
    assert {speaker for point in points for speaker in point["Speakers"]} <= {"Anna", "Bob"}
    assert all(point["ChunkSizeTokens"] <= 1_000 for point in points)
    assert {point["SourceType"] for point in points} == {"transcript"}
    first = points[0]
    assert "-->" not in first["FinderSnippet"] and "Anna: Sentence 0.0 is about" in first["FinderSnippet"]
    for name in ("DocId", "ProjectId", "IndexVersion", "CharStart", "CharEnd", "PartIndex", "FinderSnippet"):
        assert first[name] not in (None, ""), name


@pytest.mark.rule("E03", "E19")
def test_a_recording_is_cited_by_title_and_time(library: Index) -> None:
    found = library.ask("when do parcel drones fly")
    assert found.citations[0].rendered.endswith(" [source: Launch, t=1:02:05]")
    assert "talks/launch.transcript.json, t=1:02:05 [chunk: " in found.text
    assert found.text.split("\n\n")[1] == "> Parcel drones fly at noon.", "no timing lines"
    assert {one.support for one in found.checks} == {Support.SUPPORTED}


@pytest.mark.rule("E19")
def test_each_chunk_has_its_own_time(library: Index) -> None:
    found = library.ask("what does the night shift cost")
    talk = [one for one in found.evidence if one.path == "talks/quarterly.vtt"]
    assert len({one.seconds for one in talk}) == len(talk) > 1
    assert found.citations and all("[source: Quarterly talk, t=" in one.rendered for one in found.citations)


@pytest.mark.rule("E02")
def test_a_word_document_is_found_by_its_headings(library: Index) -> None:
    found = library.ask("are gift cards refunded")
    assert "> Gift cards are never refunded." in found.text
    assert found.citations[0].path == "docs/policy.docx"
    assert library.search("gift cards", filters=SearchFilters(paths=("docs/policy.docx",)))[0].section_key == "policy"


@pytest.mark.rule("E02", "E19")
def test_a_pdf_is_cited_by_page(library: Index) -> None:
    pytest.importorskip("pypdf")
    found = library.ask("who checks the seal of a parcel")
    assert "docs/handbook.pdf, page 2 [chunk: " in found.text and "opens at six" not in found.text
    assert found.citations[0].rendered.endswith(" [source: handbook, page 1-2]")
    assert {one.support for one in found.checks} == {Support.SUPPORTED}
    point = library.get(found.citations[0].id)
    assert point["PdfPages"] == [1, 2]


def test_a_quote_may_go_over_several_cues() -> None:
    text = vtt(("00:00", "<v Anna>The belt is old"), ("00:10", "and nobody repairs it."))
    known = piece(text, language="vtt", title="Talk", seconds=0, symbol="a.vtt", path="a.vtt")
    said = "Anna says “The belt is old and nobody repairs it.” [chunk: aaaa1111]"
    assert check(said, [known]).is_supported
    assert not check(said, [replace(known, language="csharp")]).is_supported


@pytest.mark.rule("E19")
def test_a_quote_of_a_recording_begins_when_it_is_said() -> None:
    text = vtt(("00:00", "Good day."), ("00:20", "Robots are new."), ("12:34", "Parcels fly."), ("12:44", "At night."))
    known = piece(text, language="vtt", title="Talk", seconds=0, path="a.vtt", symbol="a.vtt")
    assert [[word in one.text for word in ("day", "Robots", "Parcels", "night")] for one in passages_of(known)] == [
        [True, True, False, False], [False, False, True, True]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, "src/Orders/OrderService.cs:3-22@cccccccccc"),
        ({"title": "Guide", "pages": (3,)}, "src/Orders/OrderService.cs@cccccccccc [source: Guide, page 3]"),
        ({"title": "G", "pages": (3, 4, 5, 9)}, "src/Orders/OrderService.cs@cccccccccc [source: G, page 3-5, 9]"),
        ({"title": "Talk", "seconds": 754}, "src/Orders/OrderService.cs@cccccccccc [source: Talk, t=12:34]"),
    ],
)
@pytest.mark.rule("E19", "R26")
def test_how_a_citation_is_rendered(changes: dict[str, object], shown: str) -> None:
    assert piece(**changes).cited == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0, "00:00"), (59, "00:59"), (754, "12:34"), (3600, "1:00:00")])
def test_the_clock(seconds: int, shown: str) -> None:
    assert clock(seconds) == shown
