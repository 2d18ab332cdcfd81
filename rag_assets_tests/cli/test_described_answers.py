"""What a model reads of a hit: its description first, then its source; both within the budget, both can be cited."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets.models.openai_compat.token_counting import estimate_tokens
from rag_assets.qa.actions.context_budget import SENTENCE_TOKENS
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.models.llm.model_server import Asked, ModelServer
from rag_assets_tests.qa.http_model import Script

SHOP = Path(__file__).parents[2] / "examples" / "shop"
PARTS = (
    "src/Fernhill.Shop.BackOffice/Suppliers.cs",
    "src/Fernhill.Shop.BackOffice/Metadata.cs",
    "src/Fernhill.Shop.BackOffice/BackOfficeDomain.cs",
    "src/Fernhill.Shop.BackOffice/Resources/BackOfficeResources.resx",
    "src/Fernhill.Shop.Infrastructure/Data/ShopDbContext.cs",
    "src/Fernhill.Shop.Api/Controllers/OrdersController.cs",
    "docs/handbook.md",
)
HOW = "How does Supplier CreateSummary make the row of the list view?"
WHAT = "What is Supplier?"
LABEL = "Nurseries and manufacturers with their terms and contacts."


@dataclass(frozen=True)
class BackOffice:
    """An index of a part of the example shop, made by the command line from a configuration file."""

    cli: CommandLine
    model: ModelServer

    def configure(self, **answer: Any) -> None:
        configured: dict[str, Any] = {
            "home": "home",
            "embedder": {"provider": "lexical-only"},
            "roles": {"guest": "public", "buyer": "internal"},
            "repositories": [
                {"id": "office", "location": "office", "rule_packs": ["lagovista"]},
                {
                    "id": "walled",
                    "location": "office",
                    "rule_packs": ["lagovista"],
                    "confidentiality": "public",
                    "confidential_paths": {"**/*.resx": "internal"},
                },
            ],
            "answer": {"base_url": self.model.url, "balanced": {"model": "m"}, "retries": 0, **answer},
        }
        (self.cli.folder / "rag_assets.yaml").write_text(json.dumps(configured), encoding="utf-8")

    def ask(
        self, question: str, says: Callable[[Asked], str], label: str = "office", role: str = "buyer"
    ) -> tuple[Any, list[str]]:
        """(the object of --json, the evidence of each prompt that an answer was asked with)."""
        script = Script(
            self.model,
            router=f"[BM25:] {question}",
            answer=lambda asked: f"[Answer:] {says(asked)}",
            context_summary="Suppliers.",
        )
        self.model.asked.clear()
        found = self.cli.run("ask", question, "--label", label, "--json", options=("--role", role)).json
        contexts = [asked.user.partition("<data-evidence-")[2].partition("\n")[2] for asked in script.asked("answer")]
        return found, [context.partition("\n</data-evidence-")[0] for context in contexts]


@pytest.fixture(scope="module")
def indexed_office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackOffice]:
    base = tmp_path_factory.mktemp("office")
    (base / "office").mkdir()
    for part in PARTS:
        (base / "office" / part).parent.mkdir(parents=True, exist_ok=True)
        if (SHOP / part).is_file():
            shutil.copy(SHOP / part, base / "office" / part)
    (base / "office" / "docs" / "handbook.md").write_text(
        "# Handbook\n\n## Suppliers\n\nSuppliers are paid within thirty days of the invoice.\n", encoding="utf-8"
    )
    Repository.new(base / "office", {})
    with ModelServer() as model:
        made = BackOffice(CommandLine(IndexHome(base / "home"), base), model)
        made.configure()
        made.cli.build(options=())
        yield made


@pytest.fixture
def office(indexed_office: BackOffice) -> BackOffice:
    indexed_office.configure()
    return indexed_office


def block_of(context: str, symbol: str) -> str:
    """What a prompt has of one symbol."""
    blocks = [block for block in context.split("<evidence ") if f'of="{symbol}' in block.partition(">")[0]]
    assert blocks, context
    return "<evidence ".join(blocks)


def id_of(context: str, symbol: str) -> str:
    return block_of(context, symbol).partition('id="')[2].partition('"')[0]


SUPPLIER = "Fernhill.Shop.BackOffice.Supplier"


@pytest.mark.rule("F02", "C08", "C11")
def test_evidence_begins_with_the_description_and_its_source_follows(office: BackOffice) -> None:
    _, (context,) = office.ask(HOW, lambda asked: "No.")
    told = block_of(context, f'{SUPPLIER}"')
    assert "- Domain: Purchasing" in told and "Somebody the shop buys from." in told, "a fact and a resolved text"
    assert "CreateSummary() => new() { Id = Id" in told
    assert told.index("# Model") < told.index("=> new()"), "of the part with the methods"
    assert told.index("- Domain: Purchasing") < told.index("[EntityDescription(\n"), "of the part that declares it"
    assert told.count("- Domain: Purchasing") == 1, "what two sections of one symbol say is said once"


@pytest.mark.rule("F02")
@pytest.mark.parametrize(
    ("question", "symbol", "fact"),
    [
        pytest.param("How does OrdersController GetAsync work?", "OrdersController.GetAsync", "404", id="endpoint"),
        pytest.param("How does ShopDbContext Categories work?", "Data.ShopDbContext", "- Entity: `", id="ef"),
        pytest.param(HOW, SUPPLIER, LABEL, id="resolved label"),
    ],
)
def test_facts_of_a_description_reach_the_prompt(office: BackOffice, question: str, symbol: str, fact: str) -> None:
    _, (context,) = office.ask(question, lambda asked: "No.")
    assert fact in "".join(block for block in context.split("<evidence ") if symbol in block.partition(">")[0])


@pytest.mark.rule("F02", "E19", "E21")
def test_a_quote_of_a_description_is_checked_and_cited_with_commit_file_and_lines(office: BackOffice) -> None:
    def says(asked: Asked) -> str:
        known = id_of(asked.user, f'{SUPPLIER}"')
        said = ("It is “Somebody the shop buys from.”", "It is “Somebody the shop buys for.”")
        return " ".join(f"{one} [chunk: {known}]" for one in said)

    found, _ = office.ask(WHAT, says)
    assert [one["support"] for one in found["checks"]] == ["supported", "altered quote"]
    (cited,) = found["citations"]
    assert (cited["path"], cited["line_start"]) == (PARTS[0], 6)
    assert cited["commit_sha"] and cited["rendered"].startswith(f"{PARTS[0]}:6-")


@pytest.mark.rule("F02", "R24", "D23")
@pytest.mark.parametrize("budget", [250, 700, 1_500])
def test_descriptions_and_sources_are_within_the_budget(office: BackOffice, budget: int) -> None:
    office.configure(max_context_tokens=budget)
    found, contexts = office.ask(WHAT, lambda asked: "No.")
    for context in contexts:
        assert 0 < estimate_tokens([context])[0] <= budget
    assert found["context_tokens"] <= budget


@pytest.mark.rule("F02")
def test_sources_give_way_to_descriptions_unless_the_question_asks_how(office: BackOffice) -> None:
    office.configure(max_context_tokens=4_500)
    _, (what,) = office.ask("supplier", lambda asked: "No.")
    _, (how,) = office.ask("how supplier", lambda asked: "No.")
    assert how.count("\nSource:\n") > what.count("\nSource:\n")
    assert min(what.count("- Domain: Purchasing"), how.count("- Domain: Purchasing")) > 0


def test_what_is_shown_is_not_shown_again_as_a_neighbour(office: BackOffice) -> None:
    _, (context,) = office.ask(HOW, lambda asked: "No.")
    assert context.count("/// <summary>A nursery or manufacturer that the shop buys from.</summary>") == 1


def test_a_text_that_is_its_own_description_is_given_once(office: BackOffice) -> None:
    _, (context,) = office.ask("How are Suppliers paid by the Handbook?", lambda asked: "No.")
    assert context.count("paid within thirty days") == 1


@pytest.mark.rule("F02", "E12")
def test_a_description_tells_a_role_nothing_above_its_level(office: BackOffice) -> None:
    office.configure(max_context_tokens=20_000)
    for role in ("guest", "buyer"):
        _, (context,) = office.ask(HOW, lambda asked: "No.", label="walled", role=role)
        told = block_of(context, f'{SUPPLIER}"')
        assert "- Domain: Purchasing" in told and LABEL not in told, "the file is for everybody, that text is not"
        assert (LABEL in context) is (role == "buyer"), "who may read it reads it where it is"


@pytest.mark.rule("F02", "E19", "E21")
@pytest.mark.parametrize(
    ("question", "symbol", "facts"),
    [
        ("What is ShopDbContext?", "ShopDbContext", ["StorageBackend: Sql", "Tables: messaging.Outbox"]),
        ("Which domain is the nursery Supplier of?", "Supplier", ["Domain: Purchasing"]),
        ("What is `Supplier`?", "Supplier", ["Domain: Purchasing", "Help: Somebody the shop buys from."]),
    ],
    ids=["ef", "domain", "resolved label"],
)
def test_without_a_model_facts_of_the_description_are_quoted_as_such_and_cited(
    office: BackOffice, question: str, symbol: str, facts: list[str]
) -> None:
    office.configure(threshold=0, sure=0)
    found = office.cli.run(
        "ask", question, "--label", "office", "--offline", "--json", options=("--role", "buyer")
    ).json
    assert found["provider"] == "extractive" and {one["support"] for one in found["checks"]} == {"supported"}
    told = found["answer"].partition(f"Description of `{symbol}` in ")[2]
    place, _, cited = told.partition("\n")[0].partition(" [chunk: ")
    assert (place, cited.rstrip("]")) in {(one["rendered"].partition("@")[0], one["id"]) for one in found["citations"]}
    assert all(fact in told.partition("> ")[2].partition("\n")[0] for fact in facts), found["answer"]


@pytest.mark.rule("F02", "E12")
def test_without_a_model_a_description_tells_a_role_nothing_above_its_level(office: BackOffice) -> None:
    words = ("ask", "Which watermark have the Terms of a Supplier?", "--label", "walled", "--offline", "--json")
    for role in ("guest", "buyer"):
        answer = office.cli.run(*words, options=("--role", role)).json["answer"]
        assert ("30 days net" in answer) is (role == "buyer")


@pytest.mark.rule("F13", "D23")
@pytest.mark.parametrize("budget", [200, 400, 900])
def test_a_summary_makes_no_more_calls_than_its_budget_has_room_for(office: BackOffice, budget: int) -> None:
    office.configure(max_context_tokens=budget)
    found, (context,) = office.ask("How do suppliers and orders work?", lambda asked: "No.")
    asked = [
        one.body["max_tokens"]
        for one in office.model.asked
        if one.body["messages"][0]["content"].startswith("Shorten evidence")
    ]
    assert asked and min(asked) >= SENTENCE_TOKENS
    assert sum(asked) <= budget
    assert context.startswith("Suppliers.") and estimate_tokens([context])[0] <= budget
    assert all(piece["id"] in context for piece in found["evidence"][: budget // 40]), "what is left out is still named"
