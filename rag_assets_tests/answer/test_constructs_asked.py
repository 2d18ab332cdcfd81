"""What reviewers look for in code is listed by how code writes it, in any language and of the product alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from time import process_time

import pytest

from rag_assets import Index
from rag_assets.answer.structure.constructs import construct_asked
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "db/ship.sql": """\
CREATE PROCEDURE dbo.Ship
    @Id int,
    @Sent bit OUTPUT
AS
BEGIN
    DECLARE parcels CURSOR LOCAL FAST_FORWARD FOR SELECT Id FROM dbo.Parcels WITH (NOLOCK);
    BEGIN TRY
        BEGIN TRAN;
        CREATE TABLE #sent (Id int);
        SELECT Id INTO #kept FROM dbo.Parcels WITH (ROWLOCK, UPDLOCK);
        MERGE INTO dbo.Parcels AS p USING #sent AS s ON p.Id = s.Id WHEN MATCHED THEN DELETE;
        EXEC ('DROP TABLE dbo.Old_' + @Id);
        COMMIT;
    END TRY
    BEGIN CATCH
        ROLLBACK;
    END CATCH
END
GO
CREATE FUNCTION dbo.Sent() RETURNS TABLE AS RETURN (SELECT Id FROM dbo.Parcels);
GO
""",
    "db/queries.sql": "-- name: GetParcel :one\nSELECT * FROM parcels WHERE id = ?;\n\n"
    "-- name: DeleteParcel :exec\nDELETE FROM parcels WHERE id = ?;\n",
    "src/Mailer.cs": """\
namespace Shop;

public class Mailer
{
    private static int sent;
    private static readonly object gate = new();
    private readonly ILogger logger;

    public void Send(string to)
    {
        var text = File.ReadAllTextAsync("mail.txt").Result;
        lock (gate)
        {
            sent++;
        }
        try
        {
            mail.Enqueue(text).Wait();
        }
        catch (TimeoutException)
        {
            // the next run sends it
        }
        catch (IOException e)
        {
            logger.LogError(e, "Nothing was sent to {To}", to);
        }
    }

    public async void OnTick(object sender) => await Task.Delay(5);

    public IActionResult Status(int id)
    {
        context.Result = new NotFoundResult();
        return id == 0 ? NotFound() : Ok(id);
    }

    public Letter Find(int id) => id == 0 ? null : letters[id];

    private void OnSend_Click(object? sender, RoutedEventArgs e) => Send("me");
}
""",
    "src/Orders.cs": """\
namespace Shop;

public class Orders
{
#if DEBUG
    // catch { } and Thread.Sleep(1) are only told of here
    public Task<int> Count() => db.ExecuteAsync("SELECT count(*) FROM orders");

#pragma warning disable CS0618
    public Uri Home => new Uri("https://shop.example.org/orders");
#endif
}
""",
    "tools/clean.py": '''\
"""Cleans up. Never calls eval("x")."""
import re
import subprocess


def clean(path):
    try:
        subprocess.run(["rm", path])
    except OSError:
        # it is gone already
        pass
    return re.sub("x", "y", path)  # noqa: S101


def price(text):
    try:
        return eval(text)
    except ValueError:
        return 0
''',
    "web/app.ts": """\
export function load(value: any) {
  console.log("loading");
  return fetch("/api/orders").catch(() => {});
}
""",
    "jobs/queue.go": """\
package jobs

var pending = map[string]int{}

var _ Runner = (*Queue)(nil)

func Run() error {
	go pending.drain()
	if err := db.Exec("drop table jobs failed"); err != nil {
		return Wrap(err, "create table file")
	}
	return Select("SELECT")
}
""",
    "Directory.Build.props": """\
<Project>
  <PropertyGroup>
    <LangVersion>13</LangVersion>
    <Nullable>enable</Nullable>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
    <SignAssembly>true</SignAssembly>
    <AnalysisLevel>latest</AnalysisLevel>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="StyleCop.Analyzers" Version="1.1.118" PrivateAssets="all" />
    <PackageReference Include="Serilog" Version="4.0.0" />
  </ItemGroup>
</Project>
""",
    "src/Shelf.cs": """\
namespace Shop;

