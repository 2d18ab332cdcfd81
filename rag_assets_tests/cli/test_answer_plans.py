"""Questions that the index answers by what it knows itself, asked from the command line: what a project is about,
lists, what breaks, how something works step by step."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, Outcome, index_without_dagster, new_repository
from rag_assets_tests.git_repository import Repository

SHOP = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """The example shop, indexed."""
    base = tmp_path_factory.mktemp("answer-plans")
    shutil.copytree(SHOP, base / "shop")
    repository = Repository.new(base / "shop")
    page = "<html>\n<link rel='icon' href='/shop.png'/>\n<p>This project is the web shop of Fernhill.</p>\n</html>\n"
    repository.commit({"docs/index.html": page})
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, repository, "shop")
    return made


def asked(cli: CommandLine, question: str) -> Outcome:
    done = cli.run("ask", question, "--json")
    assert done.code == 0, done.err
    bad = [check for check in done.json["checks"] if check["support"] != "supported"]
    assert bad == [], "every statement is quoted at the place that it names"
    return done


@pytest.mark.parametrize(
    "question",
    [
        "what is this project about?",
        "What does this repository do",
        "give me an overview",
        "What is this sample meant to show and how is it built?",
        "what does this do for me and where can I run it",
        "What is Shop?",
        "what can I do with this application?",
        "I'm new here - how is this project structured?",
        "what's the architecture of this system?",
        "What are the parts of this application and what is it meant to show?",
        "what problem does it solve",
        "Why would I use this library?",
        "give me a tour of the code base",
        "What is Shop meant to solve?",
    ],
)
def test_an_overview_begins_with_the_readme(cli: CommandLine, question: str) -> None:
    found = asked(cli, question).json
    assert found["intent"] == "overview" and found["citations"][0]["path"] == "README.md"
    introduced = re.sub(r"[^a-z]+", " ", found["answer"].partition("**Types")[0].lower())
    assert "fernhill" in introduced and "<link" not in found["answer"]
    assert "**Types that most of it uses:**" in found["answer"]


def test_an_overview_tells_how_the_product_is_made_up(cli: CommandLine) -> None:
    answer = asked(cli, "how is this project structured?").json["answer"]
    groups = re.findall(r"^\*\*(.+?)(?: \(\d+ of \d+\))?:\*\*$", answer, re.MULTILINE)
    assert groups == ["Parts", "Who uses whom", "Entry points", "Endpoints", "Types that most of it uses"]
    assert "- **src/Fernhill.Shop.Domain** has **Order** in src/Fernhill.Shop.Domain/Orders/Order.cs" in answer
    assert "- **src/Fernhill.Shop.Api** uses **src/Fernhill.Shop.Domain** in src/Fernhill.Shop.Api/" in answer
    assert re.search(r"^- \*\*Program\.cs\*\* in src/Fernhill\.Shop\.Api/Program\.cs:\d+", answer, re.MULTILINE)
    assert "tests/" not in answer


@pytest.mark.parametrize(
    ("question", "heading", "one"),
    [
        ("where is the main entry point?", "Entry points", "src/Fernhill.Shop.Api/Program.cs"),
        ("Where does the application start?", "Entry points", "src/Fernhill.Shop.Worker/Program.cs"),
        ("what are the most important classes?", "Types that most of it uses", "**Order** in"),
        ("which settings exist?", "settings", "GetConnectionString"),
    ],
)
def test_lists_that_only_a_whole_project_has(cli: CommandLine, question: str, heading: str, one: str) -> None:
    found = asked(cli, question).json
    assert found["intent"] == "list" and heading in found["answer"].split("\n")[0] and one in found["answer"]


README = """\
---
title: Quilt
---
# Quilt [![build](https://ci/quilt.svg)](https://ci/quilt) [![downloads of the package of this month](https://d/q.svg)](https://d)

<!-- In particular this is a library that somebody has commented out of the page. -->

