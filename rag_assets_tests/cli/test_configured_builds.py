"""What a configuration file says of repositories and sources is in what a build stores, read with none of our readers.

The two builds are of one commit in one home, so that nothing an earlier build left behind can stand for a setting.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.graph.imports.bundles import edge_row, edges_csv, node_row, nodes_csv, unpacked
from rag_assets_tests.stored_points import payloads_in

FILES: dict[str, str | bytes] = {
    "src/Order.cs": "namespace Shop.Orders;\n\npublic class Order { public int Id { get; set; } }\n",
    "src/Tool.cs": "namespace Shop.Tools;\n\npublic class Tool { public void Run() { } }\n",
    "src/Toll.cs": "namespace Shop.Tools;\n\npublic class OrderToll { public void Run() { } }\n",
    "src/Wide.cs": "namespace Shop;\n\npublic class Wide { } // " + "wide " * 60 + "\n",
    "src/Tall.cs": "namespace Shop;\n\npublic class Tall { }\n" + "// tall\n" * 400,
    "talks/long.vtt": "WEBVTT\n\n" + "00:00:01.000 --> 00:00:02.000\nOrders are sold.\n\n" * 60,
    "docs/guide.md": "# Guide\n\nOrders are sold.\n",
    "docs/draft.md": "# Draft\n\nNobody reads it.\n",
    "pay/all.md": "# Salaries\n\nWho earns what.\n",
    "legal/terms.md": "# Terms\n\nWhat holds.\n",
}
PACK = """\
name: own
description: One rule more.
rules:
  - {name: tolls, order: 1, kind: Client, reason: by name, any: [{name_matches: ["*Toll"]}]}
