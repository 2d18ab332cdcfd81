"""What speaks for or against a file by its path."""

from __future__ import annotations

import pytest

from rag_assets.index.keyword.terms import query_terms
from rag_assets.index.vectors.vector_api import FileRef
from rag_assets.search.ranking.penalties import (
    ASSISTANT_DEMOTION,
    DEMOTION,
    DOCUMENT_DEMOTION,
    QUESTION_DOCUMENT_DEMOTION,
    TEMPLATE_DEMOTION,
    TEXTS_DEMOTION,
    TOOLING_DEMOTION,
    TYPES_DEMOTION,
    BesideProduct,
    asked_for,
    demotion,
    is_readme,
    is_test_path,
    non_product_code,
    older_versions,
)
from rag_assets.search.ranking.signals import is_named, may_say, name_shares


@pytest.mark.parametrize(
    ("path", "side"),
    [
        ("src/Orders/OrderService.cs", None),
        ("tests/Shop/OrderFactory.cs", BesideProduct.TEST),
        ("cypress/e2e/login.cy.ts", BesideProduct.TEST),
        ("web/__snapshots__/order.tsx.snap", BesideProduct.TEST),
        ("integration/adapt/redirects.caddyfiletest", BesideProduct.TEST),
        ("release/VERSION.latest", None),
        ("src/Api.Prints.verified.txt", BesideProduct.TEST),
        ("po/messages-en_GB.po", BesideProduct.TRANSLATION),
        ("src/locale/messages.xlf", BesideProduct.TRANSLATION),
        ("src/Texts.pt-BR.resx", BesideProduct.TRANSLATION),
        ("src/messages_fa.properties", BesideProduct.TRANSLATION),
        ("src/Localization/Core/zh_CN.json", BesideProduct.TRANSLATION),
        ("web/lang/messages/common.de.json", BesideProduct.TRANSLATION),
        ("backend/i18n/source/backend_zh.json", BesideProduct.TRANSLATION),
        ("web/locales/shop-pt-BR.yml", BesideProduct.TRANSLATION),
        ("src/Localization/Core/cs.json", BesideProduct.TRANSLATION),
        ("src/Localization/Core/cs.cs", None),
        ("website/i18n/zh-Hant/docs/start.md", BesideProduct.TRANSLATION),
        ("docs/de/docs/start.md", BesideProduct.TRANSLATION),
        ("app/res/values-pt-rBR/strings.xml", BesideProduct.TRANSLATION),
        ("App/fr.lproj/Main.strings", BesideProduct.TRANSLATION),
        ("README.zh-CN.md", BesideProduct.TRANSLATION),
        ("seeddata/dev/tickets.json", BesideProduct.DATA),
        ("src/Shop/Seeding/products.json", BesideProduct.DATA),
        ("src/Data/cities.csv", BesideProduct.DATA),
        ("seeddata/Generator/Ticket.cs", None),
        ("src/data/appsettings.json", None),
        ("docs/en/docs/start.md", None),
        ("src/locale/en.json", None),
        ("src/Texts.resx", None),
        ("docs/cs/start.md", None),
        ("docs/img/bg.svg", None),
        ("src/it/Order.cs", None),
        ("data/id.json", None),
        ("i18n/source/backend_en.json", None),
        ("src/languages/do_it.py", None),
        ("src/languages/csharp/parse.py", None),
        ("src/Localization/Localizer.cs", None),
        ("do_it.py", None),
        ("test/Shop.UnitTests/OrderFactory.cs", BesideProduct.TEST),
        ("src/ShopTests/OrderFactory.cs", BesideProduct.TEST),
        ("src/Orders/OrderServiceTests.cs", BesideProduct.TEST),
        ("src/Orders/OrderServiceTest.java", BesideProduct.TEST),
        ("pkg/orders/order_test.go", BesideProduct.TEST),
        ("web/order.spec.ts", BesideProduct.TEST),
        ("web/__tests__/order.ts", BesideProduct.TEST),
        ("shop/test_orders.py", BesideProduct.TEST),
        ("shop/conftest.py", BesideProduct.TEST),
        ("test.c", BesideProduct.TEST),
        ("mill", BesideProduct.WRAPPER),
        ("src/mill.c", None),
        ("test.sh", None),
        ("plugins/build/version.bats", BesideProduct.TEST),
        ("src/Shop.UnitTests.Viewer/Pages/Basket.razor", BesideProduct.TEST),
        ("src/ShopTests.Sql/Orders.cs", BesideProduct.TEST),
        ("src/Contests.Web/Contest.cs", None),
        ("TestHarness/Web/Program.cs", BesideProduct.TEST),
        ("src/test-helpers/orders.ts", BesideProduct.TEST),
        ("src/Helpers/Orders.cs", None),
        ("src/Contests/Contest.cs", None),
        ("src/Latest/TestRun.cs", None),
        ("src/Inspections/Test.cs", None),
        ("samples/Console/Program.cs", BesideProduct.SAMPLE),
        ("src/Shop.SampleData/Phones/reset.sql", BesideProduct.SAMPLE),
        ("src/test-resources/orders.xml", BesideProduct.TEST),
        ("src/Shop.Data/Orders.cs", None),
        ("docs/examples/shop.cs", BesideProduct.SAMPLE),
        ("src/main/java/com/example/demo/Orders.java", None),
        ("server/mvnw.cmd", BesideProduct.WRAPPER),
        ("gradle/wrapper/gradle-wrapper.properties", None),
        ("src/test/java/org/shop/samples/Orders.java", BesideProduct.TEST),
        ("samples/shop/src/main/kotlin/com/shop/Orders.kt", BesideProduct.SAMPLE),
        ("src/main/java/org/shop/orders/examples/Orders.java", BesideProduct.SAMPLE),
        ("src/Shop.Benchmarks/Parsing.cs", BesideProduct.BENCHMARK),
        ("test/Shop.Benchmarks/Parsing.cs", BesideProduct.BENCHMARK),
        ("Program.cs", None),
        ("", None),
    ],
)
def test_a_path_says_what_a_file_is(path: str, side: BesideProduct | None) -> None:
    assert non_product_code(path) is side
    assert is_test_path(path) is (side is BesideProduct.TEST)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("tests of the basket", {BesideProduct.TEST}),
        ("which tests cover partial refunds of a parcel", {BesideProduct.TEST}),
        ("refund policy unit tests", {BesideProduct.TEST, BesideProduct.DOCUMENT}),
        ("where does the readme say how to install it", {BesideProduct.DOCUMENT}),
        ("How do I limit refunds?", {BesideProduct.DOCUMENT}),
        ("how are refunds limited", set()),
        ("OrderServiceTests", {BesideProduct.TEST}),
        ("round totals up and add tests for it", set()),
        ("who writes the german translations of the mails", {BesideProduct.TRANSLATION}),
        ("samples and benchmarks", {BesideProduct.SAMPLE, BesideProduct.BENCHMARK}),
        ("how is the latest contest decided", set()),
        ("", set()),
    ],
)
def test_a_question_says_what_it_is_for_at_its_beginning(text: str, sides: set[BesideProduct]) -> None:
    assert asked_for(text) == sides


