"""The configuration: typed, strict, and every key of it does something."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

from rag_assets.pipeline.versions import config_hash
from rag_assets.settings import RepositorySettings, Settings, load_settings
from rag_assets.settings.config_file import ConfigError, find_config, resolve_home


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(folder: Path, text: str) -> Path:
    path = folder / "rag_assets.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "repositories: [{id: a, location: ., token: hunter2hunter2}]",
        "stores: {qdrant_url: 'http://me:hunter2hunter2@host'}",
        "embedder: {base_url: hunter2hunter2, provider: openai-compatible}",
        "repositories: [hunter2hunter2",
        "home: 'hunter2hunter2",
        "home: hunter2hunter2: x",
        "- hunter2hunter2",
    ],
)
def test_no_value_is_in_the_trace_of_an_error(tmp_path: Path, text: str) -> None:
    """Dagster keeps it, and `--debug` prints it."""
    with pytest.raises(ConfigError) as caught:
        load_settings(written(tmp_path, text))
    caught.value.__traceback__ = None  # the lines of this test
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hom: x", "unknown key 'hom'; did you mean 'home'?"),
        ("embedder: {precison: int8}", "unknown key 'embedder.precison'; did you mean 'precision'?"),
        ("repositories: [{id: a, location: ., exlude: [x]}]", "'repositories.0.exlude'; did you mean 'exclude'?"),
        (
            "repositories: [{id: a, location: ., domains: [{ky: a}]}]",
            "'repositories.0.domains.0.ky'; did you mean 'key'?",
        ),
        ("zzz: 1", "unknown key 'zzz'; valid: answer, automation, "),
        ("embedder: {precision: int4}", "rag_assets.yaml:1: embedder.precision: must be 'int8' or 'fp32'"),
        (
            "repositories: [{id: a, location: .}, {id: a, location: .}]",
            "'a' is used twice; every repository",
        ),
        ("repositories: [{id: a, location: ' '}]", "repositories.0.location: must not be empty"),
        ("repositories: [{id: a, location: ., kinds: {'x/**': not a kind}}]", "kinds"),
        ("repositories: [{id: a, location: ., confidentiality: secret}]", "repositories.0.confidentiality"),
        ("roles: {boss: everything}", "roles.boss"),
        ("sources: {max_file_bytes: 0}", "sources.max_file_bytes"),
        ("[]", "expected a mapping"),
        ("a: [1", "rag_assets.yaml:1: not valid YAML"),
        (
            "search: {limit: 1}\nsearch: {limit: 2}",
            "rag_assets.yaml:2: 'search' is written twice, first in line 1",
        ),
        ("\nrepositories: x", "rag_assets.yaml:2: repositories: must be a list, found text"),
        (
            "repositories:\n  - id: a\n    location: .\n  - x",
            "rag_assets.yaml:4: repositories.1: must be a mapping with id, location, found text",
        ),
        ("repositories:\n  - location: .", "rag_assets.yaml:2: repositories.0.id: is missing"),
        ("repositories: [{id: 1, location: .}]", "repositories.0.id: must be text, found 1; write it in quotes"),
        ("repositories: [{id: a, location: ., graph_import: 3}]", "graph_import: must be a mapping with path, found 3"),
        ("repositories: [{id: a, location: ., kinds: {a: }}]", "kinds.a: must be text, found nothing"),
        ("packs: [1]", "packs.0: must be a path, found 1"),
        ("search:\n  limit: ten", "rag_assets.yaml:2: search.limit: must be a whole number, found text"),
        ("search: {alpha: .inf}", "search.alpha: must be a finite number, found inf"),
        ("answer: {threshold: .nan}", "answer.threshold: must be a finite number, found nan"),
        ("evaluation: {minimum: {recall: .nan}}", "evaluation.minimum.recall: must be a finite number, found nan"),
        ("answer: {log: maybe}", "answer.log: must be true or false, found text"),
        ("search: 3", "search: must be a mapping with alpha, beta, "),
    ],
)
def test_a_wrong_configuration_is_explained(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(written(tmp_path, text))
    assert message in str(caught.value)
    assert "rag_assets.yaml" in str(caught.value)


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    assert load_settings(written(tmp_path, "")) == Settings(home=tmp_path / ".rag_assets")


@pytest.mark.parametrize("text", ["repositories:", "home:", "search:\n  # limit: 3", "packs:\nworkers:\nroles:"])
def test_a_setting_with_nothing_behind_it_is_not_set(tmp_path: Path, text: str) -> None:
    assert load_settings(written(tmp_path, text)) == Settings(home=tmp_path / ".rag_assets")


def test_nothing_behind_a_setting_inside_is_the_default_too(tmp_path: Path) -> None:
    path = written(tmp_path, "repositories: [{id: a, location: /a, include: , kinds: }]\nsearch: {limit: , mode: bm25}")
    found = load_settings(path)
    assert found.repositories == (RepositorySettings(id="a", location="/a"),)
    assert (found.search.limit, found.search.mode) == (10, "bm25")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("RAG_ASSETS__SEARCH__LIMIT", "s3cr3t", "RAG_ASSETS__SEARCH__LIMIT: search.limit: must be a whole number"),
        ("RAG_ASSETS__SEARCH__ALPHA", "inf", "RAG_ASSETS__SEARCH__ALPHA: search.alpha: must be a finite number"),
        ("RAG_ASSETS__REPOSITORIES", '["s3cr3t"]', "RAG_ASSETS__REPOSITORIES: repositories.0: must be a mapping with"),
        ("RAG_ASSETS__REPOSITORIES", "s3cr3t", "RAG_ASSETS__REPOSITORIES: must be JSON"),
    ],
)
def test_a_wrong_variable_is_named_and_not_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError) as caught:
        load_settings(written(tmp_path, "search: {limit: 3}\n"))
    assert str(caught.value).startswith(f"environment: {said}")
    assert "s3cr3t" not in str(caught.value)


def test_the_environment_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "embedder: {precision: fp32, threads: 2}\n")
    monkeypatch.setenv("RAG_ASSETS__EMBEDDER__PRECISION", "int8")
    found = load_settings(path).embedder
    assert (found.precision, found.threads) == ("int8", 2), "one variable changes one key"


@pytest.mark.parametrize(
    ("variable", "hint"),
    [("RAG_ASSETS__HOEM", "no setting 'hoem'; did you mean 'home'?"), ("RAG_ASSETS__QQQ", "valid: answer, ")],
)
def test_a_misspelled_variable_is_refused(monkeypatch: pytest.MonkeyPatch, variable: str, hint: str) -> None:
    monkeypatch.setenv(variable, "x")
    with pytest.raises(ConfigError, match="unknown variable") as caught:
        load_settings()
    assert hint in str(caught.value)


def test_the_file_is_found_from_below_and_paths_are_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repositories = "[{id: a, location: ../code, rule_packs: [generic, own.yaml]}, {id: b, location: 'git@host:x/y'}]"
    path = written(tmp_path, f"repositories: {repositories}\n")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert find_config() == path
    found = load_settings()
    assert found.home == tmp_path / ".rag_assets" == resolve_home()
    assert found.repository("a").location == str(tmp_path.parent / "code")
    assert found.repository("a").rule_packs == ("generic", str(tmp_path / "own.yaml"))
    assert found.repository("b").location == "git@host:x/y"


def test_a_named_file_that_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ASSETS_CONFIG", "nowhere.yaml")
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        load_settings()


def test_an_unknown_repository_names_a_near_one() -> None:
    settings = Settings(repositories=(RepositorySettings(id="shop", location="."),))
    with pytest.raises(ConfigError, match="did you mean 'shop'"):
        settings.repository("shpo")


PACK = """\
name: own
description: one rule more
extends: [generic]
rules:
  - {{name: gateways, order: 1, kind: Client, reason: by name, any: [{{name_matches: ["*{}"]}}]}}
