"""`rag-assets plan` as people and programs see it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.cli.console import Output
from rag_assets.cli.plan import show_plan
from rag_assets.index.layout import IndexHome
from rag_assets.index.promotion import GenerationStatus
from rag_assets.pipeline.build_plan import BuildPlan
from rag_assets.settings.config_file import CONFIG_NAME
from rag_assets_tests.cli.conftest import FILES, CommandLine, Indexed, index_without_dagster, new_repository
from rag_assets_tests.models.llm.model_server import ModelServer

LEXICAL = "--lexical-only"
KEYS = {
    "status",
    "nothing_to_do",
    "label",
    "ref",
    "commit",
    "generation",
    "lost",
    "base_generation",
    "base_commit",
    "embedding_model",
    "new_space",
    "files",
    "parsed",
    "described",
    "sections",
    "sections_built",
    "texts_to_embed",
    "tokens_to_embed",
    "embedding_seconds",
    "embedding_cost",
    "llm",
    "points",
    "cost",
}


@pytest.fixture
def shop(tmp_path: Path) -> Indexed:
    """An index that a test may change."""
    repository = new_repository(tmp_path / "shop")
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    return Indexed(cli, repository, index_without_dagster(cli.home, repository, "shop"))


def test_the_page(shop: Indexed) -> None:
    shop.repository.git("mv", "db/tables.sql", "db/schema.sql")
    shop.repository.git("rm", "--quiet", "README.md")
    order = str(FILES["src/Orders/Order.cs"])
    shop.repository.commit({"src/New.cs": "public class New { }\n", "src/Orders/Order.cs": order.replace("Id", "No")})
    done = shop.cli.run("plan", shop.repository.path, LEXICAL)
    assert done.code == 0, done.err
    head, before = (shop.repository.git("rev-parse", "--short=10", name) for name in ("HEAD", "HEAD~1"))
    lines = done.out.splitlines()
    assert lines[0] == f"shop@main would be indexed at {head}, since {before}"
    assert "  files         4 to index: 1 added, 1 changed, 1 renamed, 1 deleted" in lines
    assert "  to embed      nothing: keyword search only" in lines
    assert [line for line in lines if line[2:4] in ("+ ", "~ ", "> ", "- ")] == [
        "  + src/New.cs",
        "  ~ src/Orders/Order.cs",
        "  > db/tables.sql → db/schema.sql",
        "  - README.md",
    ]
    assert "to build it: rag-assets index" in done.err


@pytest.mark.parametrize(("limit", "listed"), [("2", 2), ("0", 15), ("100", 15)])
def test_how_many_files_are_listed(cli: CommandLine, tmp_path: Path, limit: str, listed: int) -> None:
    repository = new_repository(tmp_path / "many", {f"src/T{n}.cs": f"public class T{n} {{ }}\n" for n in range(15)})
    done = cli.run("plan", repository.path, LEXICAL, "--files", limit)
    assert done.out.count("  + src/T") == listed
    assert ("13 more files; list them with --files 0" in done.err) == (listed == 2)


def test_the_object(cli: CommandLine, tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "shop")
    done = cli.run("plan", repository.path, LEXICAL, "--json")
    (found,) = done.json["plans"]
    assert set(found) == KEYS
    assert (found["label"], found["status"], found["nothing_to_do"]) == ("shop@main", "to-build", False)
    assert found["files"]["newly_skipped"] == {"minified": 1}
    assert found["files"]["read"] == found["parsed"] == len(found["files"]["added"]) == 4
    assert found["points"]["upserted"] == found["sections"] > 0
    assert (found["cost"], found["llm"]) == (None, None)
    assert cli.home.known_labels() == []


def test_index_does_what_plan_says(shop: Indexed) -> None:
    """The key numbers, through the two commands, Dagster included."""
    shop.repository.commit({"src/New.cs": "public class New { public int Id { get; set; } }\n"})
    planned = CommandLine(IndexHome(shop.cli.folder / "planned"), shop.cli.folder)
    shutil.copytree(shop.cli.home.root, planned.home.root)
    (plan,) = planned.run("plan", "shop@main", LEXICAL, "--json").json["plans"]
    (done,) = shop.cli.run("index", "shop@main", LEXICAL, "--json").json["results"]
    work = done["work"]
    assert plan["generation"] == done["generation"]
    assert plan["files"]["read"] == work["discovered_files"]["read"] == 1
    assert plan["parsed"] == work["segments"]["parsed"] == 1
    assert plan["described"] == work["descriptions"]["described"]
    assert plan["texts_to_embed"] == work["embeddings"]["embedded"]
    assert plan["points"]["upserted"] == work["qdrant_points"]["upserted"]
    assert plan["points"]["deleted"] == work["qdrant_points"]["deleted"] == 0
    assert plan["points"]["total"] == done["points"]


def test_nothing_to_do_is_said_and_is_no_failure(shop: Indexed) -> None:
    done = shop.cli.run("plan", shop.label, LEXICAL)
    assert done.code == 0
    assert "is up to date" in done.out and "there is nothing to do" in done.out
    (found,) = shop.cli.run("plan", shop.label, LEXICAL, "--json").json["plans"]
    assert (found["status"], found["nothing_to_do"]) == ("up-to-date", True)


def test_one_that_fails_does_not_stop_the_next(shop: Indexed) -> None:
    empty = shop.cli.folder / "empty"
    empty.mkdir()
    done = shop.cli.run("plan", empty, shop.label, LEXICAL, "--json")
    assert done.code == 1
    failed, planned = done.json["plans"]
    assert failed["status"] == "failed" and "no file to index" in failed["failure"]
    assert planned["status"] == "up-to-date"
    assert "error: " in done.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["nowhere"], 1, "neither a configured repository", id="unknown repository"),
        pytest.param(["shop@main", "--commit", "zz"], 1, "not a commit id", id="no commit id"),
        pytest.param(["shop@main", "--ref", "gone"], 1, "gone", id="unknown ref"),
        pytest.param(["a", "b", "--commit", "c"], 2, "name exactly one", id="one commit of two"),
        pytest.param(["shop@main", "--files", "-1"], 2, "--files", id="negative number"),
    ],
)
def test_what_cannot_be_planned(shop: Indexed, words: list[str], code: int, said: str) -> None:
    done = shop.cli.run("plan", *words, LEXICAL)
    assert done.code == code
    assert said in done.err


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def test_prices_without_asking(cli: CommandLine, tmp_path: Path, server: ModelServer) -> None:
    repository = new_repository(tmp_path / "shop")
    (cli.folder / CONFIG_NAME).write_text(
        json.dumps(
            {
                "home": str(cli.home.root),
                "embedder": {"provider": "openai-compatible", "base_url": server.url, "model": "m", "price": 20.0},
                "llm": {"provider": "openai-compatible", "base_url": server.url, "model": "s", "price_in": 1.0},
            }
        ),
        encoding="utf-8",
    )
    said = cli.run("plan", repository.path).out
    assert server.asked == []
    (found,) = cli.run("plan", repository.path, "--json").json["plans"]
    assert server.asked == []
    assert found["llm"]["calls"] == 1
    assert found["cost"] == pytest.approx(
        found["tokens_to_embed"] * 20 / 1_000_000 + found["llm"]["prompt_tokens"] / 1_000_000
    )
    assert f"  price         about {found['cost']:,.4f}" in said
    assert f"{found['texts_to_embed']} texts, {found['tokens_to_embed']:,} tokens with openai-compatible/m" in said
    assert "1 symbols, about " in said


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (GenerationStatus.SET_ASIDE, "stays at g1: somebody moved it away"),
        (GenerationStatus.FINISHED, "serves commit aaaaaaaaaa again"),
        (GenerationStatus.DAMAGED, "is damaged at commit aaaaaaaaaa (shard)"),
    ],
)
def test_other_verdicts(capsys: pytest.CaptureFixture[str], standing: GenerationStatus, said: str) -> None:
    plan = BuildPlan(
        label="shop@main",
        ref="main",
        commit="a" * 40,
        generation="g2",
        standing=standing,
        lost=("shard",),
        base_generation="g1",
        base_commit="b" * 40,
    )
    show_plan(Output(), plan, 10)
    assert said in capsys.readouterr().out