@pytest.mark.parametrize(
    ("path", "asked", "factor"),
    [
        ("tests/OrderTests.cs", set(), DEMOTION),
        ("tests/OrderTests.cs", {BesideProduct.TEST}, 1.0),
        ("tests/OrderTests.cs", {BesideProduct.SAMPLE}, DEMOTION),
        ("samples/Shop.cs", {BesideProduct.SAMPLE}, 1.0),
        ("src/Order.cs", {BesideProduct.TEST}, 1.0),
        ("docs/Orders.MD", set(), DOCUMENT_DEMOTION),
        ("docs/orders.md", {BesideProduct.DOCUMENT}, 1.0),
        ("tests/orders.md", {BesideProduct.DOCUMENT}, DEMOTION),
        ("web/templates/order.HTML", set(), TEMPLATE_DEMOTION),
        ("web/templates/order.html", {BesideProduct.TEMPLATE}, 1.0),
        ("src/Texts.resx", set(), TEXTS_DEMOTION),
        ("App/Themes/StringResources.en.xaml", set(), TEXTS_DEMOTION),
        ("web/i18n/en-US.json", set(), TEXTS_DEMOTION),
        ("lang/en/settings.php", set(), TEXTS_DEMOTION),
        ("web/locales/en/common.json", set(), TEXTS_DEMOTION),
        ("src/lang/english_parser.py", set(), 1.0),
        ("src/locales/en/load.ts", set(), 1.0),
        ("app/src/main/res/values/strings.xml", {BesideProduct.TEXTS}, 1.0),
        ("App/Windows/Editor.xaml", set(), 1.0),
        ("web/en.ts", set(), 1.0),
        (".gitattributes", set(), TOOLING_DEMOTION),
        ("docs/classes.puml", set(), TOOLING_DEMOTION),
        (".claude/skills/orders/SKILL.md", {BesideProduct.DOCUMENT}, TOOLING_DEMOTION),
        (".claude/skills/orders/SKILL.md", asked_for("where does the tool look for orders?"), ASSISTANT_DEMOTION),
        ("src/AGENTS.md", set(), ASSISTANT_DEMOTION),
        ("CLAUDE.md", asked_for("which coding style should new orders have?"), DOCUMENT_DEMOTION),
        (".codex/config.toml", set(), ASSISTANT_DEMOTION),
        ("src/Agents/Claude.cs", set(), 1.0),
        (".devcontainer/README.md", {BesideProduct.DOCUMENT}, 1.0),
        (".github/instructions/orders.instructions.md", {BesideProduct.DOCUMENT}, TOOLING_DEMOTION),
        (".github/copilot-tests.md", {BesideProduct.DOCUMENT}, TOOLING_DEMOTION),
        (".github/CONTRIBUTING.md", {BesideProduct.DOCUMENT}, 1.0),
        (".docs/orders.md", {BesideProduct.DOCUMENT}, 1.0),
        ("docs/classes.puml", asked_for("what does the class diagram say of an order"), 1.0),
    ],
    ids=[
        *("not asked for", "asked for", "asked for something else", "a sample", "the product"),
        *("a document", "a document that is asked for", "a document of tests"),
        *("a template", "a template that is asked for"),
        *("texts of .NET", "texts of XAML", "texts of a front end", "texts of PHP in a folder", "texts in a folder"),
        *("a language of code", "code of a folder of texts", "texts that are asked for", "a window", "no texts"),
        *(
            "settings of git",
            "a diagram",
            "a skill of an assistant",
            "a skill, where the product is asked about",
            "what assistants are told",
            "what people are told there too",
            "settings of an assistant",
            "code that is called so",
            "a guide of a development container",
            "instructions of an assistant",
            "a file of Copilot",
            "a guide of GitHub",
        ),
        *("a hidden folder of documents", "a diagram that is asked for"),
    ],
)
def test_what_is_beside_the_product_counts_less_unless_it_is_asked_for(
    path: str, asked: set[BesideProduct], factor: float
) -> None:
    assert demotion(path, asked) == factor