**[Docs and examples of all patterns](https://quilt.dev)** | [Ask us about anything in the chat](https://chat)

Please see the [upgrade guide](UPGRADE.md), this is a library with breaking changes in each version.

```sh
# quilt is a tool in a fence that is no sentence of this page
```

Quilt is a small library that sews patches of cloth together. It can:

- turn patches by any angle
- count the thread that is used

## Contributing

This project is a place where all people are welcome, so read our code of conduct.
"""


def test_an_overview_begins_with_what_a_readme_says_it_is(tmp_path: Path) -> None:
    made = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    files = {"README.md": README, "quilt.py": "class Patch:\n    angle = 0\n"}
    index_without_dagster(made.home, new_repository(tmp_path / "quilt", files), "quilt")
    introduced = asked(made, "what is this project about?").json["answer"].partition("\n\n**")[0]
    assert "> Quilt is a small library that sews patches" in introduced and "> - count the thread" in introduced
    assert [
        one for one in ("title:", "build", "commented", "Docs", "upgrade", "fence", "welcome") if one in introduced
    ] == []


def test_a_library_starts_nowhere_and_that_is_said(tmp_path: Path) -> None:
    made = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    files = {
        "COPYING": "This program is free software.\n",
        "src/Patch.cs": "public class Patch { public int Angle; }\n",
    }
    index_without_dagster(made.home, new_repository(tmp_path / "quilt", files), "quilt")
    done = made.run("ask", "where does the program start?", "--json")
    assert "nothing of the product starts as a program, as a library does not" in done.out
    assert done.json["status"] != "answered"


def test_an_overview_of_several_indexes_tells_of_each(tmp_path: Path) -> None:
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    for name in ("till", "scale"):
        repository = new_repository(tmp_path / name)
        introduced = f"The {name} is a small program that a shop has had for as long as it exists.\n"
        repository.commit({"README.md": f"# {name}\n\n{introduced}", f"{name}.cs": f"class {name.title()} {{ }}\n"})
        index_without_dagster(cli.home, repository, name)
    done = cli.run("ask", "what is this project about?", "-l", "till@main", "-l", "scale@main", "--json")
    answer = done.json["answer"]
    assert "> The till is" in answer and "> The scale is" in answer
    found = re.findall(r"^\*\*(\w+)@main: Some of its types:\*\*\n((?:- .*\n?)+)", answer, re.MULTILINE)
    told = {label: set(re.findall(r"\*\*(Till|Scale)\*\*", types)) for label, types in found}
    assert told == {"till": {"Till"}, "scale": {"Scale"}}


@pytest.mark.parametrize(
    ("question", "one"),
    [
        (
            "what derives from DbContext?",
            "- **ShopDbContext** derives from **DbContext** in src/Fernhill.Shop.Infrastructure/",
        ),
        ("which classes implement IHostedService", "- **DatabaseWarmUp** derives from **IHostedService** in"),
        ("which classes derive from Controller?", "Controller** derives from **Controller** in"),
    ],
)
def test_what_derives_from_a_type_of_a_library_is_told_by_its_declaration(
    cli: CommandLine, question: str, one: str
) -> None:
    assert one in asked(cli, question).json["answer"]


@pytest.mark.parametrize(
    ("question", "one"),
    [
        (
            "signature of OrderManager.PlaceAsync",
            "public async Task<Result<Order>> PlaceAsync(PlaceOrderCommand command",
        ),
        ("show me the constructor of OrderManager", "class OrderManager("),
        ("which interfaces does OrderManager implement?", "IOrderManager"),
        ("where is OrderStatus.Cancelled set?", "OrderManager.cs:92: `order.Status = OrderStatus.Cancelled;`"),
        ("which exceptions does OrderManager.GetByNumberAsync throw?", "throws **OrderNotFoundException**"),
    ],
)
def test_what_a_name_is_declared_as_sets_and_throws(cli: CommandLine, question: str, one: str) -> None:
    found = asked(cli, question).json
    assert one in found["answer"].split("**See also:**")[0] and not found["unsure"]


def test_tests_are_what_test_files_have(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    tests = "def test_coins():\n    assert 1\n\n\ndef test_notes():\n    assert 1\n\n\ndef coins():\n    return 1\n"
    product = "class SmokeTest:\n    pass\n\n\nclass LoadTest:\n    pass\n"
    repository.commit({"till/schema.py": product, "tests/test_till.py": tests})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    answer = asked(cli, "how many tests are there?").json["answer"]
    assert answer.startswith("**2 tests:**")
    assert re.findall(r"in (\S+:\d+)", answer) == ["tests/test_till.py:1", "tests/test_till.py:5"]


def test_what_is_left_to_do_is_told_by_its_comments(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "till")
    files = {
        "src/Till.cs": 'class Till\n{\n    // TODO: count the coins\n    string todo = "none";\n}\n',
        "src/till.py": "def coins():\n    # FIXME count them\n    return 0\n",
        "tests/TillTests.cs": "class TillTests\n{\n    // TODO: test it\n    void Coins() { }\n}\n",
        "notes.md": "# Notes\n\nA TODO is a task.\n",
    }
    repository.commit(files)
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, repository, "till")
    answer = asked(cli, "are there any TODOs left in the code?").json["answer"]
    told = re.findall(r"in (\S+:\d+): `(.*)`", answer)
    assert told == [
        ("src/Till.cs:3", "// TODO: count the coins"),
        ("src/till.py:2", "# FIXME count them"),
        ("tests/TillTests.cs:3", "// TODO: test it"),
    ]
    repository.commit(dict.fromkeys(files, ""))
    index_without_dagster(cli.home, repository, "till")
    assert cli.run("ask", "list all TODO comments", "--json").code == 4


@pytest.mark.parametrize(
    "question",
    [
        "What is the service supposed to do when the basket is empty?",
        "How is the basket of this project structured?",
        "what problem does the retry policy of this service solve",
        "what does the order service do?",
        "how do I start the order service",
        "There is an order. What does it do?",
        "How do I run it with docker compose?",
        "what does this do?\n```csharp\nreturn OrderManager.Total(order);\n```",
    ],
)
def test_a_question_for_a_part_is_none_for_an_overview(cli: CommandLine, question: str) -> None:
    assert cli.run("ask", question, "--json").json["intent"] != "overview"


@pytest.mark.parametrize(
    ("question", "heading", "one"),
    [
        ("what endpoints are there?", r"\*\*\d+ endpoints:\*\*", "OrdersController.cs"),
        ("Which commands exist?", r"\*\*\d+ commands:\*\*", "PlaceOrderCommand"),
        ("list all repositories", r"\*\*\d+ repositories:\*\*", "OrderRepository"),
        ("which tables does the database have", r"\*\*\d+ tables:\*\*", "Orders"),
        ("which NuGet packages are used?", r"\*\*\d+ packages:\*\*", ".csproj"),
        ("list all interfaces", r"\*\*\d+ interfaces:\*\*", "IOrderRepository"),
        ("which enums are defined?", r"\*\*\d+ enums:\*\*", "OrderStatus"),
        ("which background services are there?", r"\*\*\d+ background services:\*\*", "DatabaseWarmUp"),
    ],
)
def test_a_list_is_complete_and_counted(cli: CommandLine, question: str, heading: str, one: str) -> None:
    found = asked(cli, question).json
    assert found["intent"] == "list" and not found["unsure"]
    title = re.search(heading, found["answer"])
    assert title is not None, found["answer"][:300]
    count = int(re.findall(r"\d+", title.group())[0])
    assert len(re.findall(r"^- \*\*", found["answer"], re.MULTILINE)) == min(count, 40)
    assert one in found["answer"]


def test_a_list_is_of_what_the_question_is_about(cli: CommandLine) -> None:
    whole = asked(cli, "which endpoints are there?").json["answer"]
    part = asked(cli, "which endpoints are there for orders?").json["answer"]
    assert "/orders" in part and len(part.splitlines()) < len(whole.splitlines())


def test_what_would_break_is_who_uses_it(cli: CommandLine) -> None:
    found = asked(cli, "what breaks if I change IOrderRepository?").json
    assert found["intent"] == "usage" and "**IOrderRepository**" in found["answer"]


def test_what_would_break_tells_the_endpoints_and_the_tests_behind_it(cli: CommandLine) -> None:
    found = asked(cli, "what breaks if I change IOrderRepository?")
    reached = cli.run("graph", "impact", "IOrderRepository", "--label", "shop@main", "--json").json["groups"]
    title = f"**Endpoints that reach it ({reached['endpoints']}):**"
    used, _, behind = found.json["answer"].partition(title)
    assert used.startswith("**Used by:**") and " exposes **" in behind.partition("**Tests that run it (")[0]
    assert re.match(r"\d+\):\*\*\n- \*\*\w+Tests\b", behind.partition("**Tests that run it (")[2])
    assert any("graph impact IOrderRepository" in note for note in found.json["notes"])
    assert "reach it" not in asked(cli, "who calls IOrderRepository?").json["answer"]
    narrowed = cli.run("ask", "what breaks if I change IOrderRepository?", "--path", "src/**", "--json").json
    assert "**IOrderRepository**" in narrowed["answer"] and "reach it" not in narrowed["answer"], "counts of the whole"


def test_how_it_works_names_what_is_called_in_its_order(cli: CommandLine) -> None:
    found = asked(cli, "how does PlaceOrderHandler place an order?").json
    steps = found["answer"].partition("**It calls, in this order:**")[2]
    assert len(re.findall(r"^- \*\*", steps, re.MULTILINE)) >= 2


@pytest.mark.parametrize("question", ["which DTOs exist?", "how are URLs built", "what happens with POSTed orders?"])
def test_acronyms_are_words_and_no_names_that_nothing_declares(cli: CommandLine, question: str) -> None:
    done = cli.run("ask", question, "--json")
    assert "nothing here is called" not in (done.json["reason"] or "")


def test_a_name_that_does_not_exist_is_refused_all_the_same(cli: CommandLine) -> None:
    done = cli.run("ask", "which endpoints does RefundMailService call?", "--json")
    assert done.code == 4 and done.json["reason"] == "nothing here is called RefundMailService"


@pytest.mark.parametrize(
    "question",
    ["how does PlaceOrderHandler place an order?", "what is OutboxDispatcher?", "how are orders stored?"],
)
def test_quoted_code_has_the_numbers_of_its_lines(cli: CommandLine, question: str) -> None:
    shown = cli.run("ask", question).out
    assert not re.search(r"^    +\d+  ", asked(cli, question).json["answer"], re.MULTILINE)
    numbered, bare, path = 0, 0, ""
    for line in shown.splitlines():
        place = re.search(r"\bin (\S+):\d+(?:-\d+)?", line)
        code = re.match(r"    (?P<number> *\d+|   )  (?P<text>.*)", line)
        if code is None:
            path = place[1] if place else path
        elif code["number"].strip():
            source = "".join((SHOP / path).read_text().splitlines()[int(code["number"]) - 1].split())
            quoted = "".join(code["text"].removesuffix(" …").split())
            assert quoted in source or quoted.startswith(source), line
            numbered += 1
        else:
            bare += bool(code["text"].strip("… "))
    assert numbered > 2 and bare <= numbered / 10


def test_an_answer_that_is_not_sure_is_a_warning_on_a_terminal_and_has_a_status(cli: CommandLine) -> None:
    question = "why are orders placed by a customer?"
    certain = replace(cli, environment={"RAG_ASSETS__ANSWER__SURE": "0"})
    doubtful = replace(cli, environment={"RAG_ASSETS__ANSWER__SURE": "1"})
    found = asked(doubtful, question).json
    assert (found["status"], found["unsure"], found["abstained"]) == ("unsure", True, False)
    assert found["answer"].startswith("**Not sure. The closest is:**\n")
    assert on_terminal(doubtful, "ask", question).startswith("\x1b[33mNot sure. The closest is:\x1b[0m\r\n")
    assert "\x1b[33mNot sure" not in on_terminal(certain, "ask", question)
    logged = cli.run("log", "--status", "unsure", "--json").json["turns"]
    assert question in {turn["question"] for turn in logged} and {turn["status"] for turn in logged} == {"unsure"}
    assert "unsure" in cli.run("trace", found["turn"]).out.splitlines()[0]


def on_terminal(cli: CommandLine, *words: str) -> str:
    """What a command writes on a terminal."""
    if sys.platform == "win32":
        pytest.skip("a terminal of POSIX")
    import pty

    ours, theirs = pty.openpty()
    process = cli.start(*words, stdout=theirs)
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while part := os.read(ours, 4096):
            seen += part
    process.communicate(timeout=60)
    os.close(ours)
    return seen.decode()


def test_a_long_list_names_the_command_that_lists_all(tmp_path: Path) -> None:
    code = "".join(f"public class Step{number:02}Handler\n{{\n}}\n\n" for number in range(1, 46))
    other = "".join(f"public class Mail{number:02}Handler\n{{\n}}\n\n" for number in range(1, 51))
    repository = new_repository(tmp_path / "many", {"Steps.cs": code, "Mails.cs": other})
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    label = index_without_dagster(cli.home, repository, "many")
    for question, total, about in (
        ("which handlers exist?", 95, ""),
        ("which handlers are there for mails?", 50, " --about mail"),
    ):
        found = asked(cli, question).json
        told = len(re.findall(r"^- \*\*", found["answer"], re.MULTILINE))
        command = f"rag-assets graph list handler{about} --label {label}"
        assert found["answer"].startswith(f"**{total} handlers:**") and 0 < told <= 40
        assert found["notes"] == [f"{total - told} more; list them with: {command}"]
        listed = cli.run(*command.split()[1:])
        places = re.findall(r"^(?:Step|Mail)\d\dHandler  \w+\.cs:\d+$", listed.out, re.MULTILINE)
        assert len(set(places)) == total and f"{total} in all" in listed.out
    index_without_dagster(cli.home, new_repository(tmp_path / "few", {"Few.cs": code[: code.index("Step04")]}), "few")
    both = cli.run("ask", "which handlers exist?", "-l", "many", "-l", "few", "--json").json
    assert both["answer"].startswith("**98 handlers:**")
    assert both["notes"][0].endswith(
        " more; list them with: rag-assets graph list handler --label many@main"
        " and rag-assets graph list handler --label few@main"
    )


def test_routes_and_tables_are_listed_for_each_that_has_them(tmp_path: Path) -> None:
    """Two services have the route `GET /current`, and only the entities of the code say what is stored."""
    spring = (
        '@RestController\nclass {0}Controller {{\n  @GetMapping("/current")\n  Object current() {{ return 1; }}\n}}\n'
    )
    feign = '@FeignClient("accounts")\ninterface Client {\n  @GetMapping("/elsewhere")\n  Object get();\n}\n'
    files = {f"{name}/{name}Controller.java": spring.format(name) for name in ("Account", "Statistics")}
    files["Account/Client.java"] = feign
    files["Data/Shop.cs"] = """\
using Microsoft.EntityFrameworkCore;

public class Order { public int Id { get; set; } }
public class Line { public int Id { get; set; } }

public class ShopContext : DbContext
{
    public DbSet<Order> Orders => Set<Order>();
    public DbSet<Line> OrderLines { get; set; }
}
"""
    files["Data/report.sql"] = "SELECT * FROM dbo.Elsewhere;\n"
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    index_without_dagster(cli.home, new_repository(tmp_path / "two", files), "two")
    routes = asked(cli, "list all endpoints").json["answer"]
    assert "**2 endpoints:**" in routes and "/elsewhere" not in routes
    assert all(f"- **GET /current** in {name}/{name}Controller.java:4" in routes for name in ("Account", "Statistics"))
    tables = asked(cli, "which tables are there?").json["answer"]
    assert "**2 tables:**" in tables and "Orders** in Data/Shop.cs" in tables and "OrderLines** in" in tables


def test_lists_of_the_graph_are_those_of_answers(cli: CommandLine) -> None:
    answer = asked(cli, "what endpoints are there?").json["answer"]
    for kind in ("endpoint", "Endpoints", "ENDPOINT"):
        found = cli.run("graph", "list", kind, "--json").json
        assert found["total"] == len(found["nodes"]) and f"**{found['total']} endpoints:**" in answer
        assert all(f"- **{node['name']}** in {node['path']}:" in answer for node in found["nodes"])
    named = {node["name"] for node in cli.run("graph", "list", "package", "--json").json["nodes"]}
    assert "xunit" in named
    orders = cli.run("graph", "list", "endpoint", "--about", "orders").out
    assert "POST /api/orders  src/Fernhill.Shop.Api/Controllers/OrdersController.cs:" in orders
    assert "/health" not in orders


def test_a_list_of_what_is_not_there_is_exit_code_4(cli: CommandLine) -> None:
    done = cli.run("graph", "list", "spaceships")
    assert done.code == 4 and "rag-assets graph overview" in done.err


def test_an_explanation_says_how_the_question_was_understood_and_what_decided(cli: CommandLine) -> None:
    question = "how often is the total of an order calculated by OrderManager?"
    found = cli.run("ask", question, "--explain", "--json").json
    told = found["explain"]
    roles = {role: {one["word"] for one in told["words"] if one["role"] == role} for role in ("subject", "manner")}
    assert {"total", "order"} <= roles["subject"] and roles["manner"] == {"often"}
    assert [one["word"] for one in told["words"] if one["role"] == "relation"] == ["calculated"]
    assert told["names"] == ["OrderManager"] and told["unknown_names"] == [] and told["list_of"] is None
    assert (told["intent"], told["confidence"]) == (found["intent"], found["confidence"])
    assert 0 < told["refused_below"] < told["sure_from"] < 1
    for one in told["passages"]:
        assert sum(one["parts"].values()) == pytest.approx(one["score"], abs=0.1)
    cited = {(one["path"], one["line_start"]) for one in found["citations"]}
    assert {one["place"].partition(":")[0] for one in told["passages"] if one["quoted"]} <= {path for path, _ in cited}
    shown = cli.run("ask", question, "--explain").out
    rows = dict(re.findall(r"^([a-z]+(?: \w+)?) {2,}(\S.*)$", shown.partition("read as")[2], re.MULTILINE))
    assert "total" in rows["about"] and "calculated" in rows["asks"] and rows["how"].startswith("often")
    assert rows["names"] == "OrderManager" and rows["kind"] == found["intent"]
    assert rows["confidence"].startswith(
        f"{told['confidence']:.2f}; refused below {told['refused_below']:.2f}, not sure"
    )
    assert f"{told['passages'][0]['place']}  {told['passages'][0]['score']:.2f} = " in rows["passage 1"]
    assert "read as" not in cli.run("ask", question).out and "explain" not in cli.run("ask", question, "--json").json


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("which endpoints are there?", ["kind        a list of: endpoint", "because     the index itself answers"]),
        (
            "what does RefundMailService do?",
            ["names       RefundMailService (nowhere)", "confidence  0.00; refused below"],
        ),
        ("how do pigeons carry orders?", ["about       pigeon", "made of     "]),
        ("how do pigeons zork?", ["about       pigeon", "because     no passage has a word of the question"]),
        ("???", ["kind        "]),
    ],
)
def test_an_explanation_of_every_outcome(cli: CommandLine, question: str, rows: list[str]) -> None:
    shown = cli.run("ask", question, "--explain").out
    assert all(f"\n{row}" in shown for row in rows), shown
    talked = cli.run("chat", spoken=f"{question}\n/why\n").out
    assert all(f"\n{row}" in talked for row in rows), talked


def test_a_name_that_is_there_is_no_answer_to_what_nothing_says_about_it(cli: CommandLine) -> None:
    found = cli.run("ask", "how does the OrderManager train its neural network overnight?", "--explain", "--json").json
    assert found["status"] == "abstained" and found["signals"]["unsaid_things"] > 0
    assert found["explain"]["confidence"] < found["explain"]["refused_below"]
    told = cli.run("ask", "how does the OrderManager change the delivery days?", "--explain", "--json").json
    assert told["status"] == "answered" and told["explain"]["because"] is None


def signals(cli: CommandLine, question: str) -> dict[str, float]:
    found: dict[str, float] = cli.run("ask", question, "--json").json["signals"]
    return found


def test_what_the_signals_of_a_question_say(cli: CommandLine) -> None:
    code, page = signals(cli, "how are delivery days changed"), signals(cli, "how do I run the shop on my machine")
    assert code["named"] > 0 and page["document"] > code["document"]  # `ChangeDeliveryDaysAsync`
    more, fewer = (
        signals(cli, "how is the total of an order computed"),
        signals(cli, "how is the total of a zebra computed"),
    )
    assert more["said"] > fewer["said"] and more["keyword"] > fewer["keyword"] and fewer["unsaid"] > more["unsaid"]
    assert signals(cli, "how does the Zebra pay an order")["unsaid_names"] == 1
    assert more["words_said"] > fewer["words_said"] > 0
    thing, manner = signals(cli, "how is the voucher of an order computed"), signals(cli, "how is an order decided")
    assert thing["unsaid_things"] > more["unsaid_things"] > manner["unsaid_things"]


def test_what_a_type_depends_on_is_not_who_depends_on_it(cli: CommandLine) -> None:
    needed = asked(cli, "what does OrderManager depend on?").json["answer"]
    told = [line for line in needed.splitlines() if line.startswith("- ")]
    assert told and all(line.startswith(("- **OrderManager**", "- **OrderManager.")) for line in told)
    assert sum("**IOrderRepository**" in line for line in told) == 1
    users = asked(cli, "what depends on OrderManager?").json["answer"]
    assert not any(line.startswith("- **OrderManager.") for line in users.splitlines())


def test_tests_are_those_that_the_graph_knows(cli: CommandLine) -> None:
    answer = asked(cli, "which tests cover OrderManager?").json["answer"]
    told = [line for line in answer.splitlines() if "tests" in line]
    assert told and all(line.startswith("- **OrderManagerTests") for line in told)
    done = cli.run("ask", "which tests cover OrdersController?")
    assert "no test of OrdersController is known, and no test names it" in done.out


POLYGLOT: dict[str, str | bytes] = {
    "cache/TransactionalCacheManager.java": "package shop.cache;\n\npublic class TransactionalCacheManager {\n"
    "  public void clear() { }\n}\n",
    "executor/CachingExecutor.java": "package shop.executor;\n\nimport shop.cache.TransactionalCacheManager;\n\n"
    "/** Uses a TransactionalCacheManager. */\npublic class CachingExecutor {\n"
    "  private final TransactionalCacheManager tcm = new TransactionalCacheManager();\n\n"
    "  public void rollback() {\n    tcm.clear();\n  }\n}\n",
    "executor/CachingExecutorTest.java": "package shop.executor;\n\nclass CachingExecutorTest {\n"
    "  void clears() {\n    new TransactionalCacheManager().clear();\n  }\n}\n",
    "core/io.go": "package core\n\ntype ioCore struct{}\n\nfunc NewCore() *ioCore {\n\treturn &ioCore{}\n}\n",
    "books/ledger.py": "class Ledger:\n    def post_entry(self):\n        return 1\n",
    "tests/test_books.py": "from books.ledger import Ledger\n\n\n"
    + "".join(f"def test_{number}():\n    assert Ledger().post_entry()\n\n" for number in range(10)),
    "docs/caches.md": "# Caches\n\nThe TransactionalCacheManager keeps what a transaction reads.\n",
    "core/keys.go": 'package core\n\nconst EnvLateFee = "SHOP_LATE_FEE"\n',
    "core/config.go": 'package core\n\nimport "os"\n\nfunc Load(c *Config) {\n\tc.LateFee = os.Getenv(EnvLateFee)\n'
    '\tif c.LateFee == "" {\n\t\tpanic("no late fee")\n\t}\n}\n',
    "core/config_test.go": 'package core\n\nfunc TestLoad(t *T) {\n\tc.LateFee = "1"\n\tt.Setenv("SHOP_LATE_FEE")\n}\n',
    "docs/settings.md": "# Settings\n\n`SHOP_LATE_FEE` is what a customer pays for each day.\n\nThere is no late fee "
    "for members, whoever they are.\n",
    "web/router.go": 'package web\n\nfunc Add(r *gin.Engine) {\n\tr.GET("/books", list)\n\tr.POST("/books", add)\n}\n',
    "web/fee_handler.go": "package web\n\n// FeeHandler answers for fees.\ntype FeeHandler struct {\n\tMost int\n}\n\n"
    "func (h *FeeHandler) Handle(days int) int {\n\tif days > h.Most {\n\t\treturn h.Most\n\t}\n\treturn days\n}\n",
    "books/models.py": "class BookLoan(Model):\n    due = DateField()\n    fee = IntegerField()\n\n"
    "    def is_late(self, today: date) -> bool:\n        return today > self.due\n",
    "books/mail_filter.py": "class MailFilter:\n    def __init__(self, limit):\n        self.limit = limit\n\n"
    "    def __call__(self, mail):\n        if len(mail) > self.limit:\n            return None\n"
    + "        mail.read()\n"
    * 25,
    "books/fees.py": "class Card:\n    def renew(self):\n        self.debt = 0\n\n\nclass Loan:\n    def close(self):\n"
    "        if self.debt == 1 or self.debt >= 2:\n            self.debt += 1\n",
    "books/filters.py": "class SizeFilter: ...\nclass DateFilter: ...\n",
    "web/router_test.go": 'package web\n\nfunc TestIt(t *T) {\n\tr.GET("/fake", list)\n}\n',
}


@pytest.fixture(scope="module")
def polyglot(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    base = tmp_path_factory.mktemp("polyglot")
    made = CommandLine(IndexHome(base / "home"), base)
    index_without_dagster(made.home, new_repository(base / "shop", POLYGLOT), "shop")
    return made


@pytest.mark.parametrize(
    ("question", "heading", "places"),
    [
        (
            "which tests cover TransactionalCacheManager?",
            "No class of tests is called as it; these tests name it",
            ["executor/CachingExecutorTest.java:5"],
        ),
        ("who uses ioCore?", "No graph knows a use; by its text code names it in", ["core/io.go:5"]),
    ],
)
def test_who_uses_a_name_is_told_by_the_text_where_the_graph_knows_no_use(
    polyglot: CommandLine, question: str, heading: str, places: list[str]
) -> None:
    """Neither imports nor comments nor documents are uses; of a name that only its own file has, that file tells."""
    answer = asked(polyglot, question).json["answer"]
    assert f"**{heading}:**" in answer
    assert re.findall(r" in (\S+\.(?:java|go):\d+)", answer) == places


@pytest.mark.parametrize(
    "question", ["who calls TransactionalCacheManager?", "what breaks if I change TransactionalCacheManager?"]
)
def test_who_makes_and_calls_something_is_known_of_other_languages(polyglot: CommandLine, question: str) -> None:
    """A file that imports nothing of the kind may mean another type that is called so: it only names it."""
    lines = asked(polyglot, question).json["answer"].replace("**", "").splitlines()
    assert [line.partition(": ")[0] for line in lines if line.startswith("- ")] == [
        "- CachingExecutor.tcm creates TransactionalCacheManager in executor/CachingExecutor.java:7",
        "- CachingExecutor.rollback calls TransactionalCacheManager.clear in executor/CachingExecutor.java:10",
        "- CachingExecutorTest.clears names TransactionalCacheManager in executor/CachingExecutorTest.java:5",
    ]


def test_where_something_is_written_is_told_by_its_assignments(polyglot: CommandLine) -> None:
    """Neither comparisons nor tests, if the product assigns it."""
    for question in ("where do we write to config.LateFee?", "where is Config.LateFee set?", "what sets c.LateFee?"):
        found = asked(polyglot, question).json
        assert re.findall(r" in (\S+:\d+)", found["answer"]) == ["core/config.go:6"], question
        assert "sets **LateFee**" in found["answer"] and not found["unsure"]


def test_of_the_owner_that_is_named_come_the_assignments_first(polyglot: CommandLine) -> None:
    answer = asked(polyglot, "where is Loan.debt set?").json["answer"]
    assert re.findall(r"- \*\*(\S+)\*\* sets \*\*debt\*\* in \S+:(\d+)", answer) == [
        ("Loan.close", "9"),
        ("Card.renew", "3"),
    ]


def test_what_a_setting_is_for_is_told_by_texts_and_by_what_reads_it(polyglot: CommandLine) -> None:
    """Code says the constant that is declared as its text."""
    for question in ("what is SHOP_LATE_FEE used for?", "what does SHOP_LATE_FEE do?"):
        answer = asked(polyglot, question).json["answer"]
        assert "> `SHOP_LATE_FEE` is what a customer pays" in answer
        assert re.findall(r"\*\* in (\S+:\d+)", answer) == ["core/config.go:6", "core/keys.go:3"]


def test_a_quoted_text_is_told_where_code_says_it(polyglot: CommandLine) -> None:
    found = asked(polyglot, 'when do I get "no late fee"?').json
    assert found["citations"][0]["path"] == "core/config.go" and 'panic("no late fee")' in found["answer"]


def test_the_routes_of_other_languages_are_listed_without_those_of_tests(polyglot: CommandLine) -> None:
    answer = asked(polyglot, "what endpoints are there?").json["answer"]
    assert "**2 endpoints:**" in answer
    assert re.findall(r"^- \*\*(.+?)\*\* in (\S+:\d+)", answer, re.MULTILINE) == [
        ("GET /books", "web/router.go:4"),
        ("POST /books", "web/router.go:5"),
    ]


def test_who_handles_a_path_is_told_by_its_route(polyglot: CommandLine) -> None:
    told = [
        line
        for line in asked(polyglot, "where is POST /books handled?").json["answer"].splitlines()
        if "exposes" in line
    ]
    assert len(told) == 1 and "**web.Add** probably exposes **POST /books** in web/router.go:5" in told[0]


def test_what_a_type_does_is_told_by_the_member_that_does_it(polyglot: CommandLine) -> None:
    answer = asked(polyglot, "what does MailFilter do?").json["answer"]
    assert "`MailFilter.__call__` in books/mail_filter.py:5-" in answer and "if len(mail) > self.limit:" in answer
    assert "if len(mail)" not in asked(polyglot, "what is MailFilter?").json["answer"]


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (
            "which columns does the BookLoan table have?",
            ["    due = DateField()", "    def is_late(self, today: date) -> bool:"],
        ),
        ("what fields does a book loan have?", ["    fee = IntegerField()"]),
        ("what does the FeeHandler struct contain?", ["\tMost int"]),
    ],
)
def test_what_has_members_is_told_with_its_fields(polyglot: CommandLine, question: str, shown: list[str]) -> None:
    """No mark ends a field of Go or Python."""
    lines = asked(polyglot, question).json["answer"].splitlines()
    assert [line for line in shown if line not in lines] == []


def test_what_may_be_chosen_is_no_list_of_types(polyglot: CommandLine) -> None:
    assert "**3 filters:**" in asked(polyglot, "which filters are there?").json["answer"]
    assert "filters:**" not in polyglot.run("ask", "which filters are supported?", "--json").json["answer"]


def test_of_a_member_only_its_name_is_seen_in_the_text(polyglot: CommandLine) -> None:
    """Another type may have one that is called so."""
    answer = asked(polyglot, "which tests cover TransactionalCacheManager.clear?").json["answer"]
    assert "**CachingExecutorTest.clears** probably names **clear** in executor/CachingExecutorTest.java:5" in answer


def test_each_member_that_names_something_is_told_and_counted(polyglot: CommandLine) -> None:
    """A section has many members, and who calls something is each of them; what is left out is found by its text."""
    done = polyglot.run("ask", "which tests cover Ledger.post_entry?")
    told = re.findall(r"- (\S+) calls Ledger.post_entry in \S+:(\d+)", done.out)
    assert told == [(f"test_books.test_{number}", f"{5 + 3 * number}") for number in range(8)]
    listed = f"rag-assets --home {polyglot.home.root} graph 'Ledger.post_entry' --label shop@main"
    assert f"2 more in the graph; list them with: {listed}" in done.out


def test_of_very_many_sections_the_likeliest_are_read_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of R the graph has no calls."""
    files = {f"use{number}.R": f"use{number} <- function(x) {{\n  shrink_it(x)\n}}\n" for number in range(5)}
    cli = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "shop", {"shrink.R": "shrink_it <- function(x) {\n  x\n}\n", **files})
    index_without_dagster(cli.home, repository, "shop")
    assert (
        "**No graph knows a use; by its text code names it in:**" in asked(cli, "who calls shrink_it?").json["answer"]
    )
    assert "of r the graph has no calls; where" in cli.run("graph", "impact", "shrink_it").out
    monkeypatch.setattr("rag_assets.search.phrases.MOST_READ", 4)
    assert "names it in these of the likeliest sections:**" in asked(cli, "who calls shrink_it?").json["answer"]


