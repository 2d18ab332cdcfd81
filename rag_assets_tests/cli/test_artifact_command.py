"""`rag-assets artifact`: documents for people, files and programs, with and without a model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets_tests.cli.conftest import CommandLine, Indexed, new_repository
from rag_assets_tests.models.llm.model_server import ModelServer, completion

SUBJECT = "refund orders"
SERVICE = "src/Orders/OrderService.cs"
FILLED = ["# Overview", "## Features"]
"""Of the shop of the fixture without a model: it has neither folders that use each other, nor tables, nor routes."""
LEFT_OUT = "Left out, as nothing in the index fills them: Goals, Architecture, Data, Risks, Next Steps."
HEADINGS = ["# Overview", "## Goals", "## Architecture", "## Features", "## Risks", "## Next Steps"]


def headings(text: str) -> list[str]:
    return re.findall(r"^#.*$", text, re.MULTILINE)


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def configured(indexed: Indexed, folder: Path, model: ModelServer, **answer: Any) -> CommandLine:
    settings = {"base_url": model.url, "balanced": {"model": "m", "price_in": 1, "price_out": 1}, "retries": 0}
    (folder / "rag_assets.yaml").write_text(json.dumps({"answer": {**settings, **answer}}), encoding="utf-8")
    return CommandLine(indexed.cli.home, folder)


@pytest.mark.rule("E17", "E19")
def test_a_blueprint_without_a_model(indexed: Indexed) -> None:
    done = indexed.cli.run("artifact", "blueprint", SUBJECT)
    assert done.code == 0 and "quotes only" not in done.err
    assert done.out.startswith(f"{LEFT_OUT}\n\n# Overview\n") and done.out.count("Left out") == 1
    assert headings(done.out) == FILLED and "Nothing in the index" not in done.out
    assert "“Pays back what a customer returned.” [" in done.out and "[chunk:" not in done.out
    assert re.search(rf"^\[\d+\] {SERVICE}:\d+-\d+@", done.out, re.MULTILINE)
    assert done.out.rstrip().endswith("by architect  extractive")


def test_everything_is_the_subject_by_default(indexed: Indexed) -> None:
    found = indexed.cli.run("artifact", "pdr", "--json").json
    assert (found["type"], found["subject"], found["agent"], found["abstained"]) == (
        "pdr", "this brain", "product_owner", False
    )  # fmt: skip
    assert "Orders, invoices and more." in found["sections"][0]["text"]


def test_one_object_for_programs(indexed: Indexed) -> None:
    found = indexed.cli.run("artifact", "blueprint", SUBJECT, "--json").json
    assert [section["heading"] for section in found["sections"]] == FILLED
    assert found["left_out"] == ["Goals", "Architecture", "Data", "Risks", "Next Steps"]
    told = "\n\n".join(f"{one['heading']}\n\n{one['text']}" for one in found["sections"])
    assert found["text"] == f"**{LEFT_OUT}**\n\n{told}"
    assert {f"[chunk: {one['id']}]" in found["text"] for one in found["citations"]} == {True}
    assert (found["provider"], found["usage"]) == ("extractive", None)
    assert found["lock"]["agent"] == "architect" and found["steps"][0]["step"] == "fetch"


@pytest.mark.parametrize("kind", ["build_plan", "build-plan", "Build Plan", "BUILD_PLAN"])
def test_a_type_may_be_written_as_people_do(indexed: Indexed, kind: str) -> None:
    assert indexed.cli.run("artifact", kind, SUBJECT, "--json").json["type"] == "build_plan"


@pytest.mark.rule("R26")
def test_a_file_has_footnotes(indexed: Indexed, tmp_path: Path) -> None:
    target = tmp_path / "plan.md"
    done = indexed.cli.run("artifact", "blueprint", SUBJECT, "--output", target)
    assert done.code == 0 and done.out == f"written to {target}\n"
    text = target.read_text(encoding="utf-8")
    assert headings(text) == FILLED and "[chunk:" not in text
    used, defined = set(re.findall(r"\[\^(\d+)\](?!:)", text)), set(re.findall(r"^\[\^(\d+)\]: ", text, re.MULTILINE))
    assert used == defined != set()
    again = indexed.cli.run("artifact", "blueprint", SUBJECT, "--output", target)
    assert again.code == 2 and "add --force" in again.err
    assert indexed.cli.run("artifact", "blueprint", SUBJECT, "--output", target, "--force").code == 0
    assert target.read_text(encoding="utf-8") == text


@pytest.mark.rule("E20", "E22")
@pytest.mark.parametrize("as_json", [False, True], ids=["people", "programs"])
def test_a_refusal_has_a_code_of_its_own_and_writes_nothing(indexed: Indexed, tmp_path: Path, as_json: bool) -> None:
    target = tmp_path / "none.md"
    arguments = ["artifact", "workflow", "zeppelin mooring", "-o", str(target), *(["--json"] if as_json else [])]
    done = indexed.cli.run(*arguments)
    assert done.code == 4 and not target.exists()
    if as_json:
        assert (done.json["abstained"], done.json["sections"], done.json["output"]) == (True, [], None)
        assert done.json["left_out"] == []
    else:
        assert done.out.startswith("I don’t see enough information in this brain to answer that yet.")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["blueprnt", "x"], 2, "did you mean 'blueprint'?", id="type"),
        pytest.param(["answer", "x"], 2, "no artifact 'answer'", id="answers are no artifacts"),
        pytest.param(["pdr", "  "], 2, "the subject is empty", id="blank"),
        pytest.param(["pdr", SUBJECT, "--agent", "architect"], 1, "writes blueprint, not pdr", id="another type"),
        pytest.param(["pdr", SUBJECT, "--agent", "nobody"], 1, "no agent 'nobody'", id="no agent"),
        pytest.param(["pdr", SUBJECT, "--label", "nope"], 1, "no label 'nope'", id="label"),
        pytest.param(["pdr", SUBJECT, "-o", "no/where.md"], 2, "there is no folder no", id="folder"),
        pytest.param(["pdr", SUBJECT, "-o", "."], 2, "is a folder; name a file in it", id="a folder"),
    ],
)
def test_what_it_refuses_to_do(indexed: Indexed, arguments: list[str], code: int, said: str) -> None:
    done = indexed.cli.run("artifact", *arguments)
    assert done.code == code
    assert said in " ".join(done.err.replace("│", " ").split())


@pytest.mark.rule("E15", "E18")
def test_a_model_of_the_agents_profile_writes(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    def respond(asked: Any) -> Any:
        identifier = asked.user.split('<evidence id="')[1].partition('"')[0]
        text = "\n\n".join(
            f"{heading}\n\nIt “Cancels and refunds orders.” [chunk: {identifier}]" for heading in HEADINGS
        )
        return completion(text)

    model.respond = respond
    cli = configured(indexed, tmp_path, model, premium={"model": "large", "max_tokens": 2_000})
    found = cli.run("artifact", "blueprint", "OrderService", "--json").json
    assert (found["provider"], model.asked[0].body["model"], model.asked[0].body["max_tokens"]) == (
        "large", "large", 2_000
    )  # fmt: skip
    assert found["usage"]["llm_prompt_tokens"] == 100 and not found["abstained"]


def test_a_failing_model_is_said_and_the_quotes_stand(indexed: Indexed, tmp_path: Path, model: ModelServer) -> None:
    model.respond = lambda _: completion("no document at all")
    done = configured(indexed, tmp_path, model).run("artifact", "blueprint", SUBJECT)
    assert done.code == 0 and headings(done.out) == FILLED
    assert "quotes only, the model gave no artifact: what it wrote is no Blueprint" in done.err
    offline = configured(indexed, tmp_path, model).run("artifact", "blueprint", SUBJECT, "--offline")
    assert "no document" not in offline.err and headings(offline.out) == FILLED
    assert len(model.asked) == 2


def test_an_agent_of_ones_own(indexed: Indexed, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "agent: {name: mine, persona: Me., output_type: blueprint, filters: {source_types: [document]}}",
        encoding="utf-8",
    )
    found = indexed.cli.run("artifact", "blueprint", "--agent", file, "--json").json
    assert found["agent"] == "mine"
    assert {one["path"] for one in found["citations"]} == {"README.md"}


PAYBACK = {
    "src/Orders/RefundManager.cs": """\