@pytest.mark.parametrize(
    ("path", "question", "factor"),
    [
        ("src/IBasket.cs", "how does a basket expire", TYPES_DEMOTION),
        ("src/types/store.ts", "how are listeners told", TYPES_DEMOTION),
        ("src/types.ts", "how are listeners told", TYPES_DEMOTION),
        ("web/shop.d.ts", "how are listeners told", TYPES_DEMOTION),
        ("src/IBasket.cs", "what may IBasket do", 1.0),
        ("src/IBasket.cs", "which interface has a basket", 1.0),
        ("src/Invoice.cs", "how is an invoice rounded", 1.0),
        ("src/IOStreams.cs", "how is an invoice rounded", 1.0),
        ("src/prototypes/store.ts", "how are listeners told", 1.0),
        ("docs/orders.md", "how is an order cancelled", QUESTION_DOCUMENT_DEMOTION),
        ("docs/orders.md", "how do I cancel an order", 1.0),
        ("tests/OrderTests.cs", "how is an order cancelled", DEMOTION),
        ("web/templates/order.html", "which page shows an order", 1.0),
    ],
)
def test_a_question_is_answered_by_what_does_it_and_by_documents(path: str, question: str, factor: float) -> None:
    assert demotion(path, asked_for(question), query_terms(question)) == factor


TODAY = "web/docs/guide/retry.md"
BEFORE = ["web/versioned_docs/version-1.4/guide/retry.md", "web/versioned_docs/version-2.0/guide/retry.md"]
OLD, NEW = "packages/core/v3/types.ts", "packages/core/v4/core/parse.ts"


@pytest.mark.parametrize(
    ("paths", "question", "older"),
    [
        ([OLD, NEW], "how are values parsed", {OLD}),
        ([TODAY, *BEFORE], "how to retry", {*BEFORE}),
        ([TODAY, *BEFORE], "how to retry in version 2", {BEFORE[0]}),
        ([BEFORE[0], BEFORE[1]], "how to retry", {BEFORE[0]}),
        ([OLD, NEW], "what was new in v3", set()),
        ([OLD, "packages/web/v4/parse.ts"], "how are values parsed", set()),
        ([OLD], "how are values parsed", set()),
        (["docs/quartz-3.x/a.md", "docs/quartz-4.x/a.md"], "retry", {"docs/quartz-3.x/a.md"}),
        (["api/v1.9/a.cs", "api/v1.10/a.cs"], "retry", {"api/v1.9/a.cs"}),
        (["sql/a.sql", "up/x--1.9--1.10.sql", "up/x--1.8--1.9.sql"], "retry", {"up/x--1.8--1.9.sql"}),
        (["2023/09/a.md", "2024/01/a.md", "chapter-1/a.md", "chapter-2/a.md"], "retry", set()),
        (["vendor/a.go", "v/a.go", "via2/a.go"], "retry", set()),
    ],
    ids=[
        *("a newer one is there", "pages of today", "pages of a version", "versions of pages"),
        *("asked for", "of something else", "alone"),
        *("of documents", "by number, not by letters", "upgrades of an extension", "dates and chapters", "no versions"),
    ],
)
def test_an_older_version_is_told_by_the_newer_one_beside_it(paths: list[str], question: str, older: set[str]) -> None:
    places = [FileRef("shop@main", path) for path in paths]
    others = [FileRef("shop@next", NEW.replace("v4", "v9"))]  # another label is no newer version
    assert {place.path for place in older_versions([*places, *others], query_terms(question))} == older


