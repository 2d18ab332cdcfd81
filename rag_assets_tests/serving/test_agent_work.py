"""A coding agent at work: the calls before and after a change, with the arguments that it naturally writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

import pytest
from mcp.client.client import Client

from rag_assets.contracts.evidence import as_place
from rag_assets.index.layout import IndexHome
from rag_assets.serving.local_paths import inside
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.serving.agents import ask, said
from rag_assets_tests.serving.conftest import Home
from rag_assets_tests.serving.test_mcp import stdio

MAILER = """\
namespace Post;

public interface IMailQueue { void Put(string text); }

public class MailQueue : IMailQueue
{
    public void Put(string text) { }
    public void Put(string text, int times) { Put(text); }
}

public class MailOptions { public bool KeepCopies { get; set; } }

public class Mailer
{
    private readonly IMailQueue queue;
    private readonly MailOptions options;
    public Mailer(IMailQueue queue, MailOptions options) { this.queue = queue; this.options = options; }

    public void Send(string text)
    {
        if (options.KeepCopies) { queue.Put(text); }
        queue.Put(text);
    }
}
"""
CASES = "\n".join(
    f"    [Fact] public void Sends{number}() {{ new Post.Mailer(null, new Post.MailOptions()).Send(null); }}"
    for number in range(30)
)
POST: dict[str, str | bytes] = {
    "src/Post/Mailer.cs": MAILER,
    "src/Post/Stamper.cs": """\
namespace Post;

public interface IStamper { void Stamp(); }

public class Stamper : IStamper { public void Stamp() { } }
""",
    "src/Post/Letters.cs": """\
namespace Post;

public class Letters(Mailer mailer) { void Go() { mailer.Send(null); } }
""",
    "src/Post/PrintController.cs": """\
using Microsoft.AspNetCore.Mvc;

namespace Post;

[ApiController, Route("print")]
public class PrintController : ControllerBase
{
    /// <summary>Prints letters.</summary>
    [HttpPost]
    public object Print(string text, int? copies, string? color, bool? both, int? width, int? height, int? at) => Ok();
}
""",
    "tests/MailerTests.cs": f"namespace Post.Tests;\n\npublic class MailerTests\n{{\n{CASES}\n}}\n",
    "tests/QueueTests.cs": """\
namespace Post.Tests;

