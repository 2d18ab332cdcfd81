"""`rag-assets read`: the numbered lines of a place as indexed, at a commit and in the work tree."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import pytest
import yaml

from rag_assets import PlaceError, open_index
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets_tests.cli.conftest import CommandLine, Indexed, index_without_dagster, new_repository

SERVICE = "src/Orders/OrderService.cs"
MOVED = "src/Orders/Moved.cs"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OLD = """\
namespace Shop.Orders;

public class Moved
{
    public int First() => 1;

    public int Second(int before)
    {
        return before + 2;
    }
}
"""
NEW = OLD.replace("namespace Shop.Orders;", "// a line\n// and another\nnamespace Shop.Orders;").replace("+ 2", "+ 3")


@pytest.fixture(scope="module")
def two_commits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Indexed, str]:
    """An index of the second commit, and the first one; then the work tree differs."""
    base = tmp_path_factory.mktemp("read")
    files = {MOVED: OLD, "config/keys.txt": f"token = {SECRET}\n", "logo.png": b"\0\1\2", ".gitignore": "local.txt\n"}
    repository = new_repository(base / "shop", files)
    first = repository.git("rev-parse", "HEAD")
    many = "".join(f"    public int Number{n}(int one, int two) => one + {n} * two;\n" for n in range(60))
    big = f"public class Big\n{{\n{many}}}\n"
    repository.commit({MOVED: NEW, "src/Big.cs": big, "notes/long.txt": "a line of words, of no symbol\n" * 200})
    cli = CommandLine(rag_home(base), base)
    found = Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop"))
    (repository.path / MOVED).write_text("// now\n" + NEW)
    (repository.path / "local.txt").write_text("of this machine\n")
    (repository.path / "linked").symlink_to(base)
    (base / "outside.txt").write_text("nobody's business\n")
    return found, first


def rag_home(base: Path):  # type: ignore[no-untyped-def]
    from rag_assets.index.layout import IndexHome

    return IndexHome(base / "home")


def test_lines_have_numbers_and_the_symbol_around(indexed: Indexed) -> None:
    said = indexed.cli.run("read", f"{SERVICE}:6-7").out.splitlines()
    assert said[0].startswith(f"{SERVICE}:6-7  in Shop.Orders.OrderService.RefundOrder (6-7)  as indexed at commit ")
    assert said[1:] == [
        "6      /// <summary>Pays back what a customer returned.</summary>",
        "7      public decimal RefundOrder(int orderId) => 0m;",
    ]


@pytest.mark.parametrize(
    ("place", "lines"),
    [
        (SERVICE, (1, 8)),
        (f"{SERVICE}:7", (7, 7)),
        ("OrderService.cs:7-90", (7, 8)),
        (f"./{SERVICE}:3-8", (3, 8)),
        (SERVICE.replace("/", "\\") + ":7", (7, 7)),
        ("RefundOrder", (6, 7)),
        ("orderservice.refundorder", (6, 7)),
        ("Shop.Orders.OrderService", (3, 8)),
        (f"{SERVICE}:RefundOrder", (6, 7)),
    ],
)
def test_a_place_can_be_a_file_lines_or_a_symbol(indexed: Indexed, place: str, lines: tuple[int, int]) -> None:
    found = indexed.cli.run("read", place, "--json").json
    assert (found["path"], found["start_line"], found["end_line"]) == (SERVICE, *lines)
    assert found["text"].count("\n") + 1 == found["shown_lines"] == lines[1] - lines[0] + 1


def test_a_place_can_be_a_point(indexed: Indexed) -> None:
    hit = indexed.cli.run("search", "refund", "--json", "--full", "--limit", "1").json["hits"][0]
    found = indexed.cli.run("read", hit["point_id"][:8], "--json").json
    assert [found[name] for name in ("path", "start_line", "end_line")] == [
        hit[name] for name in ("path", "start_line", "end_line")
    ]
    assert indexed.cli.run("read", hit["semantic_id"], "--json").json == found


def test_a_path_is_read_as_it_is_typed_inside_the_checkout(indexed: Indexed) -> None:
    inside = CommandLine(indexed.cli.home, indexed.repository.path / "src")
    assert inside.run("read", "Orders/OrderService.cs:7", "--json").json["path"] == SERVICE
    assert inside.run("read", "../README.md", "--json").json["path"] == "README.md"


def test_the_library_reads_the_same(indexed: Indexed) -> None:
    said = indexed.cli.run("read", f"{SERVICE}:6-7", "--json").json
    with open_index(indexed.label, home=indexed.cli.home.root) as index:
        found = index.read(f"{SERVICE}:6-7")
        assert (found.text, found.numbered[0][0]) == (said["text"], 6)
        assert found.around is not None and asdict(found.around) == said["around"]
        with pytest.raises(PlaceError, match=r"did you mean src/Orders/OrderService\.cs"):
            index.read("OrderServise.cs:1")


@pytest.mark.parametrize(
    ("place", "code", "expected"),
    [
        ("src/Orders/OrderServise.cs:7", 4, f"did you mean {SERVICE} or "),
        ("OrderServise", 4, "did you mean"),
        ("RefundOrdr", 4, "did you mean RefundOrder?"),
        ("nothing like it", 4, "rag-assets search"),
        ("00000000", 4, "neither a file, a symbol nor a point"),
        (f"{SERVICE}:400", 4, "has 8 lines, so there is no line 400"),
        (f"{SERVICE}:Cancel", 4, "neither a file, a symbol nor a point"),
        (f"{SERVICE}:8-3", 2, "lines begin at 1"),
        ("../outside.txt", 2, "leaves the repository"),
        ("src/../../outside.txt:1", 2, "leaves the repository"),
        ("/etc/passwd", 2, "leaves the repository"),
        ("", 2, "the place is empty"),
        ("web/site.min.js", 1, "skipped as minified"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_helps(indexed: Indexed, place: str, code: int, expected: str) -> None:
    done = indexed.cli.run("read", place)
    assert (done.code, done.out) == (code, ""), done.err
    assert expected in done.err


def test_the_text_of_an_earlier_commit(two_commits: tuple[Indexed, str]) -> None:
    found, first = two_commits
    said = found.cli.run("read", f"{MOVED}:7-10", "--commit", first, "--json").json
    assert (said["version"], said["commit"], said["text"].count("+ 2")) == ("commit", first, 1)
    assert said["around"]["symbol"] == "Shop.Orders.Moved.Second"
    assert found.cli.run("read", f"{MOVED}:7-10@{first[:10]}", "--json").json == said


@pytest.mark.parametrize("name", ["HEAD~1", "main^", "before"])
def test_a_commit_may_be_named_as_git_does(two_commits: tuple[Indexed, str], name: str) -> None:
    found, first = two_commits
    found.repository.git("branch", "--force", "before", first)
    said = found.cli.run("read", f"{MOVED}:7-10", "--commit", name, "--json").json
    assert (said["version"], said["commit"]) == ("commit", first)


def test_a_symbol_is_found_where_it_was_and_where_it_is(two_commits: tuple[Indexed, str]) -> None:
    found, first = two_commits

    def lines(*also: str) -> tuple[int, int]:
        said = found.cli.run("read", "Moved.Second", *also, "--json").json
        assert "int Second(int before)" in said["text"]
        return said["start_line"], said["end_line"]

    assert (lines(), lines("--commit", first), lines("--work-tree")) == ((9, 12), (7, 10), (10, 13))
    point = found.cli.run("search", "symbol:Second", "--json", "--full").json["hits"][0]["point_id"]
    assert "// now" not in found.cli.run("read", point, "--work-tree").out


def test_a_file_that_has_changed_is_said_so_and_its_indexed_lines_are_shown(two_commits: tuple[Indexed, str]) -> None:
    found, _ = two_commits
    done = found.cli.run("read", f"{MOVED}:1-2")
    assert "1  // a line" in done.out and "// now" not in done.out
    assert f"{MOVED} has changed since commit" in done.out and "--work-tree" in done.out
    assert "// now" in found.cli.run("read", f"{MOVED}:1", "--work-tree").out
    unchanged = found.cli.run("read", "src/Big.cs:1", "--json").json
    assert (unchanged["differs"], unchanged["notes"]) == (False, [])


def test_a_commit_that_is_not_there(two_commits: tuple[Indexed, str]) -> None:
    found, _ = two_commits
    done = found.cli.run("read", f"{MOVED}:1", "--commit", "abcdef123456")
    assert done.code == 1
    assert "no commit abcdef123456" in done.err and f"git log -- {MOVED}" in done.err


def test_a_file_that_a_commit_does_not_have(two_commits: tuple[Indexed, str]) -> None:
    found, first = two_commits
    done = found.cli.run("read", "src/Big.cs:1", "--commit", first)
    assert done.code == 4
    assert f"src/Big.cs is not there in commit {first[:10]}; the index has it, of commit " in done.err


@pytest.mark.parametrize("version", ["as indexed", "at a commit", "in the work tree"])
def test_a_secret_stays_masked(two_commits: tuple[Indexed, str], version: str) -> None:
    found, first = two_commits
    also = {"as indexed": [], "at a commit": ["--commit", first], "in the work tree": ["--work-tree"]}[version]
    if also[:1] == ["--commit"]:
        (found.repository.path / "other.txt").touch()
    said = found.cli.run("read", "config/keys.txt", *also, "--json").json
    assert said["text"] == f"token = {'*' * len(SECRET)}"
    assert said["masked_secrets"] == 1


@pytest.mark.parametrize("also", [(), ("--commit", "HEAD~1"), ("--work-tree",)], ids=" ".join)
def test_a_binary_file_is_refused(two_commits: tuple[Indexed, str], also: tuple[str, ...]) -> None:
    found, first = two_commits
    done = found.cli.run("read", "logo.png", *(first if word == "HEAD~1" else word for word in also))
    assert (done.code, done.out) == (1, "")
    assert "binary" in done.err


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("linked/outside.txt", 1, "links are not followed"),
        ("../outside.txt", 2, "leaves the repository"),
        ("local.txt", 1, "git ignores it"),
        (".git/config", 1, ""),
        ("src/Nowhere.cs", 4, "in the work tree"),
    ],
)
def test_a_work_tree_shows_nothing_that_an_index_would_not(
    two_commits: tuple[Indexed, str], path: str, code: int, expected: str
) -> None:
    done = two_commits[0].cli.run("read", path, "--work-tree")
    assert (done.code, done.out) == (code, "")
    assert expected in done.err


@pytest.mark.parametrize("place", ["src/Big.cs", "notes/long.txt"], ids=["with members", "without members"])
@pytest.mark.parametrize("tokens", [4_000, 1_500, 300, 120])
def test_a_budget_is_kept_without_a_cut_line(two_commits: tuple[Indexed, str], place: str, tokens: int) -> None:
    found, _ = two_commits
    said = found.cli.run("read", place, "--max-tokens", tokens).out
    assert estimate_tokens([said.rstrip("\n")])[0] <= tokens
    whole = found.cli.run("read", place).out.splitlines()
    *lines, note = said.splitlines()[1:]
    if lines and not lines[0].startswith("  "):
        assert lines == whole[1 : len(lines) + 1]
        assert f"read on at {place}:{len(lines) + 1}-" in note or lines == whole[1:-1]


def test_a_budget_that_is_too_small_for_a_line_gives_the_count(two_commits: tuple[Indexed, str]) -> None:
    said = two_commits[0].cli.run("read", "src/Big.cs", "--max-tokens", "5").out.splitlines()
    assert len(said) == 2
    assert said[1].startswith("63 lines are about ") and "--max-tokens" in said[1]


def test_a_name_that_is_read_is_the_symbol_around_and_a_heading_is_no_near_name(tmp_path: Path) -> None:
    files = {
        "py/deco.py": "import functools\n\n\ndef cached_thing(a):\n    return a\n",
        "a.md": "# Reading\n\nIt is so.\n",
    }
    repository = new_repository(tmp_path / "shop", files)
    cli = CommandLine(rag_home(tmp_path), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    assert cli.run("read", "cached_thing").out.startswith("py/deco.py:4-5  in py.deco.cached_thing (4-5)  ")
    assert "did you mean" not in cli.run("read", "Reading").err


def test_too_many_declarations_are_listed(tmp_path: Path) -> None:
    repository = new_repository(
        tmp_path / "shop", {f"src/{n}.cs": f"class C{n} {{ void Run() {{ }} }}\n" for n in "ab"}
    )
    cli = CommandLine(rag_home(tmp_path), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    done = cli.run("read", "Run")
    assert done.code == 1
    assert "declared 2 times; read one of\n  src/a.cs:1  void Run()\n  src/b.cs:1  void Run()" in done.err


def test_a_role_reads_what_it_may_see_in_every_version(tmp_path: Path) -> None:
    repository = new_repository(
        tmp_path / "shop", {"pay/Secret.cs": "class Secret { }\n", "src/Open.cs": "class A { }\n"}
    )
    cli = CommandLine(rag_home(tmp_path), tmp_path)
    config = {
        "home": str(cli.home.root),
        "embedder": {"provider": "lexical-only"},
        "roles": {"payroll": "restricted"},
        "repositories": [
            {"id": "shop", "location": str(repository.path), "confidential_paths": {"pay/**": "restricted"}}
        ],
    }
    path = tmp_path / "rag_assets.yaml"
    path.write_text(yaml.safe_dump(config))
    first = repository.git("rev-parse", "HEAD")
    repository.commit({"src/Open.cs": "class Open { }\n"})
    cli.build(options=("--config", str(path)))
    for also in ([], ["--commit", first], ["--work-tree"]):
        hidden = cli.run("read", "pay/Secret.cs", *also, options=("--config", str(path)))
        absent = cli.run("read", "pay/Absent.cs", *also, options=("--config", str(path)))
        assert (hidden.code, hidden.out) == (4, "")
        assert hidden.err.replace("Secret", "Absent") == absent.err
        seen = cli.run("read", "pay/Secret.cs", *also, options=("--config", str(path), "--role", "payroll"))
        assert "1  class Secret { }" in seen.out


def test_names_of_files_with_colons_brackets_and_blanks(tmp_path: Path) -> None:
    code = "namespace Shop;\n\npublic class {}\n{{\n    public int Total() => 1;\n}}\n"
    files = {"src/a:b.cs": code.format("Colon"), "src/[x](y).cs": code.format("Bracket"), "it's a.cs": code.format("A")}
    files |= {"-a.cs": code.format("Dash"), "src/caf\udce9.cs": code.format("Latin")}
    repository = new_repository(tmp_path / "shop", files)
    cli = CommandLine(rag_home(tmp_path), tmp_path)
    index_without_dagster(cli.home, repository, "shop")
    (repository.path / "it's a.cs").write_text("// now\n")
    for path in files:
        path = f"./{path}" if path.startswith("-") else path.replace("\udce9", "\\xe9")
        assert "5      public int Total() => 1;" in cli.run("read", f"{path}:5-6").out.splitlines()
        assert "> 5      public int Total() => 1;" in cli.run("show", f"{path}:5").out
    for line in (
        cli.run("search", "class A symbol:A", "--limit", "1").out.splitlines()[-1].removeprefix("next: "),
        cli.run("read", "it's a.cs:5").out.splitlines()[-1].partition("with: ")[2],
    ):
        name, *words = shlex.split(line)
        assert name == "rag-assets" and any(word.startswith("it's a.cs") for word in words)
    assert cli.run("search", "symbol:Dash").out.splitlines()[-1].endswith(" read ./-a.cs:3-4")
