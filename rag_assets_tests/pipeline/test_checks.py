"""The checks of a build: each fails on what it is for, says where, and is asked once about the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rag_assets.contracts.section import SummarySection
from rag_assets.index.blobs import BlobStore
from rag_assets.index.parquet_parts import read_rows, write_part
from rag_assets.pipeline.active_index import activate
from rag_assets.pipeline.build import BuildError
from rag_assets.pipeline.checks import generation_checks, memoized_checks
from rag_assets.pipeline.checks.generation_checks import CHECKS
from rag_assets.pipeline.checks.memoized_checks import CheckResult
from rag_assets.pipeline.schemas import POINTS, SUMMARY_SECTIONS
from rag_assets_tests.pipeline.conftest import Built, candidate, new_build
from rag_assets_tests.records import edit_record

BuildOf = Callable[[Mapping[str, str | bytes]], Built]
ORDER = "namespace Shop;\n/// <summary>An order.</summary>\npublic class Order\n{\n    public int Id { get; set; }\n}\n"
FILES = {"src/Order.cs": ORDER, "docs/guide.md": "# Guide\n\nHow to order.\n"}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return new_build(tmp_path_factory.mktemp("original"), FILES)


@pytest.fixture
def built(original: Built, tmp_path: Path) -> Built:
    """A candidate: built, not promoted for good; in a home of its own, which a test may damage."""
    return candidate(original, tmp_path)


def result_of(name: str, built: Built) -> CheckResult:
    return CHECKS[name][2](built.build)


def rewrite(built: Built, table: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Stores a table again with changed rows, as a defect or a damaged disk would."""
    schema = {"qdrant_points": POINTS, "summary_sections": SUMMARY_SECTIONS}[table]
    rows = [change(row) for row in read_rows(built.build.directory, table, 0)]
    write_part(built.build.directory, table, 0, schema, {n: [row[n] for row in rows] for n in schema.names})


