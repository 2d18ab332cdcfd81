"""Each setting of a repository and of the sources changes what is indexed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.graph.artifact import GRAPH_FOLDER, open_graph
from rag_assets.graph.imports.imported_graph import UnusableImport
from rag_assets.index.parquet_parts import read_rows
from rag_assets.settings import Settings, SourceLimits, StoreSettings
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.graph.imports.bundles import edge_row, edges_csv, node_row, nodes_csv, unpacked
from rag_assets_tests.pipeline.conftest import Built, built, lexical

FILES = {
    "src/Order.cs": "namespace Shop.Orders;\n\npublic class Order { public int Id { get; set; } }\n",
    "src/Tool.cs": "namespace Shop.Tools;\n\npublic class Tool { public void Run() { } }\n",
    "docs/guide.md": "# Guide\n\n" + "word " * 100 + "\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def payloads(made: Built) -> dict[str, RagVectorPayload]:
    rows = [row for bucket in made.build.buckets for row in read_rows(made.build.directory, "qdrant_points", bucket)]
    found = [RagVectorPayload.from_dictionary(msgspec.json.decode(row["payload"])) for row in rows]
    return {payload.path: payload for payload in found}


@pytest.mark.parametrize(
    ("options", "paths"),
    [
        ({"include": ["src/"]}, {"src/Order.cs", "src/Tool.cs"}),
        ({"exclude": ["docs/"]}, {"src/Order.cs", "src/Tool.cs"}),
        ({"include": ["*.cs"], "exclude": ["*Tool*"]}, {"src/Order.cs"}),
    ],
    ids=["include", "exclude", "both"],
)
def test_include_and_exclude(tmp_path: Path, source: Repository, options: dict[str, Any], paths: set[str]) -> None:
    assert set(payloads(built(source, lexical(tmp_path / "home"), **options))) == paths


def test_tenant_names_and_domains(tmp_path: Path, source: Repository) -> None:
    domains = [{"key": "orders", "title": "Orders", "tagline": "What is sold", "namespaces": ["*.Orders"]}]
    made = built(
        source, lexical(tmp_path / "home"), org="acme", org_namespace="acme.eu", project="web", domains=domains
    )
    found = payloads(made)
    order, tool = found["src/Order.cs"], found["src/Tool.cs"]
    assert (order.org_id, order.org_namespace, order.project_id) == ("acme", "acme.eu", "web")
    assert (order.business_domain_key, order.domain) == ("orders", "Orders")
    assert order.finder_snippet.startswith("Domain: Orders\nDomainSummary: What is sold")
    assert tool.business_domain_key == ""


def test_configured_kinds_beat_the_rules(tmp_path: Path, source: Repository) -> None:
    found = payloads(built(source, lexical(tmp_path / "home"), kinds={"src/Tool.cs": "Client"}))
    assert (found["src/Tool.cs"].kind, found["src/Order.cs"].kind) == ("Client", "Model")


def test_limits_skip_with_their_reason(tmp_path: Path, source: Repository) -> None:
    small = lexical(tmp_path / "a").model_copy(update={"sources": SourceLimits(max_file_bytes=200)})
    short = lexical(tmp_path / "b").model_copy(update={"sources": SourceLimits(max_line_length=40)})
    assert skipped(built(source, small)) == {"docs/guide.md": "too-large"}
    assert "docs/guide.md" not in payloads(built(source, small))
    assert skipped(built(source, short)).get("src/Order.cs") == "line-too-long"


def skipped(made: Built) -> dict[str, str]:
    rows = [row for b in made.build.buckets for row in read_rows(made.build.directory, "discovered_files", b)]
    return {row["path"]: row["reason"] for row in rows if row["outcome"] == "skipped"}


def test_hnsw_from_points_builds_the_graph(tmp_path: Path, source: Repository) -> None:
    def has_graph(points: int) -> bool:
        settings = Settings(home=tmp_path / str(points), stores=StoreSettings(hnsw_from_points=points))
        shard = built(source, settings).build.directory / "shard"
        return any(path.name.startswith("vector_index-dense") for path in shard.rglob("*"))

    assert (has_graph(1_000), has_graph(1)) == (False, True)


@pytest.mark.rule("D18")
def test_an_imported_graph_is_in_the_graph_and_in_the_generation(tmp_path: Path, source: Repository) -> None:
    """Other contents are another generation; where the files lie is not."""

    def generation(folder: str, target: str, **more: str) -> tuple[str, set[str], int]:
        nodes = [node_row(key, "db/all.sql") for key in ("dbo.Open|VIEW", "dbo.Orders|TABLE", "dbo.Old|TABLE")]
        edges = [edge_row("dbo.Open|VIEW", target, "ReadsFrom")]
        path = unpacked(tmp_path / folder, {"nodes.csv": nodes_csv(*nodes), "edges.csv": edges_csv(*edges)})
        made = built(source, lexical(tmp_path / "home"), graph_import={"path": path} | more)
        graph = open_graph(made.build.directory / GRAPH_FOLDER)
        keys = {graph.keys[node] for node in range(len(graph))}
        return made.build.spec.generation_id, keys, graph.edge_count

    plain = built(source, lexical(tmp_path / "home"))
    before = plain.reports["code_graph"].counts["edges"]
    first, keys, edges = generation("one", "dbo.Orders|TABLE")
    assert {"dbo.Open|VIEW", "dbo.Orders|TABLE", "csharp:Shop.Orders.Order|TYPE"} <= keys
    assert edges == before + 1
    assert plain.build.spec.generation_id != first
    assert generation("two", "dbo.Orders|TABLE")[0] == first
    assert generation("three", "dbo.Old|TABLE")[0] != first
    assert generation("one", "dbo.Orders|TABLE", mode="replace")[0] != first


def test_an_import_that_is_not_there_fails_before_anything_is_read(tmp_path: Path, source: Repository) -> None:
    with pytest.raises(UnusableImport, match="no such import"):
        built(source, lexical(tmp_path / "home"), graph_import={"path": tmp_path / "gone.zip"})