@pytest.mark.parametrize(
    ("path", "asked", "named"),
    [
        ("src/JsonReader.cs", {"how", "json", "reader", "read"}, True),
        ("src/JsonReaders.cs", {"json", "reader"}, True),
        ("src/JsonTextReader.cs", {"json", "reader"}, False),
        ("src/Mapper.Async.cs", {"async", "mapper"}, True),
        ("src/IAppLogger.cs", {"app", "logger"}, True),
        ("src/IOStream.cs", {"stream"}, False),
        ("src/I.cs", {"i"}, True),
        ("README.md", {"readme"}, True),
        ("Makefile", {"makefile"}, False),
        ("src/_.cs", {"json"}, False),
        ("", {"json"}, False),
    ],
    ids=[
        "all words",
        "a plural",
        "a word more",
        "two parts",
        "an interface",
        "IO",
        "only I",
        "no code",
        "no ending",
        "no words",
        "no path",
    ],
)
def test_a_file_is_named_by_all_words_of_its_name(path: str, asked: set[str], named: bool) -> None:
    assert is_named(path, asked) is named


def test_whose_names_may_say_a_term_is_seen_in_their_letters() -> None:
    """No name with one of the terms is left out: plurals, parts of names, letters that are composed or lowered."""
    ascii_ = ("Queries", "Classes", "IJsonReader", "json_reader", "HTTPServer2", "a", "Boxes", "Makefile")
    other = ("İstanbul", "Über", "Re\u0301sume\u0301")  # one of them is decomposed
    places = [FileRef("shop@main", f"src/json/{name}.cs") for name in (*ascii_, *other)]
    plain = ("query", "class", "json", "reader", "http", "server", "2", "a", "box", "y", "boxe", "querie", "makefile")
    terms = (*plain, "i̇stanbul", "über", "résumé")
    for term in terms:
        without = [place for place in places if place not in may_say(places, [term])]
        assert name_shares(without, said(term), lambda _: 1.0) == {}, term
    assert [place.path for place in may_say(places[: len(ascii_)], ["query", "server"])] == [
        "src/json/Queries.cs",
        "src/json/HTTPServer2.cs",
    ]


def shares(said: dict[str, str], *paths: str) -> dict[str, float]:
    """Of files in one label where `common` has an idf of 1 and every other word one of 4."""
    places = [FileRef("shop@main", path) for path in paths]
    return {
        place.path: round(share, 3)
        for place, share in name_shares(places, said, lambda term: 1.0 if term == "common" else 4.0).items()
    }


def said(*words: str) -> dict[str, str]:
    return {word: word for word in words}


@pytest.mark.parametrize(
    ("asked", "paths", "expected"),
    [
        (said("json", "reader"), ["JsonReader.cs", "JsonText.cs"], {"JsonReader.cs": 1.0, "JsonText.cs": 0.125}),
        (said("json", "common"), ["Json.cs", "Common.cs"], {"Json.cs": 1.0, "Common.cs": 0.25}),
        (said("json", "reader"), ["Json.cs", "JsonReader.cs"], {"Json.cs": 0.5, "JsonReader.cs": 1.0}),
        ({"provider": "provide"} | said("common"), ["Provider.cs", "Common.cs"], {"Provider.cs": 1, "Common.cs": 0.25}),
        (said("json"), ["Xml.cs", ""], {}),
        ({}, ["Json.cs"], {}),
    ],
    ids=["less is left", "rare words", "more words", "another form", "nothing said", "no words"],
)
def test_a_name_counts_by_how_much_of_the_question_it_says(
    asked: dict[str, str], paths: list[str], expected: dict[str, float]
) -> None:
    assert shares(asked, *paths) == expected


def test_a_file_that_was_not_found_changes_no_share() -> None:
    """What somebody may not see is no candidate, so the best of the visible files has all."""
    assert shares(said("json", "reader"), "JsonTextReader.cs") == {"JsonTextReader.cs": 1.0}


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("README.md", True),
        ("src/api/readme.rst", True),
        ("README", True),
        ("README.zh-CN.md", False),
        ("README.html", False),
        ("docs/readme-first.md", False),
    ],
)
def test_a_readme_is_called_so_and_is_no_page_or_translation(path: str, is_one: bool) -> None:
    assert is_readme(path) is is_one