def change_payload(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(row: dict[str, Any]) -> dict[str, Any]:
        payload = {k: v for k, v in (msgspec.json.decode(row["payload"]) | fields).items() if v is not None}
        return row | {"payload": msgspec.json.encode(payload)}

    return change


def without_description(row: dict[str, Any]) -> dict[str, Any]:
    section = msgspec.json.decode(row["section"], type=SummarySection)
    section.backing_artifact = " \n"
    return row | {"section": msgspec.json.encode(section)}


@pytest.mark.rule("C12")
@pytest.mark.parametrize(
    ("table", "change", "gap"),
    [
        ("qdrant_points", change_payload(FinderSnippet=" "), "no snippet"),
        ("qdrant_points", change_payload(SourceSliceBlobUri=None), "no URI of the slice"),
        ("qdrant_points", change_payload(DescriptionBlobUri=""), "no URI of the description"),
        ("qdrant_points", change_payload(CharEnd=0), "slice is empty"),
        ("qdrant_points", change_payload(SourceSha256="0" * 64), "slice is not the recorded text"),
        ("qdrant_points", change_payload(BlobVersionId="0" * 64), "document is another version"),
        ("summary_sections", without_description, "description is empty"),
    ],
    ids=["snippet", "slice URI", "description URI", "slice text", "slice hash", "document version", "description text"],
)
def test_a_snippet_without_its_artifacts_is_listed(
    built: Built, table: str, change: Callable[[dict[str, Any]], dict[str, Any]], gap: str
) -> None:
    """C12: what is missing is listed for follow-up, with its place and its point; the build goes on."""
    assert result_of("artifacts_are_complete", built).passed
    rewrite(built, table, change)
    found = result_of("artifacts_are_complete", built)
    assert not found.passed
    assert found.numbers[gap] == found.numbers["points"] > 1
    assert any(text.startswith("src/Order.cs:2 point ") and text.endswith(gap) for text in found.examples)
    assert not CHECKS["artifacts_are_complete"][1], "missing artifacts do not block"


@pytest.mark.rule("C12")
def test_a_document_that_is_gone_is_listed(built: Built) -> None:
    store = BlobStore(built.build.home.blobs)
    for row in read_rows(built.build.directory, "discovered_files", 0):
        if row["path"] == "src/Order.cs":
            store.path(row["text_sha256"]).unlink()
    found = result_of("artifacts_are_complete", built)
    assert not found.passed
    assert 0 < found.numbers["document cannot be read"] < found.numbers["points"]


@pytest.mark.rule("B14", "B16")
def test_an_invalid_payload_blocks(built: Built) -> None:
    assert result_of("payloads_are_valid", built).passed
    rewrite(built, "qdrant_points", change_payload(OrgId=None))
    found = result_of("payloads_are_valid", built)
    assert not found.passed
    assert found.numbers["PAYLOAD.org-id"] == found.numbers["points"]
    with pytest.raises(BuildError, match="payloads_are_valid"):
        activate(built.build)


@pytest.mark.rule("R1", "A38")
@pytest.mark.parametrize("column", ["point_id", "semantic_id", "slice_uri", "description_uri"])
def test_an_identifier_that_occurs_twice_blocks(built: Built, column: str) -> None:
    rewrite(built, "qdrant_points", lambda row: row | {column: "twice"})
    found = result_of("ids_are_unique", built)
    assert (found.passed, found.examples) == (False, [f"{column}: twice"])
    with pytest.raises(BuildError, match="ids_are_unique"):
        activate(built.build)


def test_a_check_that_passed_is_not_run_again_on_the_same_bytes(built: Built, monkeypatch: pytest.MonkeyPatch) -> None:
    """Activation trusts the verdict about exactly these bytes and versions, and nothing else."""
    runs = []

    def counted(build: Any) -> CheckResult:
        runs.append(build.spec.generation_id)
        return CheckResult(True, "counted")

    check = memoized_checks.once_per_state("qdrant_points")(counted)
    assert [check(built.build).passed for _ in range(3)] == [True] * 3
    assert len(runs) == 1
    rewrite(built, "qdrant_points", change_payload(Title="changed"))
    check(built.build)
    assert len(runs) == 2, "the bytes are others"
    record = built.build.record_path("qdrant_points")
    edit_record(record, '"blocked": 0', '"blocked": 1')
    check(built.build)
    assert len(runs) == 3, "the record of the stage is another"
    monkeypatch.setattr(memoized_checks, "CHECKS_VERSION", memoized_checks.CHECKS_VERSION + 1)
    check(built.build)
    assert len(runs) == 4, "the checks are others"
    (built.build.directory / "checks" / "counted.json").write_bytes(b"{}")
    check(built.build)
    assert len(runs) == 5, "the verdict cannot be read"


def test_a_check_that_failed_is_run_again(built: Built) -> None:
    runs = []

    def failing(build: Any) -> CheckResult:
        runs.append(build)
        return CheckResult(False, "failing")

    check = memoized_checks.once_per_state("qdrant_points")(failing)
    assert [check(built.build).passed for _ in range(2)] == [False, False]
    assert len(runs) == 2


def test_a_finished_generation_is_not_written_to(build_of: BuildOf) -> None:
    made = build_of(FILES)
    check = memoized_checks.once_per_state("qdrant_points")(lambda build: CheckResult(True, "any"))
    assert check(made.build).passed
    assert not list((made.build.directory / "checks").glob("*lambda*"))


def test_a_file_without_sections_is_listed_with_what_became_of_it(built: Built) -> None:
    rows = read_rows(built.build.directory, "summary_sections", 0)
    kept = [row for row in rows if row["path"] != "src/Order.cs"]
    columns = {name: [row[name] for row in kept] for name in SUMMARY_SECTIONS.names}
    write_part(built.build.directory, "summary_sections", 0, SUMMARY_SECTIONS, columns)
    found = result_of("every_file_has_an_outcome", built)
    assert (found.passed, found.numbers) == (False, {"files": 2, "without_sections": 1})
    assert found.examples[0].startswith("src/Order.cs: Shop.Order ")


@pytest.mark.parametrize(("others", "passed"), [(0, True), (1, True), (2, False), (4, False)])
def test_too_many_types_without_a_role_are_a_warning(build_of: BuildOf, others: int, passed: bool) -> None:
    """Of four C# types at most a quarter may be `Other`; other languages do not count."""
    plain = [f"public class Thing{n} {{ public void Act() {{ }} }}" for n in range(others)]
    roles = [f"public enum Kind{n} {{ A }}" for n in range(4 - others)]
    made = build_of({"src/Types.cs": "\n".join([*plain, *roles]) + "\n", "tool.py": "def act():\n    return 1\n"})
    found = CHECKS["kinds_are_recognised"][2](made.build)
    assert found.passed is passed
    assert found.numbers == {"csharp_segments": 4, "other": others, "percent": others * 25}
    assert bool(found.examples) is not passed


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_says_what_it_is_about(name: str) -> None:
    """The function's text is what Dagster shows."""
    assert CHECKS[name][2].__doc__
    assert getattr(generation_checks, name).__name__ == name


def test_what_blocks_and_what_warns() -> None:
    assert {name for name, (_, blocking, _) in CHECKS.items() if blocking} == {
        "graph_is_sound",
        "ids_are_unique",
        "payloads_are_valid",
        "vectors_are_sound",
        "store_matches_declaration",
        "quality_holds",
    }
