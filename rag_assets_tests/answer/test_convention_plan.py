"""How something is added, named or registered is answered by the form that most of its sort have."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_analysis import convention_noun
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository


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
    base = tmp_path_factory.mktemp("convention-plan")
    home = IndexHome(base / "home")
    index_without_dagster(home, new_repository(base / "shop", {**FILES}), "shop")
    with open_index("shop@main", home=home.root) as index:
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
        ("which validators are there?", ""),
    ],
)
def test_questions_for_a_convention(question: str, noun: str) -> None:
    assert convention_noun(question) == noun