public class QueueTests { [Fact] public void Puts() { new Post.Mailer(null, null).Send(null); } }
""",
    "templates/mail.liquid": "Hello\n{% if KeepCopies %}copied{% endif %}\n",
    "web/track.js": "function Tracker () {}\nTracker.prototype.stop = function () {\n  return 1\n}\n",
    "web/page.js": "const Tracker = require('./track')\n\nmodule.exports = function (any) {\n  any.stop()\n}\n",
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    index_home, post = IndexHome(tmp_path / "home"), new_repository(tmp_path / "post", POST)
    index_without_dagster(index_home, post, "post")
    yield Home(CommandLine(index_home, tmp_path), post, post)


def test_what_an_agent_asks_before_it_changes_something(home: Home) -> None:
    async def talk(client: Client) -> None:
        async def graph(**arguments: object) -> str:
            return said(await client.call_tool("graph", arguments))

        users = await graph(start="IMailQueue", relation="callers")
        assert " 1  MailQueue  src/Post/Mailer.cs:5-9  ← Implements" in users
        assert " 1  Mailer  :13-24  ← Injects at :17" in users, "the path is told once"
        assert "Mailer.queue" not in users, "a class that is given it says the same as its field and constructor"
        assert "MailQueue.Put" in await graph(start="MailQueue", relation="uses")
        assert "Mailer.Send" not in await graph(start="Mailer", relation="callers", limit=50)
        needs = await graph(start="Mailer.Send", relation="uses", limit=1)
        assert "IMailQueue.Put" in needs and "Mailer.queue" not in needs, "what it calls before what it reads"
        crowded = await graph(start="Mailer", relation="callers", limit=6)
        assert "Letters" in crowded.partition("\ntest (")[0], "tests do not hide the code"
        assert "test (5 of " in crowded and "28 more; raise limit" in crowded
        assert "QueueTests.Puts" in crowded and "more of this file" in crowded, "one file does not hide another"
        reads = await graph(start="MailOptions.KeepCopies", relation="callers")
        assert "Mailer.Send" in reads and "also written in templates/mail.liquid:2" in reads
        of_file = await graph(start="src/Post/Mailer.cs", relation="callers")
        assert "Letters  src/Post/Letters.cs" in of_file and "none" not in of_file
        both = await graph(start="Stamp", relation="callers")
        assert "IStamper.Stamp" in both.splitlines()[1] and ".Stamper.Stamp" in both.splitlines()[1]
        way = await graph(start="Letters.Go", relation="path", to="IMailQueue.Put")
        assert [line.split()[:2] for line in way.splitlines()[2:]] == [
            ["0", "Letters.Go"],
            ["1", "Mailer.Send"],
            ["2", "IMailQueue.Put"],
        ]
        beside = await graph(start="Letters.Go", relation="path", to="MailerTests.Sends1")
        assert beside.splitlines()[2].startswith("neither needs the other")
        unknown = await graph(start="Tracker.stop", relation="callers")
        assert "unknown, because of javascript" in unknown and "written in web/page.js:4, web/track.js:2" in unknown

    ask(stdio(home, "--alone", folder=home.shop.path), talk)


def test_places_and_names_as_agents_write_them(home: Home) -> None:
    file, root = "src/Post/Mailer.cs", home.shop.path
    places = [
        f"{root}/{file}:13",
        f"{file}#L13-L14",
        f"{file}:13:5",
        f"{file}(13,5)",
        "Mailer.cs 13-14",
        "SRC\\post\\mailer.cs:13",
    ]
    names = {
        "MailQueue.Put(string, int)": "8 ",
        "MailQueue.Put(string text, int times)": "8 ",
        "csharp:Post.MailQueue.Put(string)|METHOD": "7 ",
        "MailQueue::Put(string)": "7 ",
        "Tracker.stop": "2 ",
    }

    async def talk(client: Client) -> None:
        for place in places:
            read = await client.call_tool("read", {"place": place})
            assert "public class Mailer" in said(read), place
            walked = await client.call_tool("graph", {"start": place, "relation": "Callers", "only": "Tests"})
            assert "callers of csharp:Post.Mailer|TYPE" in said(walked), place
        for name, line in names.items():
            assert said(await client.call_tool("read", {"place": name})).splitlines()[2].startswith(line), name
            assert not (await client.call_tool("symbol", {"name": name})).is_error or "Put" in name
        overload = await client.call_tool("graph", {"start": "MailQueue.Put(string text)", "relation": "callers"})
        assert "Post.MailQueue.Put(string)|METHOD" in said(overload).splitlines()[1]
        long = said(await client.call_tool("search", {"query": "print letters", "detail": "places"}))
        assert "Post.PrintController.Print(…)" in long, long
        inside = {"query": "mail", "paths": [f"{root}/src/**"], "detail": "places"}
        assert "src/Post/Mailer.cs" in said(await client.call_tool("search", inside))
        wrong = said(await client.call_tool("read", {"path": file, "start_line": 1, "end_line": 2}))
        assert wrong.startswith("place is missing; no arguments 'path', 'start_line', 'end_line'; there are: place, ")
        nothing = said(await client.call_tool("read", {"place": "Zeppelins"}))
        assert "search for it with: search" in nothing and "rag-assets" not in nothing

    ask(stdio(home, "--alone", folder=root), talk)


def test_the_graph_and_what_is_not_committed(home: Home) -> None:
    edited = MAILER.replace("namespace Post;\n", "namespace Post;\n// one\n// two\n").replace(
        "    public void Send(string text)\n    {\n",
        "    public void Stop() { Send(null); }\n    public void Send(string text)\n    {\n        Stop();\n",
    )
    (home.shop.path / "src/Post/Mailer.cs").write_text(edited, encoding="utf-8")
    (home.shop.path / "src/Post/Postman.cs").write_text(
        "namespace Post;\n\npublic class Postman(Mailer mailer) { void Go() { mailer.Send(null); } }\n",
        encoding="utf-8",
    )

    async def talk(client: Client) -> None:
        line = edited.splitlines().index("    public void Send(string text)") + 1
        callers = {"relation": "callers", "start": f"src/Post/Mailer.cs:{line}"}
        found = said(await client.call_tool("graph", callers))
        assert "callers of csharp:Post.Mailer.Send(string)|METHOD" in found, "the line is that of the work tree"
        new = await client.call_tool("graph", callers | {"start": "Mailer.Stop"})
        assert new.is_error and f"is declared in src/Post/Mailer.cs:{line - 1} in the work tree" in said(new)
        assert f"written in src/Post/Mailer.cs:{line - 1},{line + 2}" in said(new)
        queue = said(await client.call_tool("graph", callers | {"start": "IMailQueue"}))
        assert "the work tree has changed src/Post/Mailer.cs: its lines may have moved" in queue
        mailer = said(await client.call_tool("graph", callers | {"start": "MailOptions.KeepCopies"}))
        assert "also written in src/Post/Mailer.cs:" in mailer
        refused = said(await client.call_tool("ask", {"question": "What does Postman do?"}))
        assert "2 files of the work tree are not asked as they are now; search, symbol and read see them" in refused
        touched = said(await client.call_tool("graph", {"since": "HEAD", "only": ["test"]}))
        assert "2 files as in the work tree now" in touched and "MailerTests" in touched
        assert "because of Mailer.Send" in touched and "not in the graph: src/Post/Postman.cs" in touched

    async def committed(client: Client) -> None:
        found = said(await client.call_tool("graph", {"since": "HEAD", "only": ["test"]}))
        assert "what is not committed is no change yet" in found

    ask(stdio(home, "--alone", folder=home.shop.path), talk)
    ask(stdio(home, "--alone", "--no-overlay", folder=home.shop.path), committed)


@pytest.mark.parametrize(
    "text", ["Order.Refund(5)", "src/A.cs", "src/A.cs:12-40", "GET /api/v1", "a.b" * 33_000, "x" * 99]
)
def test_other_texts_are_no_lines_of_a_file(text: str) -> None:
    assert as_place(text) == text


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("C:\\shop\\src\\A.cs:12", "src/A.cs:12"),
        ("c:/Shop/src/A.cs", "src/A.cs"),
        ("C:\\shopping\\src\\A.cs", "C:\\shopping\\src\\A.cs"),
        ("src\\A.cs", "src\\A.cs"),
        ("/api/orders", "/api/orders"),
    ],
)
def test_an_absolute_path_is_that_of_the_repository(place: str, expected: str) -> None:
    assert inside(place, [PureWindowsPath("C:/shop"), PureWindowsPath("D:/other/shop")]) == expected