public class Shelf
{
    public bool IsDeleted { get; set; }

    [Timestamp]
    public byte[] Version { get; set; }

    public void Stamp() => CreatedAt = clock.Now;

    public string Owner(HttpContext http) => http.User.FindFirstValue(ClaimTypes.NameIdentifier);

    public List<Letter> Page(int page, int size) => letters.Skip(page * size).Take(size).ToList();

    public bool IsNew(IFeatureManager features) => features.IsOn("new");
}
""",
    "settings.json": '{"Smtp": {"Password": "hunter2-hunter2-99"}}\n',
    "tests/MailerTests.cs": "public class MailerTests\n{\n    public void Waits() => Thread.Sleep(1);\n}\n",
}


_OF_SQL = (
    "Which procedures use cursors?",
    "Which locking hints are there?",
    "Which procedures have output parameters?",
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("constructs"), FILES, "constructs") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("Which methods block on async code with .Result or .Wait()?", ["src/Mailer.cs:11", "src/Mailer.cs:18"]),
        ("Where are exceptions swallowed?", ["src/Mailer.cs:20", "tools/clean.py:9", "web/app.ts:3"]),
        ("Are there any empty catch blocks in Mailer?", ["src/Mailer.cs:20"]),
        ("Which methods are async void?", ["src/Mailer.cs:30"]),
        ("Which procedures use cursors?", ["db/ship.sql:6"]),
        ("Where is NOLOCK used?", ["db/ship.sql:6"]),
        ("Which locking hints are there?", ["db/ship.sql:10", "db/ship.sql:6"]),
        ("Which stored procedures have error handling?", ["db/ship.sql:7"]),
        ("Which procedures use transactions?", ["db/ship.sql:8"]),
        ("Which procedures use temp tables?", ["db/ship.sql:10", "db/ship.sql:9"]),
        ("Are there merge statements?", ["db/ship.sql:11"]),
        ("Which procedures execute dynamic SQL?", ["db/ship.sql:12"]),
        ("Which procedures have output parameters?", ["db/ship.sql:3"]),
        ("Which functions return a table?", ["db/ship.sql:20"]),
        ("Which SQL queries are there?", ["db/queries.sql:1", "db/queries.sql:4"]),
        ("Where are locks used?", ["src/Mailer.cs:12"]),
        ("What global mutable state is there?", ["jobs/queue.go:3", "src/Mailer.cs:5"]),
        ("Where are goroutines started?", ["jobs/queue.go:8"]),
        ("Are there hard-coded URLs in the code?", ["src/Orders.cs:10"]),
        ("Where is raw SQL executed?", ["db/ship.sql:12", "src/Orders.cs:7"]),
        ("Which warnings are suppressed?", ["src/Orders.cs:9", "tools/clean.py:12"]),
        ("Where is conditional compilation used?", ["src/Orders.cs:5"]),
        ("Is eval used anywhere?", ["tools/clean.py:17"]),
        ("Which code starts external processes?", ["tools/clean.py:8"]),
        ("Where are regular expressions used?", ["tools/clean.py:12"]),
        ("Are there console.log statements left?", ["web/app.ts:2"]),
        ("Which external services are called?", ["web/app.ts:3"]),
        ("Which C# language version is used?", ["Directory.Build.props:3"]),
        ("Is nullable enabled?", ["Directory.Build.props:4"]),
        ("Does the project use nullable reference types?", ["Directory.Build.props:4"]),
        ("Are warnings treated as errors?", ["Directory.Build.props:5"]),
        ("Is the assembly strong-named?", ["Directory.Build.props:6"]),
        ("Which analyzers run during the build?", ["Directory.Build.props:10", "Directory.Build.props:7"]),
        ("Are there hard-coded passwords or secrets?", ["settings.json:1"]),
        ("Where are sleeps used in tests?", ["tests/MailerTests.cs:3"]),
        ("Where is the current user determined?", ["src/Shelf.cs:12"]),
        ("Where is pagination implemented?", ["src/Shelf.cs:14"]),
        ("Which entities are soft deleted?", ["src/Shelf.cs:5"]),
        ("Where are audit fields set?", ["src/Shelf.cs:10"]),
        ("Where is optimistic concurrency handled?", ["src/Shelf.cs:7"]),
        ("Where are feature flags checked?", ["src/Shelf.cs:16"]),
        ("Which event handlers does Mailer have?", ["src/Mailer.cs:40"]),
        ("What does the Mailer log?", ["src/Mailer.cs:26"]),
        ("What SQL does Orders run?", ["src/Orders.cs:7"]),
        ("Which endpoints return 404?", ["src/Mailer.cs:35"]),
        ("Can Mailer.Find return null?", ["src/Mailer.cs:38"]),
        ("Which status codes does Mailer.Status return?", ["src/Mailer.cs:35"]),
    ],
)
def test_every_place_of_the_product_is_listed(shop: Index, question: str, places: list[str]) -> None:
    answer = shop.ask(question)
    told = sorted(set(re.findall(r"[\w./]+\.\w+:\d+(?=[:\s])", answer.text)) & set(places))
    assert told == places, answer.text
    assert f"{len(places)} " in answer.text.split("\n")[0], answer.text


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("Is unsafe code allowed?", "no unsafe code setting of a known form is in the code of the product"),
        ("Where is reflection used?", "no reflection call of a known form is in the code of the product"),
        ("Are there empty catch blocks in Orders?", "no swallowed exception of a known form is in Orders"),
    ],
)
def test_that_there_is_none_is_said(shop: Index, question: str, absent: str) -> None:
    answer = shop.ask(question)
    assert absent in f"{answer.notes} {answer.reason}"


@pytest.mark.parametrize(
    "question",
    [
        "Which procedures are deprecated?",
        "What is cached in memory?",
        "Which files are written by the exporter?",
    ],
)
def test_of_what_names_nothing_no_absence_is_told(shop: Index, question: str) -> None:
    answer = shop.ask(question)
    assert "no cache use" not in answer.reason
    assert "no file write" not in answer.reason
    assert "no deprecated" not in f"{answer.reason} {answer.notes}"


def test_of_languages_that_have_no_such_form_no_absence_is_told(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {"app.ex": "defmodule App do\n  def run(queue), do: queue\nend\n"}
    with opened_index(tmp_path_factory.mktemp("elixir"), files, "elixir") as index:
        assert "no static variable" not in index.ask("What global state is there?").reason


@pytest.mark.parametrize(
    "question",
    [
        "What are locks?",
        "How are exceptions handled in the mailer?",
        "Where are orders cached by the customer?",
        "Which errors does the mailer log when it fails?",
        "How do I write a regular expression for an order number?",
        "Who may use the static files?",
        "Which fields of an order are nullable?",
        "Which features are enabled for the shop?",
        "What does the order process look like?",
        "Why are warnings shown to the customer?",
        "Which status codes are there?",
        "Where are passwords hashed?",
        "Where is the log in button?",
    ],
)
def test_questions_that_only_sound_so_are_none(question: str) -> None:
    assert construct_asked(question) is None


def test_what_is_in_no_code_is_left_to_others(shop: Index) -> None:
    assert "no lock is in" not in str(shop.ask("Where are locks used in the warehouse?"))


def test_long_code_of_comments_and_brackets_takes_no_time(tmp_path_factory: pytest.TempPathFactory) -> None:
    long, line = 50_000, 19_000  # no file with a longer line is indexed
    hostile = {
        "a.sql": "CREATE PROCEDURE a AS\nSELECT 1 FROM b WITH ("
        + "a" * (line - 30)
        + "\n" * long
        + "(a, " * (line // 4)
        + "\n"
        + "@a " * (line // 3)
        + "\n"
        + " " * line
        + "\n"
        + "CURSOR " * (line // 7)
        + "x;\n",
        "a.py": "try:\n    x()\nexcept E:\n" + "    # a comment\n" * 2_000 + "    y()\n",  # parsed in square time
        "a.cs": "class A { void B() { try { } catch ("
        + "(a" * (line // 2 - 30)
        + "\n{"
        + " // c\n" * long
        + "x } } }\n",
    }
    with opened_index(tmp_path_factory.mktemp("hostile"), hostile, "hostile") as index:
        start = process_time()
        for question in ("Where are exceptions swallowed?", *_OF_SQL):
            index.ask(question)
        assert process_time() - start < 5