namespace Shop.Orders;

/// <summary>Decides about refunds.</summary>
public class RefundManager : IRefundManager
{
    public RefundManager(IPaymentGateway gateway) { }

    /// <summary>Pays a refund back.</summary>
    public bool Refund(int order) => true;
}
""",
    "src/Orders/IRefundManager.cs": "namespace Shop.Orders;\n\npublic interface IRefundManager { bool Refund(int a); }",
    "src/Orders/IPaymentGateway.cs": "namespace Shop.Orders;\n\npublic interface IPaymentGateway { void Send(); }\n",
    "tests/Shop.Tests/Monday.cs": """\
namespace Shop.Tests;

public class Monday
{
    [Fact]
    public void Everything_is_fine()
    {
        var it = new RefundManager(null);
        it.Refund(1);
    }
}
""",
    **{f"docs/refund{n}.md": f"# Refund rule {n}\n\nA refund of kind {n} is paid in {n} days.\n" for n in range(30)},
}


@pytest.mark.rule("F14")
def test_an_artifact_lists_the_tests_and_the_participants_that_the_graph_knows(cli: CommandLine) -> None:
    """The test has none of the words of the subject in its name, and thirty documents are found before it."""
    source = new_repository(cli.folder / "payback", dict(PAYBACK))
    cli.build(source.path, lexical_only=True)
    plan = cli.run("artifact", "build_plan", "refunds", "--offline").out
    tests = plan.partition("## Tests")[2].partition("\n## ")[0]
    assert "Monday probably tests RefundManager in tests/Shop.Tests/Monday.cs:" in tests
    assert "Everything_is_fine in tests/Shop.Tests/Monday.cs:" in tests
    workflow = cli.run("artifact", "workflow", "refunds", "--offline").out
    participants = workflow.partition("## Participants")[2].partition("\n## ")[0]
    assert "RefundManager is given IPaymentGateway in src/Orders/RefundManager.cs:" in participants
