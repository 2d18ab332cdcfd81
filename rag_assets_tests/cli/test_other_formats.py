"""A store that another version wrote is refused, with the command that makes it anew; nothing reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_assets.index.cache import CACHE_FORMAT
from rag_assets.index.generations import MANIFEST_VERSION, active_generation, generations_directory
from rag_assets.index.layout import IndexHome, read_record, write_record
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster
from rag_assets_tests.git_repository import Repository

LEXICAL = "--lexical-only"
LABEL = "shop@main"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def number_manifest(home: IndexHome, version: int) -> None:
    """The manifest as another version may have written it: with its number, and without a field of ours."""
    path = active_generation(home, LABEL).directory / "manifest.json"
    manifest = read_record(path, dict[str, object])
    del manifest["capabilities"]
    write_record(path, manifest | {"manifest_version": version})


@pytest.mark.usefixtures("without_dagster")
def test_an_index_of_another_format_is_built_anew(cli: CommandLine, repository: Repository) -> None:
    cli.build(repository.path, lexical_only=True)
    manifest = active_generation(cli.home, LABEL).directory / "manifest.json"
    ours = manifest.read_bytes()
    for version in (0, 99):
        manifest.write_bytes(ours)
        number_manifest(cli.home, version)
        before = contents(generations_directory(cli.home, LABEL))
        for command in (["search", "order"], ["plan", str(repository.path), LEXICAL], ["index", LABEL, LEXICAL]):
            done = cli.run(*command)
            assert done.code == 1, command
            refusal = (
                f"has format {version}, this version reads {MANIFEST_VERSION}; run: rag-assets index {LABEL} --force"
            )
            assert refusal in done.err, command
        assert contents(generations_directory(cli.home, LABEL)) == before
    assert cli.run("index", LABEL, LEXICAL, "--force").code == 0
    assert cli.run("search", "order").code == 0


@pytest.mark.usefixtures("without_dagster")
def test_a_cache_of_another_format_is_made_anew(cli: CommandLine, repository: Repository) -> None:
    index_without_dagster(cli.home, repository, "shop")
    path = cli.home.cache / "format"
    repository.commit({"README.md": "# Another text\n"})
    for version in ("0", "99", None):
        path.unlink() if version is None else path.write_text(version)
        before = contents(cli.home.cache)
        done = cli.run("index", repository.path, LEXICAL)
        refusal = f"has format {version or 0}, this version reads {CACHE_FORMAT}; run: rag-assets reset --cache"
        assert done.code != 0 and refusal in " ".join(done.err.split())
        assert contents(cli.home.cache) == before
    assert cli.run("search", "order").code == 0, "what is served needs no cache"
    assert cli.run("reset", "--cache", "--yes").code == 0
    assert cli.run("index", repository.path, LEXICAL).code == 0