"""
QUESTION = {"id": "q", "question": "orders are sold", "relevant": ["docs/guide.md"]}
REPOSITORY = {
    "org": "acme",
    "org_namespace": "acme.eu",
    "project": "web",
    "include": ["src/", "docs/", "talks/", "pay/"],
    "exclude": ["docs/draft.md"],
    "domains": [{"key": "orders", "title": "Orders", "tagline": "What is sold", "namespaces": ["*.Orders"]}],
    "rule_packs": ["generic", "own.yaml"],
    "kinds": {"src/Tool.cs": "Repository"},
    "confidentiality": "public",
    "confidential_paths": {"pay": "restricted"},
    "history": False,
    "eval_set": "questions.jsonl",
    "graph_import": {"path": "imported"},
}
SOURCES = {"max_file_bytes": 3_000, "max_document_bytes": 2_000, "max_line_length": 200}


@dataclass(frozen=True)
class Stored:
    """The served generation of a label, as a stranger reads it."""

    folder: Path

    def payload(self, path: str) -> dict[str, Any]:
        return next(payload for payload in payloads_in(self.folder) if payload["Path"] == path)

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [
            row for part in sorted(self.folder.glob(f"{table}/*.parquet")) for row in pq.read_table(part).to_pylist()
        ]

    @property
    def outcomes(self) -> dict[str, str]:
        return {row["path"]: row["reason"] or row["outcome"] for row in self.rows("discovered_files")}

    @property
    def manifest(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        return found


def indexed(cli: CommandLine, **sections: Any) -> Stored:
    """What is served after `rag-assets index` with these settings."""
    repository = {"id": "shop", "location": "shop"} | sections.pop("repository", {})
    settings = {"home": "home", "embedder": {"provider": "lexical-only"}, "repositories": [repository]} | sections
    (cli.folder / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    done = cli.run("index", "--json", options=())
    assert done.code == 0, done.err
    (result,) = done.json["results"]
    return Stored(cli.home.root / "labels" / result["label"] / "generations" / result["generation"])


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("configured")
    new_repository(base / "shop", FILES)
    (base / "own.yaml").write_text(PACK, encoding="utf-8")
    (base / "questions.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    nodes = nodes_csv(node_row("dbo.Open|VIEW", "db/all.sql"), node_row("dbo.Orders|TABLE", "db/all.sql"))
    edges = edges_csv(edge_row("dbo.Open|VIEW", "dbo.Orders|TABLE", "ReadsFrom"))
    unpacked(base / "imported", {"nodes.csv": nodes, "edges.csv": edges})
    return CommandLine(IndexHome(base / "home"), base)


@pytest.fixture(scope="module")
def builds(cli: CommandLine) -> tuple[Stored, Stored]:
    """With the defaults, then with every setting of a repository and the limits of files."""
    return indexed(cli), indexed(cli, repository=REPOSITORY, sources=SOURCES, stores={"catalog": "sqlite"})


def has_past(stored: Stored) -> bool:
    return any(file.stat().st_size for file in stored.folder.glob("keyword/**/past_files.tsv"))


SETTINGS = {
    "org": lambda stored: stored.payload("src/Order.cs")["OrgId"],
    "org_namespace": lambda stored: stored.payload("src/Order.cs")["SemanticId"].split(":")[0],
    "project": lambda stored: stored.payload("src/Order.cs")["ProjectId"],
    "include": lambda stored: stored.outcomes["legal/terms.md"],
    "exclude": lambda stored: stored.outcomes["docs/draft.md"],
    "domains": lambda stored: stored.payload("src/Order.cs").get("BusinessDomainKey"),
    "rule_packs": lambda stored: stored.payload("src/Toll.cs")["Kind"],
    "kinds": lambda stored: stored.payload("src/Tool.cs")["Kind"],
    "confidentiality": lambda stored: stored.payload("docs/guide.md")["Confidentiality"],
    "confidential_paths": lambda stored: stored.payload("pay/all.md")["Confidentiality"],
    "history": has_past,
    "eval_set": lambda stored: (stored.manifest["evaluation"] or {}).get("questions"),
    "graph_import": lambda stored: b"dbo.Open|VIEW" in (stored.folder / "graph" / "key_bytes.npy").read_bytes(),
    "max_file_bytes": lambda stored: stored.outcomes["src/Tall.cs"],
    "max_document_bytes": lambda stored: stored.outcomes["talks/long.vtt"],
    "max_line_length": lambda stored: stored.outcomes["src/Wide.cs"],
}


@pytest.mark.rule("A02", "A19", "A30", "B02", "D03", "E08", "E14")
@pytest.mark.parametrize(
    ("setting", "before", "after"),
    [
        ("org", "local", "acme"),
        ("org_namespace", "local", "acme.eu"),
        ("project", "shop", "web"),
        ("include", "indexed", "ignored"),
        ("exclude", "indexed", "ignored"),
        ("domains", None, "orders"),
        ("rule_packs", "Other", "Client"),
        ("kinds", "Other", "Repository"),
        ("confidentiality", "internal", "public"),
        ("confidential_paths", "internal", "restricted"),
        ("history", True, False),
        ("eval_set", None, 1),
        ("graph_import", False, True),
        ("max_file_bytes", "indexed", "too-large"),
        ("max_document_bytes", "indexed", "too-large"),
        ("max_line_length", "indexed", "line-too-long"),
    ],
)
def test_each_setting_is_in_what_is_stored(
    builds: tuple[Stored, Stored], setting: str, before: object, after: object
) -> None:
    assert tuple(map(SETTINGS[setting], builds)) == (before, after)


@pytest.mark.rule("E25")
def test_a_build_with_other_levels_of_confidentiality_is_compared_with_the_served_one(
    cli: CommandLine, builds: tuple[Stored, Stored]
) -> None:
    open_again = REPOSITORY | {"confidential_paths": {}}
    manifest = indexed(cli, repository=open_again, sources=SOURCES).manifest
    assert (manifest["evaluation"]["verdict"], manifest["evaluation"]["active_generation_id"]) == (
        "passed",
        builds[1].folder.name,
    )
