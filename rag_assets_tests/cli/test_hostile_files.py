"""A choice of hostile files of every kind in one repository: each is indexed or listed, and good ones are indexed.
`benchmarks/hostile_files.py` has all of them."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.pipeline.versions import BUILD_STAGES
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.cli.test_hostile_parsers import STAGES
from rag_assets_tests.hostile_files import GOOD, hostile_files

SETTINGS = """\
home: home
embedder: {provider: lexical-only}
sources: {file_time_limit_seconds: 0.5}
repositories: [{id: hostile, location: hostile}]
"""
LARGEST = 100_000
"""Bytes; larger ones may have thousands of symbols."""
OF_EACH_KIND = 2


@pytest.mark.skipif(sys.platform == "win32", reason="there is no time limit")
def test_every_hostile_file_is_indexed_or_listed_with_its_reason(tmp_path: Path) -> None:
    chosen = _chosen()
    new_repository(tmp_path / "hostile", chosen | GOOD)
    (tmp_path / "rag_assets.yaml").write_text(SETTINGS, encoding="utf-8")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    built = replace(cli, program=("-c", STAGES)).spawn()
    assert built.code == 0, built.err
    files = built.json["results"][0]["files"]
    assert files["indexed"] + files["skipped"] == len(chosen | GOOD)
    listed = {row["path"]: row for row in cli.run("status", "--skipped", "--json").json["labels"][0]["skipped"]}
    assert not listed.keys() & GOOD.keys()
    assert all(row["reason"] and row["detail"] for row in listed.values())
    in_part = [path for path, row in listed.items() if row["detail"].partition(": ")[0] in BUILD_STAGES[2:]]
    assert files["skipped"] == len(listed) - len(in_part)


def _chosen() -> dict[str, str | bytes]:
    kinds: dict[str, list[tuple[str, bytes]]] = {}
    for path, content in hostile_files().items():
        if len(content) < LARGEST:
            kinds.setdefault(path.partition("/")[0], []).append((path, content))
    return {path: content for files in kinds.values() for path, content in files[:: len(files) // OF_EACH_KIND]}