"""
BASE = RepositorySettings(id="shop", location=".")


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"org": "acme"},
        {"org_namespace": "acme.eu"},
        {"project": "p"},
        {"include": ("src/",)},
        {"exclude": ("docs/",)},
        {"domains": ({"key": "k", "title": "T"},)},
        {"kinds": {"a/**": "Model"}},
        {"confidentiality": "restricted"},
        {"confidential_paths": {"a/**": "public"}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_changes_the_result_changes_the_configuration_hash(change: dict[str, Any]) -> None:
    changed = RepositorySettings(**(BASE.model_dump() | change))
    assert config_hash(Settings(), changed, "m") != config_hash(Settings(), BASE, "m")


@pytest.mark.parametrize(
    "change",
    [{"location": "/elsewhere"}, {"ref": "dev"}, {"eval_set": Path("questions.jsonl")}],
    ids=["location", "ref", "eval_set"],
)
def test_where_a_repository_lies_does_not(change: dict[str, Any]) -> None:
    assert config_hash(Settings(), BASE.model_copy(update=change), "m") == config_hash(Settings(), BASE, "m")


def test_how_a_build_is_measured_is_no_part_of_the_hash() -> None:
    """Another question set or tolerance must not build another index."""
    strict = Settings(evaluation={"k": 3, "tolerance": 0.0, "minimum": {"mrr": 0.5}})  # type: ignore[arg-type]
    assert config_hash(strict, BASE, "m") == config_hash(Settings(), BASE, "m")


@pytest.mark.parametrize(
    "text",
    ["{k: 0}", "{tolerance: 1.0}", "{tolerance: -0.1}", "{metrics: []}", "{metrics: [f1]}", "{minimum: {recall: 1.1}}"],
)
def test_rules_of_the_gate_that_mean_nothing_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="evaluation"):
        load_settings(written(tmp_path, f"evaluation: {text}\n"))


def test_a_question_set_lies_beside_the_configuration(tmp_path: Path) -> None:
    path = written(tmp_path, "repositories: [{id: a, location: ., eval_set: eval/a.jsonl}, {id: b, location: .}]\n")
    found = load_settings(path)
    assert [entry.eval_set for entry in found.repositories] == [tmp_path / "eval" / "a.jsonl", None]


def test_the_model_and_the_limits_are_part_of_the_hash() -> None:
    smaller = Settings(sources={"max_file_bytes": 10})  # type: ignore[arg-type]
    hashes = {config_hash(Settings(), BASE, "m"), config_hash(Settings(), BASE, "n"), config_hash(smaller, BASE, "m")}
    assert len(hashes) == 3


def test_a_rule_pack_counts_by_what_it_says(tmp_path: Path) -> None:
    pack = tmp_path / "own.yaml"
    pack.write_text(PACK.format("Gateway"), encoding="utf-8")
    own = BASE.model_copy(update={"rule_packs": (str(pack),)})
    before = config_hash(Settings(), own, "m")
    moved = tmp_path / "moved.yaml"
    moved.write_text(pack.read_text(encoding="utf-8"), encoding="utf-8")
    assert config_hash(Settings(), BASE.model_copy(update={"rule_packs": (str(moved),)}), "m") == before
    pack.write_text(PACK.format("Bridge"), encoding="utf-8")
    assert config_hash(Settings(), own, "m") != before
