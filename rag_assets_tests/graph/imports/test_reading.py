"""Files of an import: folders and archives alike, bounded, and never outside of them."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from rag_assets.graph.imports import artifact_files, load_graph, unread_parts
from rag_assets.graph.imports.artifact_files import read_artifacts
from rag_assets.graph.imports.imported_graph import UnusableImport
from rag_assets.settings.repositories import GraphImportSettings
from rag_assets_tests.graph.imports.bundles import chunk, edges_csv, node_row, nodes_csv, unpacked, zipped

FILES: dict[str, Any] = {
    "main/repo_meta.json": {"HeadSha": "a" * 40},
    "main/sql_bundle/graph/nodes.csv": nodes_csv(node_row("dbo.Orders|TABLE")),
    "main/sql_bundle/graph/edges.csv": edges_csv(),
    "main/sql_bundle/docs/bodies/dbo.Orders.TABLE.sql": "CREATE TABLE Orders (Id int)",
}
WANTED = {name for name in FILES if not name.endswith(".sql")}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.zip"
    path.write_bytes(zipped(FILES))
    return path


def test_a_folder_and_its_archives_are_one_import(tmp_path: Path, archive: Path) -> None:
    folder = unpacked(tmp_path / "bundle", FILES)
    tar = tmp_path / "bundle.tar.gz"
    with tarfile.open(tar, "w:gz") as made:
        made.add(folder / "main", "main")
    found = [read_artifacts(path, "roslyn") for path in (folder, archive, tar)]
    assert all({file.name for file in each.files} == WANTED for each in found)
    assert len({each.fingerprint() for each in found}) == 1


def test_the_fingerprint_is_that_of_what_is_read(tmp_path: Path) -> None:
    before = read_artifacts(unpacked(tmp_path / "a", FILES), "roslyn").fingerprint()
    body = "main/sql_bundle/docs/bodies/dbo.Orders.TABLE.sql"
    passed_over = read_artifacts(unpacked(tmp_path / "b", FILES | {body: "other"}), "roslyn").fingerprint()
    changed = read_artifacts(unpacked(tmp_path / "c", FILES | {"main/repo_meta.json": "{}"}), "roslyn").fingerprint()
    assert before == passed_over != changed


def test_of_two_bundles_the_nearest_to_the_top_counts(tmp_path: Path) -> None:
    found = read_artifacts(unpacked(tmp_path, FILES | {"nodes.csv": nodes_csv()}), "roslyn")
    assert "nodes.csv" in {file.name for file in found.files}
    assert found.problems == ("main/sql_bundle/graph/nodes.csv: not used, nodes.csv is",)


@pytest.mark.parametrize(
    "name", ["../nodes.csv", "/etc/nodes.csv", "a/../../nodes.csv", "C:/x/nodes.csv", "..\\nodes.csv"]
)
def test_names_that_lead_out_of_an_archive_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "slip.zip"
    path.write_bytes(zipped({name: nodes_csv(), "edges.csv": edges_csv()}))
    found = read_artifacts(path, "roslyn")
    assert [file.name for file in found.files] == ["edges.csv"]
    assert "its name leads out of the archive" in found.problems[0]
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_bomb_is_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "MAX_FILE_BYTES", 1000)
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"chunks.json": b"[" + b" " * 100_000, "edges.csv": edges_csv()}))
    found = read_artifacts(path, "roslyn")
    assert [file.name for file in found.files] == ["edges.csv"]
    assert found.problems == ("chunks.json: not read, expands to more than 1,000 bytes",)


def test_a_size_that_lies_does_not_help_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "MAX_FILE_BYTES", 1000)
    data = zipped({"chunks.json": b" " * 5000})
    path = tmp_path / "bomb.zip"
    path.write_bytes(data.replace((5000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(UnusableImport, match=r"bomb\.zip: nothing to import was found \(chunks\.json: not read"):
        read_artifacts(path, "roslyn")


def test_all_files_together_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact_files, "MAX_IMPORT_BYTES", 100)
    found = read_artifacts(unpacked(tmp_path, {"edges.csv": "x" * 60, "nodes.csv": "x" * 60}), "roslyn")
    assert [file.name for file in found.files] == ["edges.csv"]
    assert found.problems == ("nodes.csv: not read, larger than 40 bytes",)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key", encoding="utf-8")
    folder = unpacked(tmp_path / "bundle", {"edges.csv": edges_csv()})
    (folder / "nodes.csv").symlink_to(secret)
    assert read_artifacts(folder, "roslyn").problems == ("nodes.csv: not read, it is a link or no regular file",)


def test_a_file_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("nodes.csv", "first")
        archive.writestr("nodes.csv", "second")
    path.write_bytes(made.getvalue())
    found = read_artifacts(path, "roslyn")
    assert [file.data for file in found.files] == [b"first"]


def test_a_damaged_member_leaves_the_others(tmp_path: Path, archive: Path) -> None:
    data = bytearray(archive.read_bytes())
    at = data.index(b"main/sql_bundle/graph/nodes.csv") + len("main/sql_bundle/graph/nodes.csv")
    data[at : at + 8] = bytes(8)
    archive.write_bytes(data)
    found = read_artifacts(archive, "roslyn")
    assert {file.name.rpartition("/")[2] for file in found.files} == {"repo_meta.json", "edges.csv"}
    assert "nodes.csv: not read, damaged member" in found.problems[0]
    (told,) = unread_parts(GraphImportSettings(path=archive, format="roslyn"))
    assert told == f"{archive}: {found.problems[0]}"


def test_what_is_left_out_on_purpose_is_not_unread(tmp_path: Path) -> None:
    for name in ("nodes.csv", "old/nodes.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("key")
    assert read_artifacts(tmp_path, "roslyn").problems == ("old/nodes.csv: not used, nodes.csv is",)
    assert unread_parts(GraphImportSettings(path=tmp_path, format="roslyn")) == ()
    assert unread_parts(None) == ()


@pytest.mark.parametrize("cut", [0, 1, 4, 30, 200, -1], ids=lambda cut: f"cut at {cut}")
def test_a_truncated_archive_says_so(tmp_path: Path, archive: Path, cut: int) -> None:
    archive.write_bytes(archive.read_bytes()[:cut])
    with pytest.raises(UnusableImport, match=r"bundle\.zip: .*(truncated|damaged)"):
        load_graph(archive, "roslyn")


def test_what_came_before_the_cut_of_a_stream_is_used(tmp_path: Path) -> None:
    tar = tmp_path / "bundle.tar"
    with tarfile.open(tar, "w") as made:
        for name, size in (("chunks.json", 100), ("nodes.csv", 100_000)):
            info = tarfile.TarInfo(name)
            info.size = size
            made.addfile(info, io.BytesIO(bytes(size)))
    tar.write_bytes(tar.read_bytes()[:50_000])
    found = read_artifacts(tar, "roslyn")
    assert [file.name for file in found.files] == ["chunks.json"]
    assert "truncated or damaged" in found.problems[0]


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere", "there is no such import"), ("empty", "nothing to import was found; looked for chunks.json")],
)
def test_nothing_to_read_is_explained(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnusableImport, match=message):
        read_artifacts(tmp_path / name, "roslyn")


def test_an_index_is_a_file_or_lies_in_a_folder(tmp_path: Path) -> None:
    path = unpacked(tmp_path, {"web/index.scip": b"x", "readme.md": "no"}) / "web" / "index.scip"
    assert [file.name for file in read_artifacts(path, "scip").files] == ["index.scip"]
    assert [file.name for file in read_artifacts(tmp_path, "scip").files] == ["web/index.scip"]


def test_a_bundle_is_loaded_from_where_it_lies(tmp_path: Path) -> None:
    chunks = [chunk(1, "src/Cart.cs", "Shop.Cart.void Cart.Clear()", "Clear")]
    graph = load_graph(unpacked(tmp_path, {"regular_code_bundle/chunks.json": chunks}), "roslyn")
    assert [node.key for node in graph.nodes] == ["csharp:Shop.Cart.Clear()|METHOD"]
