"""Names and line ends of a repository: what is indexed does not depend on the file system it is checked out on."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from rag_assets.index.layout import IndexHome, index_label, path_slug
from rag_assets.pipeline.discovered_files import generation_id
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.windows.view.sitecustomize import is_windows_name

_LEXICAL = ("--lexical-only",)
_CLASS = (
    "namespace Shop;\n\n/// <summary>About {what}.</summary>\npublic class {name}\n{{\n    void Cancel() {{ }}\n}}\n"
)
LONG = f"{'Very' * 73}LongName"
"""300 characters: more than one name may have on any file system."""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "shop")


@pytest.fixture
def cli(tmp_path: Path, repository: Repository) -> CommandLine:
    return CommandLine(IndexHome(tmp_path / "home"), repository.path)


def source(name: str, what: str) -> bytes:
    return _CLASS.format(name=name, what=what).encode()


def paths_of(cli: CommandLine, query: str) -> list[str]:
    return [hit["path"] for hit in cli.run("search", query, "--no-overlay", "--json").json["hits"]]


def test_names_that_no_windows_has_are_indexed_from_git_and_stay_out_of_the_names_of_the_home(
    cli: CommandLine, repository: Repository
) -> None:
    names = ["aux.cs", "con.cs", "Trailing.cs.", "com1.cs", "what?.cs", f"{LONG}.cs"]
    commit = repository.commit_tree(
        [("100644", name.encode(), source(f"Thing{at}", name)) for at, name in enumerate(names)]
    )
    done = cli.run("index", "--json", *_LEXICAL)
    assert done.code == 0, done.err
    assert cli.run("read", f"{LONG}.cs").code == 4, "it is not in the work tree"
    assert cli.run("search", "Thing1").code == 4, "nor are the others, and the work tree is what is searched"
    for at, name in enumerate(names):
        if not name.endswith("."):
            assert paths_of(cli, f"Thing{at}")[0] == name
            assert f"class Thing{at}" in cli.run("read", f"{name}@{commit}").out
    assert [path for path in cli.home.root.rglob("*") if not is_windows_name(path.name)] == []


def test_names_that_differ_in_case_are_both_indexed_and_said_to_be_one_on_windows(
    cli: CommandLine, repository: Repository
) -> None:
    commit = repository.commit_tree(
        [("100644", b"Order.cs", source("Order", "one")), ("100644", b"order.cs", source("Parcel", "two"))]
    )
    (found,) = cli.run("index", "--json", *_LEXICAL).json["results"]
    assert found["problems"] == [
        "Order.cs and order.cs differ in case only: a work tree on Windows or macOS has only one of them"
    ]
    assert (paths_of(cli, "Order one")[0], paths_of(cli, "Parcel two")[0]) == ("Order.cs", "order.cs")
    assert "class Parcel" in cli.run("read", f"order.cs@{commit}").out


def _shape(value: Any) -> Any:
    """An answer of the command line without what two repositories differ in."""
    changing = ("commit_sha", "commit", "generation", "turn", "rendered", "timings", "context_tokens")
    if isinstance(value, dict):
        return {name: _shape(part) for name, part in value.items() if name not in changing}
    return [_shape(part) for part in value] if isinstance(value, list) else value


def test_line_ends_change_no_line_no_citation_and_no_id(tmp_path: Path) -> None:
    """Files as Windows checks them out: each line ends with CRLF, in code, SQL and Markdown."""
    shop = Path(__file__).parents[2] / "examples" / "shop"
    wanted = ["src/Fernhill.Shop.Domain/Orders", "src/Fernhill.Shop.Api/Controllers", "db/sqlserver", "docs"]
    files = {
        path.relative_to(shop).as_posix(): path.read_bytes() for part in wanted for path in (shop / part).rglob("*.*")
    }
    assert len(files) >= 20
    told = {}
    for end in (b"\n", b"\r\n"):
        repository = Repository.new(tmp_path / end.hex() / "shop")
        repository.git("config", "core.autocrlf", "false")
        repository.commit({name: text.replace(b"\r\n", b"\n").replace(b"\n", end) for name, text in files.items()})
        cli = CommandLine(IndexHome(tmp_path / end.hex() / "home"), repository.path)
        cli.build(lexical_only=True)
        asked = [("search", "cancel an order"), ("ask", "who cancels orders?"), ("ask", "how are refunds computed?")]
        told[end] = [_shape(cli.run(*words, "--json").json) for words in asked]
        told[end].append(cli.run("read", "src/Fernhill.Shop.Domain/Orders/OrderManager.cs:60-90").out.splitlines()[1:])
    assert told[b"\r\n"] == told[b"\n"]


@pytest.mark.parametrize(
    "name", ["aux", "CON", "nul.d", "com1", "lpt9.x.y", "feature/x.", "b" * 200, "Release 1.0:rc|2?"]
)
def test_names_of_a_home_are_names_on_windows(name: str) -> None:
    for made in (
        path_slug(name),
        index_label(name, name),
        generation_id(name, "1" * 40, "2024-05-06T08:00:00Z", "2" * 9),
    ):
        assert is_windows_name(made) and len(made) <= 130
        assert PureWindowsPath("C:/home") / made != PureWindowsPath("C:/home")
    assert path_slug(name) != path_slug(f"{name}x")


def test_paths_with_backslashes_are_those_of_the_repository(cli: CommandLine, repository: Repository) -> None:
    repository.commit(
        {"src/Orders/Order.cs": source("Order", "an order"), "src/Mail/Post.cs": source("Post", "a letter")}
    )
    cli.build(lexical_only=True)
    assert paths_of(cli, "Cancel")[:2] != ["src/Orders/Order.cs"]
    found = cli.run("search", "Cancel", "--path", "src\\Orders", "--json").json["hits"]
    assert {hit["path"] for hit in found} == {"src/Orders/Order.cs"}
    assert "class Order" in cli.run("read", "src\\Orders\\Order.cs").out


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_console_of_an_old_windows_shows_every_answer(
    cli: CommandLine, repository: Repository, encoding: str
) -> None:
    repository.commit({"README.md": "# Öl → 油\n\nOrders … “quoted” — 用\n"})
    cli.build(lexical_only=True)
    cli.environment.update({"PYTHONIOENCODING": encoding})
    process = cli.start("read", "README.md", encoding=encoding)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert {"cp1252": "Öl -> ?", "cp437": "Öl -> ?", "ascii": "?l -> ?"}[encoding] in out
    assert ("Orders … “quoted” — ?" if encoding == "cp1252" else 'Orders ... "quoted" - ?') in out
