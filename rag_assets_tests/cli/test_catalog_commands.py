"""`catalog status`, `catalog search`, `rebuild`, and how doctor, show, reset and rollback use a catalog."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest

from rag_assets.index.database import URL_VARIABLE
from rag_assets.index.generations import active_generation
from rag_assets.index.labels import register_label
from rag_assets.settings import EmbedderSettings, Settings, StoreSettings
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built

LABEL = "shop@main"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("original")
    return built(new_repository(folder / "shop"), with_catalog(folder / "home"))


def with_catalog(home: Path) -> Settings:
    return Settings(
        home=home, embedder=EmbedderSettings(provider="lexical-only"), stores=StoreSettings(catalog="sqlite")
    )


@pytest.fixture
def repository(original: Built, tmp_path: Path) -> Repository:
    return Repository(shutil.copytree(original.source.path, tmp_path / "shop"))


@pytest.fixture
def catalogued(
    original: Built, cli: CommandLine, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """A copy of the home of a label, which a test may damage, and of its repository."""
    monkeypatch.setenv("RAG_ASSETS__STORES__CATALOG", "sqlite")
    shutil.copytree(original.settings.home, cli.home.root, copy_function=copy_sparse)
    configured = original.repository.model_copy(update={"location": str(repository.path)})
    register_label(cli.home, LABEL, configured, "main")
    return cli


def finding(cli: CommandLine) -> dict[str, str]:
    (found,) = [check for check in cli.run("doctor", "--json").json["checks"] if check["name"] == "catalog"]
    return dict(found)


def test_status_lists_what_there_is(catalogued: CommandLine) -> None:
    found = catalogued.run("catalog", "status", "--json").json
    (entry,) = found["generations"]
    assert (entry["index_label"], entry["active"], entry["state"]) == (LABEL, True, "complete")
    assert found["rows"] == entry["points"] > 0
    said = catalogued.run("catalog", "status").out
    assert LABEL in said and "active" in said and entry["generation_id"] in said


@pytest.mark.rule("E06")
def test_search_looks_words_up(catalogued: CommandLine) -> None:
    done = catalogued.run("catalog", "search", "refund order", "--json")
    assert done.code == 0 and done.json["hits"][0]["symbol"] == "Shop.Orders.OrderService"
    assert "src/Orders/OrderService.cs:" in catalogued.run("catalog", "search", "refund order").out
    assert not catalogued.run("catalog", "search", "refund order", "--path", "db", "--json").json["hits"]
    nothing = catalogued.run("catalog", "search", "no such words")
    assert nothing.code == 4 and "for a ranked search: rag-assets search" in nothing.err


@pytest.mark.rule("E12")
def test_search_shows_what_the_role_may_see(cli: CommandLine, repository: Repository) -> None:
    (cli.folder / "rag_assets.yaml").write_text(
        f"home: {cli.home.root}\nembedder: {{provider: lexical-only}}\nstores: {{catalog: sqlite}}\n"
        f"roles: {{support: public, payroll: restricted}}\nrepositories:\n"
        f"  - {{id: shop, location: {repository.path}, ref: main, confidential_paths: {{src/Orders: restricted}}}}\n",
        encoding="utf-8",
    )
    cli.build(options=())
    found = {
        role: cli.run("catalog", "search", "refund", "--json", options=("--role", role) if role else ()).json["hits"]
        for role in ("", "support", "payroll")
    }
    assert found[""] == found["support"] == []
    assert {hit["path"] for hit in found["payroll"]} == {"src/Orders/OrderService.cs"}


@pytest.mark.rule("E07", "R8")
def test_rebuild_brings_a_lost_shard_back(catalogued: CommandLine) -> None:
    before = catalogued.run("search", "refund", "--json", "--full").json["hits"]
    shutil.rmtree(active_generation(catalogued.home, LABEL).vectors)
    assert catalogued.run("search", "refund").code == 1
    done = catalogued.run("rebuild", LABEL)
    assert done.code == 0, done.err
    assert "points rebuilt from the catalog" in done.out
    assert catalogued.run("search", "refund", "--json", "--full").json["hits"] == before


@pytest.mark.parametrize(
    ("typed", "is_home_lost"),
    [
        ("shop", False),
        ("PATH", False),
        ("", False),
        ("shop", True),
        ("PATH", True),
        ("", True),
        ("shop@main", True),
    ],
)
def test_rebuild_takes_what_index_and_search_take(
    catalogued: CommandLine, repository: Repository, typed: str, is_home_lost: bool
) -> None:
    if is_home_lost:
        shutil.rmtree(catalogued.home.labels)
    words = [typed.replace("PATH", str(repository.path))] if typed else []
    done = catalogued.run("rebuild", *words)
    assert done.code == 0, done.err
    assert done.out.startswith(f"{LABEL} ")


def test_rebuild_of_several_labels_asks_which(catalogued: CommandLine, repository: Repository) -> None:
    repository.git("branch", "release")
    catalogued.build(repository.path, identifier="shop", ref="release", lexical_only=True)
    for words, said in (
        ((), "several labels are indexed; choose one as rag-assets rebuild LABEL: shop@main, shop@release"),
        (("shop",), "'shop' has several labels; choose one of: shop@main, shop@release"),
        (("shop@rel",), "no label 'shop@rel'; did you mean 'shop@release'?"),
    ):
        done = catalogued.run("rebuild", *words)
        assert (done.code, done.out) == (1, "") and said in done.err
    for branch in ("main", "release"):
        repository.git("checkout", "--quiet", branch)
        done = catalogued.run("rebuild", str(repository.path))
        assert done.out.startswith(f"shop@{branch} "), "the one that is checked out"


@pytest.mark.parametrize(
    ("words", "how"),
    [
        (("publish",), "as rag-assets publish LABEL"),
        (("generations", "rollback"), "as rag-assets generations rollback LABEL"),
        (("catalog", "search", "refund"), "with --label"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_where_several_are_indexed_it_is_said_how_the_command_takes_one(
    catalogued: CommandLine, repository: Repository, words: tuple[str, ...], how: str
) -> None:
    catalogued.build(repository.path, identifier="other", lexical_only=True)
    done = catalogued.run(*words)
    assert done.code == 1
    assert done.err == f"error: several labels are indexed; choose one {how}: other@main, shop@main\n"


@pytest.mark.rule("E07")
def test_a_lost_home_comes_back_and_what_does_not_is_said(catalogued: CommandLine) -> None:
    hit = catalogued.run("search", "refund", "--json", "--full").json["hits"][0]
    source = catalogued.run("show", hit["point_id"], "--part", "source", "--json").json["source"]
    shutil.rmtree(catalogued.home.labels)
    shutil.rmtree(catalogued.home.blobs)
    done = catalogued.run("rebuild", LABEL)
    assert done.code == 0, done.err
    assert "lost documents are back" in done.out and "manifest.json" in done.out
    assert "not in the catalog: " in done.err and "still missing" not in done.err
    assert catalogued.run("search", "refund", "--json", "--full").json["hits"][0]["point_id"] == hit["point_id"]
    shown = catalogued.run("show", hit["point_id"], "--json")
    assert shown.code == 0, shown.err
    assert shown.json["source"] == source and "RefundOrder" in source
    assert shown.json["description"] and hit["symbol"] in shown.json["snippet"]


@pytest.mark.rule("E07", "F09")
def test_what_was_rebuilt_is_up_to_date(catalogued: CommandLine, repository: Repository) -> None:
    """Some stages keep no record in the catalog; what they counted is not needed to say so."""
    index = ("index", repository.path, "--id", "shop", "--ref", "main", "--lexical-only", "--json")
    (before,) = catalogued.run(*index).json["results"]
    shutil.rmtree(catalogued.home.labels)
    assert catalogued.run("rebuild", LABEL).code == 0
    done = catalogued.run(*index)
    assert done.code == 0, done.err
    (after,) = done.json["results"]
    assert after["status"] == "up-to-date"
    assert after | {"seconds": 0} == before | {"seconds": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("rebuild", "nope"), 1, "no label 'nope'; there are: shop@main"),
        (("rebuild", LABEL, "--generation", "g7"), 1, "no complete generation 'g7'"),
        (("rebuild", LABEL, "--org", "globex"), 2, "--org and --project go together"),
        (("rebuild", LABEL, "--org", "globex", "--project", "shop"), 1, "has nothing of shop@main (globex/shop)"),
        (("catalog", "search", "x", "--label", "nope"), 1, "no label 'nope'"),
    ],
    ids=["label", "generation", "half a tenant", "tenant", "label of a search"],
)
def test_what_is_not_there_is_named(
    catalogued: CommandLine, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = catalogued.run(*arguments)
    assert done.code == code
    assert message in " ".join(done.err.replace("│", " ").split())


def test_without_a_catalog_the_commands_say_how_to_get_one(cli: CommandLine) -> None:
    for arguments in (("catalog", "status"), ("rebuild", LABEL)):
        done = cli.run(*arguments)
        assert done.code == 1 and "set stores.catalog to sqlite or postgres" in done.err
    assert "catalog" not in [check["name"] for check in cli.run("doctor", "--json").json["checks"]]


def test_doctor_looks_at_the_catalog(catalogued: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    found = finding(catalogued)
    assert found["verdict"] == "ok" and "1 generation of 1 label" in found["detail"]
    path = catalogued.home.root / "catalog.sqlite"
    path.write_bytes(b"damaged" * 1000)
    found = finding(catalogued)
    assert found["verdict"] == "fail" and "delete that file" in found["repair"]
    for file in path.parent.glob("catalog.sqlite*"):
        file.unlink()
    assert finding(catalogued)["verdict"] == "ok" and not path.exists()
    monkeypatch.setenv("RAG_ASSETS__STORES__CATALOG", "postgres")
    monkeypatch.delenv(URL_VARIABLE, raising=False)
    found = finding(catalogued)
    assert found["verdict"] == "fail" and f"{URL_VARIABLE} is not set" in found["detail"]


def test_config_check_reads_the_address(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS__STORES__CATALOG", "postgres")
    monkeypatch.setenv(URL_VARIABLE, "mysql://me:s3cr3t@host/db")
    done = cli.run("config", "check")
    assert done.code == 1 and "names a mysql database" in done.out and "s3cr3t" not in done.out + done.err
    monkeypatch.setenv(URL_VARIABLE, "postgresql://me:s3cr3t@host/db")
    assert cli.run("config", "check").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_a_build_that_waits_for_the_server_says_so_and_can_be_ended(cli: CommandLine, repository: Repository) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    cli.environment |= {
        "RAG_ASSETS__STORES__CATALOG": "postgres",
        "RAG_ASSETS__EMBEDDER__PROVIDER": "lexical-only",
        URL_VARIABLE: "postgresql://me:s3cr3t@127.0.0.1:9/db",
    }
    process = cli.start("index", str(repository.path))
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("tried again in") and len([line for line in said if line.startswith("tried again in")]) == 2:
            process.send_signal(signal.SIGTERM)  # 30 s before the next attempt
            ended = time.monotonic()
            break
    _, rest = process.communicate(timeout=60)
    assert time.monotonic() - ended < 15
    text = "".join(said) + rest
    assert "127.0.0.1:9/db cannot be written" in text and "interrupted; run the same command again" in text
    assert "s3cr3t" not in text and process.returncode == 130


def test_a_rollback_and_a_reset_reach_the_catalog(catalogued: CommandLine, repository: Repository) -> None:
    first = active_generation(catalogued.home, LABEL).manifest.generation_id
    repository.commit({"src/New.cs": "namespace Shop;\n\npublic class New { }\n"})
    built(repository, with_catalog(catalogued.home.root))
    assert catalogued.run("generations", "rollback", LABEL).code == 0
    listed = catalogued.run("catalog", "status", "--json").json["generations"]
    assert {entry["generation_id"]: entry["active"] for entry in listed}[first]
    assert catalogued.run("reset", LABEL, "--yes").code == 0
    assert catalogued.run("catalog", "status", "--json").json["generations"] == []


def test_init_shows_the_setting(cli: CommandLine) -> None:
    assert cli.run("init").code == 0
    written = (cli.folder / "rag_assets.yaml").read_text(encoding="utf-8")
    assert "#   catalog: none  # durable copy of all chunks" in written


def test_an_unknown_kind_of_catalog_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "rag_assets.yaml"
    path.write_text(json.dumps({"stores": {"catalog": "oracle"}}), encoding="utf-8")
    done = cli.run("config", "check", options=("--config", str(path)))
    assert done.code == 1 and "stores.catalog" in done.out
