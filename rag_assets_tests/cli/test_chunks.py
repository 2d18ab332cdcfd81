"""Chunks as they are stored: built by the command line from a configuration file, read from the shard as it lies on
disk (E01–E03, R32, F03)."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.documents import pdf, vtt
from rag_assets_tests.stored_points import payloads_in

SENTENCE = "The clerk of shop {} checks the seal of every parcel before it is weighed and sent."
LONG = " ".join(SENTENCE.format(number) for number in range(300))
PAGE = "\n".join(SENTENCE.format(number) for number in range(24))
FILES: dict[str, str | bytes] = {
    "docs/prose.md": f"# Handbook\n\n## Long\n\n{LONG}\n\n## Empty\n",
    "docs/notes.txt": "\n\n".join(SENTENCE.format(number) for number in range(300)),
    "deploy/values.yaml": "\n".join(f"key{number}: value of number {number}" for number in range(600)),
    "talks/talk.vtt": vtt(
        *(
            (f"{minute:02d}:{second:02d}", f"<v {'Anna' if minute % 4 < 2 else 'Bob'}>{SENTENCE.format(second)}")
            for minute in range(60)
            for second in range(0, 60, 20)
        )
    ),
    "docs/manual.pdf": pdf(
        f"1 Opening hours\n{PAGE}",
        f"{PAGE}\n2 Refunds\n{PAGE}",
        title="The manual",
        outline=[("Opening hours", 1), ("Refunds", 2)],
    ),
}
WINDOWS = {"keyword-only": "{provider: lexical-only}", "minilm": "{provider: minilm}"}


def stored(home: Path) -> dict[str, list[dict[str, Any]]]:
    """The payloads beside the shard by path, in the order of their places."""
    (file,) = home.rglob("rag_assets.points")
    found = defaultdict(list)
    for payload in payloads_in(file.parents[1]):
        found[payload["Path"]].append(payload)
    return {path: sorted(rows, key=lambda row: row["CharStart"]) for path, rows in found.items()}


Stored = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module", params=list(WINDOWS.values()), ids=list(WINDOWS))
def chunks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Stored:
    pytest.importorskip("pypdf")
    base = tmp_path_factory.mktemp("chunks")
    repository = new_repository(base / "library", FILES)
    configured = f"repositories: [{{id: library, location: {repository.path}}}]\nembedder: {request.param}\n"
    (base / "rag_assets.yaml").write_text(configured, encoding="utf-8")
    CommandLine(IndexHome(base / "home"), base).build()
    return stored(base / "home")


def text_of(path: str, payload: dict[str, Any]) -> str:
    source = FILES[path]
    assert isinstance(source, str)
    return source[payload["CharStart"] : payload["CharEnd"]]


@pytest.mark.rule("R32", "F03", "E01", "B12")
@pytest.mark.parametrize("path", ["docs/prose.md", "docs/notes.txt", "deploy/values.yaml", "talks/talk.vtt"])
def test_chunks_have_700_to_1000_tokens_and_repeat_100_to_150_with_every_embedder(chunks: Stored, path: str) -> None:
    found = chunks[path]
    assert len(found) >= 4
    assert {(payload["SectionKey"], payload["PartTotal"]) for payload in found} == {
        (found[0]["SectionKey"], len(found))
    }
    assert [payload["PartIndex"] for payload in found] == list(range(1, len(found) + 1))
    assert all(700 <= payload["ChunkSizeTokens"] <= 1_000 for payload in found[:-1])
    assert [payload["OverlapTokens"] for payload in found[:1]] == [0]
    for before, after in pairwise(found):
        assert 100 <= after["OverlapTokens"] <= 150
        assert after["CharStart"] < before["CharEnd"] < after["CharEnd"]
        if path.startswith("docs/"):
            assert text_of(path, before).rstrip().endswith(("sent.", "## Empty"))
            assert text_of(path, after).startswith("The clerk")


@pytest.mark.rule("R32")
def test_the_whole_chunk_is_what_keywords_find_and_what_is_cited(chunks: Stored) -> None:
    for payload in chunks["docs/notes.txt"]:
        assert payload["FinderSnippet"].endswith(text_of("docs/notes.txt", payload))


@pytest.mark.rule("F03")
def test_no_chunk_is_a_heading_alone(chunks: Stored) -> None:
    assert {payload["SectionKey"] for payload in chunks["docs/prose.md"]} == {"handbook-long"}
    assert text_of("docs/prose.md", chunks["docs/prose.md"][0]).startswith("# Handbook\n\n## Long\n\nThe clerk")


@pytest.mark.rule("F03", "E03", "B07")
def test_the_parts_of_a_transcript_are_those_of_one_section(chunks: Stored) -> None:
    found = chunks["talks/talk.vtt"]
    assert {payload["SectionKey"] for payload in found} == {"body"}
    assert all(payload["Speakers"] and payload["MediaStart"] < payload["MediaEnd"] for payload in found)
    assert [payload["MediaStart"] for payload in found] == sorted(payload["MediaStart"] for payload in found)


@pytest.mark.rule("F03", "E02", "B11")
def test_a_pdf_has_the_sections_of_its_outline_their_pages_and_its_title(chunks: Stored) -> None:
    found = chunks["docs/manual.pdf"]
    assert list(dict.fromkeys(payload["SectionKey"] for payload in found)) == ["1-opening-hours", "2-refunds"]
    assert found[0]["PdfPages"] in ([1], [1, 2]) and found[-1]["PdfPages"] == [2]
    assert found[0]["SourceTitle"] == "The manual" and "The manual" in found[0]["FinderSnippet"]


def test_a_book_beside_the_code_does_not_make_the_words_of_the_code_common(tmp_path: Path) -> None:
    code = {f"Counter{n}.cs": f"public class Counter{n} {{ public int Sheep{n}() => {n}; }}\n" for n in range(10)}
    book = "\n\n".join(f"## Chapter {n}\n\n" + "The sheep are counted every evening. " * 200 for n in range(30))
    weighed = {}
    for name, files in (("alone", code), ("beside", code | {"book.md": f"# The book\n\n{book}\n"})):
        repository = new_repository(tmp_path / name, files)
        CommandLine(IndexHome(tmp_path / f"{name}-home"), tmp_path).build(repository.path, lexical_only=True)
        (file,) = (tmp_path / f"{name}-home").rglob("keyword/statistics.json")
        weighed[name] = json.loads(file.read_text(encoding="utf-8").partition("\n}")[0] + "\n}")["sections"]
    assert weighed["alone"] < weighed["beside"] <= 2 * weighed["alone"]
