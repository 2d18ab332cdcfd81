"""What people type that is no plain question about the code: thanks, punctuation, other languages, pasted code, several
questions at once; asked from the command line without a model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rag_assets.answer.abstention import SENTENCE
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository

SHOP = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The example shop, indexed by the command line, with a page that thanks and greets."""
    base = tmp_path_factory.mktemp("bad-questions")
    shutil.copytree(SHOP, base / "shop")
    repository = Repository(base / "shop")
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit({"pages/thanks.md": "# Thanks!\n\nHello, thanks for your order. You are not stupid.\n"})
    made = CommandLine(IndexHome(base / "home"), base)
    done = made.run("index", repository.path, "--lexical-only")
    assert done.code == 0, done.err
    return made


@pytest.mark.parametrize(
    ("typed", "reason", "instead"),
    [
        ("thanks!", "asks nothing about what is indexed", "what is this project about?"),
        ("Hello", "asks nothing about what is indexed", "what is this project about?"),
        ("you are stupid", "asks nothing about what is indexed", "what is this project about?"),
        ("what can you do?", "asks nothing about what is indexed", "what is this project about?"),
        ("???", "the question has no word", "name what it is about"),
        ("where is it", "does not say what it is about", "name what it is about"),
        ("path:src", "only a filter", "rag-assets search path:src"),
    ],
)
def test_what_asks_nothing_is_no_search(cli: CommandLine, typed: str, reason: str, instead: str) -> None:
    done = cli.run("ask", typed, "--json")
    assert (done.code, done.json["answer"], done.json["citations"]) == (4, SENTENCE, [])
    assert reason in done.json["reason"]
    assert len(done.json["suggestions"]) == 1 and instead in done.json["suggestions"][0]
    assert "ingest" not in done.out


@pytest.mark.parametrize(
    ("typed", "language", "told"),
    [
        ("Wo wird IOrderRepository.FindByNumberAsync aufgerufen?", "German", "calls"),
        ("Où est utilisé OrderRepository ?", "French", "OrderRepository"),
        ("¿Qué hace OrderRepository?", "Spanish", "class OrderRepository"),
        ("Cosa fa OrderRepository?", "Italian", "class OrderRepository"),
        ("Wat doet OrderRepository?", "Dutch", "class OrderRepository"),
        ("O que faz OrderRepository?", "Portuguese", "class OrderRepository"),
        ("Co robi OrderRepository i gdzie jest?", "Polish", "class OrderRepository"),
        ("OrderRepository是什么?", "Chinese", "class OrderRepository"),
    ],
)
def test_another_language_is_answered_by_its_names(cli: CommandLine, typed: str, language: str, told: str) -> None:
    done = cli.run("ask", typed)
    assert done.code == 0 and told in done.out, done.out
    assert done.err.count(f"the question seems to be {language}, and without a model the index reads English") == 1


@pytest.mark.parametrize("typed", ["Wie lange kocht man Nudeln?", "如何煮面条?", "Comment est cuite la pâte ?"])
def test_another_language_without_a_name_names_no_word_as_missing(cli: CommandLine, typed: str) -> None:
    done = cli.run("ask", typed, "--json")
    assert done.code == 4 and "no section has the words" not in done.json["reason"]
    assert "ask in English" in done.json["suggestions"][-1] and "ingest" not in str(done.json["suggestions"])


@pytest.mark.parametrize(
    "typed",
    ["what is die casting?", "where is the locale de-DE read", "list all El Nino orders", "der Order"],
)
def test_english_with_foreign_words_stays_english(cli: CommandLine, typed: str) -> None:
    assert "seems to be" not in cli.run("ask", typed).err


def test_only_what_a_question_is_about_is_missing(cli: CommandLine) -> None:
    done = cli.run("ask", "how often is the frobnication of zebras calculated?", "--json")
    assert done.code == 4
    assert done.json["reason"].endswith("no section has the words frobnication, zebra")
    assert "about frobnication, zebra;" in done.json["suggestions"][-1]
