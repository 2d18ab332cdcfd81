"""How something is added, named or registered is answered by the form that most of its sort have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_kinds import convention_noun
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index


def validator(name: str, base: str = "ShopValidator<int>") -> str:
    return f"namespace Shop;\n\npublic class {name}Validator : {base}\n{{\n}}\n"


ENDPOINTS = """namespace Shop;

public static class {0}
{{
    public static void Map{0}(WebApplication app)
    {{
        app.MapGet("{1}", () => 1);
        app.MapPost("{2}", (int id) => id);
    }}
}}
"""
FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "src/Core/ShopValidator.cs": "namespace Shop;\n\npublic abstract class ShopValidator<T>\n{\n}\n",
    "src/Orders/OrderValidator.cs": validator("Order"),
    "src/Orders/RefundValidator.cs": validator("Refund"),
    "src/Baskets/BasketValidator.cs": validator("Basket"),
    "src/Mails/MailValidator.cs": validator("Mail", "OtherThing"),
    "src/Jobs/NightJob.cs": "namespace Shop;\n\npublic class NightJob : IJob\n{\n}\n",
    "src/Jobs/DayJob.cs": "namespace Shop;\n\npublic class DayJob : IJob\n{\n}\n",
    "src/Web/Startup.cs": """\
namespace Shop;

public class Startup
{
    public void ConfigureServices(IServiceCollection services)
    {
        services.AddAllOf(typeof(ShopValidator<>));
    }
}
""",
    "tests/FakeValidator.cs": validator("Fake"),
    "src/Web/Orders.cs": ENDPOINTS.format("Orders", "/register", "/orders/{id}"),
    "src/Web/Baskets.cs": ENDPOINTS.format("Baskets", "/baskets", "/baskets/{id}"),
}
USUAL = "Usual form, 3 of 4 derive from ShopValidator"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("convention-plan"), FILES, "shop") as index:
        yield index


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    "question", ["how are validators named?", "how do I add a new validator?", "how are the validators registered"]
)
def test_the_commonest_form_with_three_places(shop: Index, question: str) -> None:
    answer = shop.ask(question, options=AskOptions())
    assert {one.support for one in answer.checks} == {Support.SUPPORTED}
    told, _, rest = answer.text.removeprefix(f"**{USUAL}:**\n").partition("\n\n**Registered in:**\n")
    assert {line.split("**")[1] for line in told.splitlines()} == {
        "OrderValidator",
        "RefundValidator",
        "BasketValidator",
    }
    assert rest.startswith("- **Startup.ConfigureServices** registers **ShopValidator** in src/Web/Startup.cs:7: ")


@pytest.mark.parametrize("question", ["how are new endpoints registered?", "How do I add an endpoint?"])
def test_what_the_graph_lists_is_shown_by_three_of_several_files(shop: Index, question: str) -> None:
    answer = shop.ask(question, options=AskOptions())
    assert {one.support for one in answer.checks} == {Support.SUPPORTED}
    told = answer.text.removeprefix("**4 endpoints, for example:**\n").partition("\n\n")[0].splitlines()
    assert len(told) == 3 and all(line.startswith("- **") and ": `app.Map" in line for line in told)
    assert {line.partition(" in ")[2].partition(":")[0] for line in told} == {"src/Web/Orders.cs", "src/Web/Baskets.cs"}


RUST = {
    "src/import.rs": "pub trait Importer {\n    fn load(&self);\n}\n\npub struct History;\n",
    **{
        f"src/{name.lower()}.rs": f"pub struct {name};\n\nimpl Importer for {name} {{\n    fn load(&self) {{}}\n}}\n"
        for name in ("Bash", "Fish", "Zsh")
    },
}


def test_the_form_of_languages_that_say_elsewhere_what_a_type_implements(tmp_path: Path) -> None:
    with opened_index(tmp_path, RUST, "shell") as index:
        told = index.ask("how do I add a new importer?", options=AskOptions()).text
    assert told.startswith("**Usual form, 3 of 3 derive from Importer:**\n- **Bash** in src/bash.rs:3: `impl Importer")


@pytest.mark.parametrize("question", ["how are jobs named?", "how are orders validated?", "how do I add a voucher?"])
def test_two_of_a_sort_are_no_convention(shop: Index, question: str) -> None:
    assert "Usual form" not in shop.ask(question, options=AskOptions(threshold=0.0)).text


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("how are handlers registered", "handler"),
        ("how do I add a new command handler?", "command handler"),
        ("how should repositories be named?", "repository"),
        ("how are orders placed by a customer?", ""),
        ("how do I add a voucher to a basket that is paid?", ""),
        ("how do I write a new importer for a shell?", "importer"),
        ("how do I write a new order for the customer who asked?", ""),
        ("how do I add a product for a customer?", ""),
        ("which validators are there?", ""),
    ],
)
def test_questions_for_a_convention(question: str, noun: str) -> None:
    assert convention_noun(question) == noun


@pytest.mark.parametrize("question", ["How do I add a manager?", "How do I add a new manager to this project?"])
def test_what_is_registered_one_by_one_is_shown_so(tmp_path: Path, question: str) -> None:
    names = ("Stamp", "Letter", "Parcel")
    files = {
        f"src/{name}s/{name}Manager.cs": f"namespace Post;\n\npublic class {name}Manager : ManagerBase\n"
        "{\n    public void Run() { }\n}\n"
        for name in names
    }
    files["src/Startup.cs"] = (
        "namespace Post;\n\npublic static class Startup\n{\n    public static void Configure(IServices services)\n"
        "    {\n"
        + "".join(f"        services.AddScoped<I{one}Manager, {one}Manager>();\n" for one in names)
        + "    }\n}\n"
    )
    with opened_index(tmp_path, files, "post") as index:
        text = index.ask(question, options=AskOptions()).text
    assert text.startswith("**Usual form, 3 of 3 derive from ManagerBase:**")
    assert [f"registers **{name}Manager** in src/Startup.cs:{line}" in text for line, name in enumerate(names, 7)] == [
        True
    ] * 3