def test_an_impact_says_where_the_graph_ends(polyglot: CommandLine) -> None:
    done = polyglot.run("graph", "impact", "TransactionalCacheManager")
    question = f'rag-assets --home {polyglot.home.root} ask "who uses TransactionalCacheManager?"'
    known = "of java the graph has only the calls that names and declared types tell"
    assert f"{known}; where else code names it: {question}" in done.out


CHECKOUT = """namespace Shop;

public class CheckoutModel
{
    private readonly IBasket _basket;
    private readonly IOrders _orders;

    public CheckoutModel(IBasket checkoutBasket, IOrders checkoutOrders)
    {
        _basket = checkoutBasket;
        _orders = checkoutOrders ?? throw new ArgumentNullException(nameof(checkoutOrders));
    }

    public async Task OnPost(Address to)
    {
        await _orders.Create(_basket.Id, to);
        await _basket.Delete();
    }
}
"""


def test_how_a_type_works_is_not_told_by_a_constructor_that_keeps_what_it_is_given(tmp_path: Path) -> None:
    made = CommandLine(IndexHome(tmp_path / "home"), tmp_path)
    repository = new_repository(tmp_path / "shop", {"src/CheckoutModel.cs": CHECKOUT})
    index_without_dagster(made.home, repository, "shop")
    answer = asked(made, "how does checkout work?").json["answer"]
    assert "_orders.Create" in answer.partition("_basket = checkoutBasket")[0]
