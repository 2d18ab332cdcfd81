"""Options that say which branch, label, generation or kind a command is about, each by what it changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Outcome, new_repository
from rag_assets_tests.git_repository import Repository

ON_DEV: dict[str, str | bytes] = {
    "src/Dev.cs": "namespace Shop;\n\npublic class OnDev { public void Ship() { } }\n",
    "src/Late.cs": "namespace Shop;\n\npublic class Late : OnDev { }\n",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """Two branches of one repository, each with two generations, and a catalog of all."""
    base = tmp_path_factory.mktemp("options")
    repository = new_repository(base / "shop")
    repository.git("checkout", "--quiet", "-b", "dev")
    repository.commit(ON_DEV)
    repository.git("checkout", "--quiet", "main")
    settings = {
        "home": "home",
        "embedder": {"provider": "lexical-only"},
        "stores": {"catalog": "sqlite"},
        "repositories": [{"id": "shop", "location": "shop"}],
    }
    (base / "rag_assets.yaml").write_text(json.dumps(settings), encoding="utf-8")
    repository.git("clone", "--quiet", str(base / "shop"), str(base / "other"))
    cli = CommandLine(IndexHome(base / "home"), base)
    for ref in ("main", "dev", "main", "dev"):
        cli.build("shop", options=(), ref=ref, force=True)
    return cli


def run(cli: CommandLine, *words: str | Path) -> Outcome:
    return cli.run(*words, options=())


def served(cli: CommandLine) -> dict[str, tuple[str, str]]:
    """label → (generation that is served, the other one)."""
    found = {}
    for label in run(cli, "generations", "list", "--json").json["labels"]:
        states = {entry["state"]: entry["generation_id"] for entry in label["generations"]}
        found[label["label"]] = states["active"], states["previous"]
    return found


@pytest.mark.parametrize(
    ("words", "label", "of_dev"),
    [
        (("shop", "--ref", "dev"), "shop@dev", True),
        (("shop", "--ref", "main"), "shop@main", False),
        (("{other}", "--id", "copy"), "copy@main", False),
        (("shop", "--ref", "dev", "--commit", "{main}"), "shop@dev", False),
    ],
    ids=["branch", "other branch", "id", "commit"],
)
def test_a_plan_is_of_the_branch_the_commit_and_the_id_that_are_named(
    shared: CommandLine, words: tuple[str, ...], label: str, of_dev: bool
) -> None:
    git = new_git(shared)
    heads = {name: git.git("rev-parse", name) for name in ("main", "dev")}
    typed = [word.format(other=git.path.with_name("other"), main=heads["main"]) for word in words]
    (plan,) = run(shared, "plan", *typed, "--lexical-only", "--json").json["plans"]
    assert (plan["label"], plan["commit"]) == (label, heads["dev" if of_dev else "main"])


@pytest.mark.parametrize("known", ["shop", "shop@main", "{folder}"])
def test_a_repository_that_has_an_id_gets_no_other_one(shared: CommandLine, known: str) -> None:
    for command in ("plan", "index"):
        done = run(shared, command, known.format(folder=shared.folder / "shop"), "--id", "copy")
        assert done.code == 1 and "is known as 'shop'; --id names a repository that is new" in done.err


def new_git(cli: CommandLine) -> Repository:
    return Repository(cli.folder / "shop")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("graph", "around", "OnDev"), (1, 0)),
        (("graph", "impact", "OnDev"), (1, 0)),
        (("graph", "uses", "Late"), (1, 0)),
        (("graph", "path", "Late", "OnDev"), (1, 0)),
        (("search", "symbol:OnDev"), (4, 0)),
        (("catalog", "search", "OnDev"), (4, 0)),
        (("catalog", "search", "RefundOrder"), (0, 0)),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_a_label_is_the_index_that_is_asked(shared: CommandLine, words: tuple[str, ...], code: tuple[int, int]) -> None:
    found = [run(shared, *words, "--label", label) for label in ("shop@main", "shop@dev")]
    assert tuple(one.code for one in found) == code, [one.err for one in found]


@pytest.mark.rule("E06")
def test_commands_that_are_shown_name_the_label_where_they_need_it(shared: CommandLine) -> None:
    following = run(shared, "search", "ship", "-l", "shop@dev").out.splitlines()[-1]
    assert following.startswith("next: rag-assets read ") and following.endswith(" --label shop@dev")
    assert run(shared, *following.removeprefix("next: rag-assets ").split()).code == 0
    source = next(
        line for line in run(shared, "ask", "what is OnDev?", "-l", "shop@dev").out.splitlines() if "show" in line
    )
    opened = run(shared, *source.partition("rag-assets ")[2].split())
    assert opened.code == 0 and "OnDev" in opened.out


def test_a_configured_repository_without_an_index_is_told_to_be_indexed(shared: CommandLine) -> None:
    done = run(shared, "search", "ship", "-l", "shop@release")
    assert done.code == 1
    assert "shop is configured, so index it with: rag-assets index shop --ref release" in done.err
    assert "configured" not in run(shared, "search", "ship", "-l", "nobody").err
    several = run(shared, "search", "ship", "-l", "shop").err
    assert "'shop' has several labels; choose one of: shop@dev, shop@main" in several and "configured" not in several


def test_a_search_of_the_catalog_has_as_many_hits_and_the_kinds_that_are_wanted(shared: CommandLine) -> None:
    def found(*words: str) -> list[str]:
        done = run(shared, "catalog", "search", *words, "--label", "shop@main", "--json")
        return [hit["kind"] for hit in done.json["hits"]]

    everything = found("order")
    assert len(found("order", "--limit", "1")) == 1 < len(everything)
    assert "Service" in everything and len(set(everything)) > 1
    assert set(found("order", "--kind", "Service")) == set(found("order", "--kind", "service")) == {"Service"}
    wrong = run(shared, "catalog", "search", "order", "--kind", "Servce", "--label", "shop@main")
    assert wrong.code != 0 and "did you mean Service?" in wrong.err


def test_generations_of_the_label_that_is_named_are_served_and_tagged(shared: CommandLine) -> None:
    before = served(shared)
    assert run(shared, "generations", "activate", before["shop@dev"][1], "--label", "shop@main").code == 1
    assert run(shared, "generations", "activate", "previous", "--label", "shop@dev").code == 0
    after = served(shared)
    assert after["shop@dev"] == before["shop@dev"][::-1] and after["shop@main"] == before["shop@main"]
    assert run(shared, "generations", "tag", "active", "v1", "--label", "shop@dev").code == 0
    tags = {row["label"]: row["generations"] for row in run(shared, "generations", "list", "--json").json["labels"]}
    assert [entry["tags"] for entry in tags["shop@dev"] if entry["state"] == "active"] == [["v1"]]
    assert not any(entry["tags"] for entry in tags["shop@main"])
    assert run(shared, "generations", "untag", "v1", "--label", "shop@main").code == 1
    assert run(shared, "generations", "untag", "v1", "--label", "shop@dev").code == 0
    run(shared, "generations", "rollback", "shop@dev")


def test_a_dry_run_of_gc_says_what_goes_and_removes_nothing(shared: CommandLine) -> None:
    def files() -> set[Path]:
        return {path for path in shared.home.root.glob("blobs/**/*") if path.is_file()}

    before = files()
    blob = sorted(before)[0]
    stray = blob.with_name("f" * len(blob.name))
    stray.write_bytes(blob.read_bytes())
    dry = run(shared, "gc", "--dry-run", "--json").json
    assert dry["dry_run"] and stray in files()
    assert run(shared, "gc", "--json").json["swept"] == dry["swept"]
    assert files() == before
