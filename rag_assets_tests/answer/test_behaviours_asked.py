"""What happens when something is done begins at the member that is called so, and goes on as the graph knows; what a
newcomer asks of projects, entities and migrations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_indexes
from rag_assets.answer.graph_facts import GraphFact
from rag_assets.answer.plans.projects import circle_of
from rag_assets.answer.plans.routines import routine_asked
from rag_assets.answer.question_analysis import compared_names
from rag_assets.answer.question_kinds import convention_noun, values_named
from rag_assets.answer.structure.behaviours import happening_asked
from rag_assets.answer.structure.constructs import construct_asked
from rag_assets.answer.structure.declaration_questions import use_asked
from rag_assets.answer.structure.migrations import migrations_asked
from rag_assets.identifiers import plural
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index
from rag_assets_tests.effort import ends_within

FILES = {
    "src/Web/Web.csproj": """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <ItemGroup>
    <ProjectReference Include="..\\Core\\Core.csproj" />
  </ItemGroup>
</Project>
""",
    "src/Core/Core.csproj": """\
<Project Sdk="Microsoft.NET.Sdk">
  <ItemGroup>
    <ProjectReference Include="..\\Domain\\Domain.csproj" />
  </ItemGroup>
</Project>
""",
    "src/Domain/Domain.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "src/Web/LoansController.cs": """\
using Library.Core;

namespace Library.Web;

public class LoansController(ISender sender) : ControllerBase
{
    [HttpPost("/loans")]
    public Task<int> BorrowBook(BorrowBook borrow) => sender.Send(borrow);

    [HttpGet("/loans/placed")]
    public string Empty() => "You have not yet borrowed a book when this happens.";
}
""",
    "src/Core/BorrowBook.cs": """\
namespace Library.Core;

public record BorrowBook(int Book) : IRequest<int>;

public class BorrowBookHandler(Shelf shelf) : IRequestHandler<BorrowBook, int>
{
    public Task<int> Handle(BorrowBook borrow, CancellationToken token)
    {
        // TODO: remember who has it
        return shelf.Take(borrow.Book);
    }
}

public class Shelf
{
    public Task<int> Take(int book)
    {
        Count(book);
        return Task.FromResult(book);
    }

    private void Count(int book)
    {
        System.Console.WriteLine(book);
    }
}
""",
    "src/Core/LoansClient.cs": """\
namespace Library.Core;

public class LoansClient(HttpClient http)
{
    public Task BorrowBook(int book) => Post("/loans", book);

    private Task Post(string path, int book) => http.PostAsJsonAsync(path, book);
}
""",
    "src/Domain/Book.cs": """\
namespace Library.Domain;

public class Book
{
    public int Id { get; set; }

    /// <summary>Who wrote it.</summary>
    public Author Author
    {
        get => _author;
        set => _author = value;
    }

    private Author _author;
}

public class Author
{
    public int Id { get; set; }
}

public class LibraryContext : DbContext
{
    public DbSet<Book> Books { get; set; }

    public DbSet<Author> Authors { get; set; }
}
""",
    "src/Domain/Migrations/20240101_Begin.cs": """\
namespace Library.Domain.Migrations;

public partial class Begin : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.CreateTable(
            name: "Books",
            columns: table => new { Id = table.Column<int>() });
    }

    protected override void Down(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.DropTable(name: "Books");
    }
}
""",
    "src/Domain/Migrations/20240202_Shelved.cs": """\
namespace Library.Domain.Migrations;

public partial class Shelved : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.AddColumn<string>(
            name: "Shelf",
            table: "Books");
    }
}
""",
    "src/Domain/Account/Registration.cs": """\
namespace Library.Domain.Account;

public class RegistrationService
{
    public void Register(string name) => Keep(name);

    private void Keep(string name) => System.Console.WriteLine(name);
}
""",
    "src/Core/Payments.cs": """\
namespace Library.Core;

public record PaymentFailed(int Loan);

public record PaymentDone(int Loan);

public class PaymentDoneHandler : IHandle<PaymentDone>
{
    public void Handle(PaymentDone done) => System.Console.WriteLine(done);
}

public class PaymentFailedHandler : IHandle<PaymentFailed>
{
    public void Handle(PaymentFailed failed) => System.Console.WriteLine(failed);
}

public class Loan
{
    public decimal GetFee() => 3 * 0.5m;
}

public class KeyMaker
{
    private string MakeKey()
    {
        return System.Guid.NewGuid().ToString();
    }
}
""",
    "LICENSE": "Permissions\n\nEverybody needs permission to copy a shelf, or somebody to grant permissions.\n",
    "tests/ShelfTests.cs": """\
namespace Library.Tests;

public class ShelfTests
{
    [Fact]
    public void TakesABook() => new Shelf().Take(3);
}
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("behaviours"), FILES, "library") as opened:
        yield opened


def told(index: Index, question: str) -> str:
    answer = index.ask(question)
    assert not answer.abstained
    return answer.text


@pytest.mark.parametrize(
    "question",
    [
        "What happens when a book is borrowed?",
        "What happens when a customer borrows a book?",
        "what exactly happens step by step when somebody borrows a book",
        "How is a book borrowed?",
        "How does a user borrow a book?",
        "Walk me through borrowing a book",
        "What is the flow of borrowing a book?",
    ],
)
def test_what_happens_begins_where_it_is_done_and_goes_on_to_what_that_comes_to(index: Index, question: str) -> None:
    text = told(index, question)
    assert text.startswith("`LoansController.BorrowBook` in src/Web/LoansController.cs")
    steps = text[text.index("**It comes to, in this order:**") :]
    assert steps.index("**BorrowBookHandler.Handle**") < steps.index("**Shelf.Take**") < steps.index("**Shelf.Count**")


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("How does the shelf count work?", "`Shelf.Count` in "),
        ("How is the fee of a loan calculated?", "`Loan.GetFee` in "),
        ("What happens if a payment fails?", "`PaymentFailedHandler.Handle` in "),
        ("How are books stored?", "**Stored in:**"),
        ("How is a key made?", "`KeyMaker.MakeKey` in "),
    ],
)
def test_how_something_is_done_begins_with_what_is_called_so(index: Index, question: str, begins: str) -> None:
    assert told(index, question).startswith(begins)


def test_who_implements_a_base_of_one_type_is_told_of_that_type(index: Index) -> None:
    text = told(index, "Which classes implement IHandle<PaymentFailed>?")
    assert "**PaymentFailedHandler** implements **IHandle<PaymentFailed>**" in text
    assert "PaymentDoneHandler" not in text


def test_terms_of_a_licence_answer_nothing_else(index: Index) -> None:
    assert "LICENSE" not in index.ask("Which permissions does somebody need to copy a shelf?").text
    assert "`LICENSE`" in (text := index.ask("What does the license permit?").text) or "LICENSE:" in text


def test_who_does_something_need_not_be_in_the_name_of_what_is_done(index: Index) -> None:
    assert told(index, "What happens when a user registers?").startswith("`RegistrationService.Register`")


@pytest.mark.parametrize(
    "question",
    [
        "What happens when a book is borrowed that is at home and was never given back in time?",
        "What happens?",
        "How does it work?",
        "What happens when a user is there?",
        "What happens when I read a book that is borrowed?",
        "Why is a book borrowed?",
    ],
)
def test_what_is_told_of_a_case_or_of_nothing_is_no_course(question: str) -> None:
    wanted = happening_asked(question)
    assert wanted is None or not {"borrow"} & {*wanted.done}


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("what happens when a user is deleted?", set()),
        ("how are members banned?", set()),
        ("what happens when the admin deletes a user?", {"admin"}),
        ("what happens when a user registers?", {"user"}),
        ("what happens when a user has logged in?", {"user"}),
    ],
)
def test_to_whom_something_is_done_is_what_it_is_done_to(question: str, who: set[str]) -> None:
    wanted = happening_asked(question)
    assert wanted is not None and wanted.actors == who
    assert who or len(wanted.done) == 2


def test_verbs_of_two_words_are_one() -> None:
    wanted = happening_asked("What happens when a user logs in?")
    assert wanted is not None
    assert wanted.done == ("login",)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Does Web depend on Domain?", ("**Web** refers to **Core**", "**Core** refers to **Domain**")),
        ("Does the web project reference the core?", ("**Web** refers to **Core**",)),
        ("Which project has the most references?", ("**Core** refers to **1 project**",)),
        ("Which tables have a foreign key to Author?", ("**Book** refers to **Author**", "Book.cs:8")),
        ("Which entities are related to Author?", ("**Book** refers to **Author**",)),
        (
            "Who implements IRequestHandler<BorrowBook, int>?",
            ("**BorrowBookHandler** implements **IRequestHandler<BorrowBook>**", "BorrowBook.cs:5"),
        ),
        (
            "Which migrations changed the Books table?",
            ("**2 migrations naming Books:**", "Begin.cs:8", "Shelved.cs:9"),
        ),
        ("Which migration created the Books table?", ("**1 migration adding Books:**", "20240101_Begin.cs:8")),
        ("When was the Shelf column added to Books?", ("20240202_Shelved.cs:8",)),
        ("Which TODOs are there?", ("**1 TODO comment:**", "BorrowBook.cs:9")),
        ("Which TODOs are in the core?", ("**1 TODO comment in core:**",)),
        ("Which classes have tests?", ("**1 class with a test that names it:**", "**Shelf**")),
        ("Which methods of Shelf are used the most?", ("**Shelf.Take** has **1 user**",)),
        ("What is the difference between a book and an author?", ("`Book` in ", "`Author` in ")),
    ],
)
def test_what_is_listed_is_told_with_its_line(index: Index, question: str, says: tuple[str, ...]) -> None:
    text = told(index, question)
    assert all(one in text for one in says), text


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        (
            "Does the domain depend on the web project?",
            "Domain does not refer to Web, nor does any project that it refers to",
        ),
        ("Are there circular references between projects?", "none of 3 projects refers to itself through others"),
        ("Which migration dropped the Books table?", "none of 2 files of migrations is known to drop Books"),
        ("Who worked most on the shelves?", "git shortlog"),
    ],
)
def test_that_there_is_none_is_said(index: Index, question: str, reason: str) -> None:
    answer = index.ask(question)
    assert reason in f"{answer.notes} {answer.reason}"


def test_migrations_of_several_labels_are_one_list(tmp_path: Path) -> None:
    home = IndexHome(tmp_path / "home")
    for name in ("till", "desk"):
        files: dict[str, str | bytes] = {f"db/migrations/1_{name}.sql": "CREATE TABLE coins (id int);\n"}
        index_without_dagster(home, new_repository(tmp_path / name, files), name)
    with open_indexes(["till@main", "desk@main"], home=home.root) as group:
        answer = group.ask("Which migrations created the coins table?")
    assert answer.text.startswith("**2 migrations adding coins:**")
    assert "1_till.sql:1" in answer.text and "1_desk.sql:1" in answer.text


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("Where should I put a new setting?", "setting"),
        ("Which files do I have to change to add a new payment provider?", "payment provider"),
        ("What must I implement to add another shipping method?", "shipping method"),
        ("Show me an example of a controller", "controller"),
        ("Give me an example of a payment provider implementation", "payment provider"),
        ("Where should I look for errors?", ""),
        ("What is an example?", ""),
    ],
)
def test_what_is_to_be_added_is_told_by_its_usual_form(question: str, noun: str) -> None:
    assert convention_noun(question) == noun


@pytest.mark.parametrize(
    ("question", "is_wanted"),
    [
        ("are there any TODOs left in the code?", True),
        ("list all TODO comments", True),
        ("how many TODOs are in the code?", True),
        ("which FIXMEs and TODOs are there?", True),
        ("what is deprecated?", False),
        ("what is a TODO?", False),
        ("where are TODOs of a user stored?", False),
        ("how many TODOs does a user have?", False),
        ("which todos are there?", False),
    ],
)
def test_comments_of_what_is_left_to_do_are_a_form_of_code(question: str, is_wanted: bool) -> None:
    wanted = construct_asked(question)
    assert (wanted is not None and wanted.noun == "TODO comment") == is_wanted


def test_words_are_compared_as_names_have_them() -> None:
    pair = compared_names("What is the difference between an order item and orders?")
    assert pair == ("OrderItem", "Order")
    assert compared_names("What is the difference?") == ()


def test_a_plural_has_no_other_plural() -> None:
    assert [plural(one) for one in ("settings", "status", "process", "query", "option")] == [
        "settings", "statuses", "processes", "queries", "options",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "what happens when a" + "!" * 100_000 + "x",
        "which tables does " + "'" * 100_000 + "x",
        "are " + "(" * 100_000,
        "does " + "a." * 50_000 + "b know c",
    ],
)
def test_questions_of_many_marks_end_soon(text: str) -> None:
    with ends_within(2.0):
        for reader in (happening_asked, routine_asked, values_named, use_asked):
            reader(text)
            reader(f"which entities {text}")


def test_circles_of_many_projects_are_looked_for_once() -> None:
    """Each project refers to all of the next hundred: from each to itself there is no way."""
    names = [f"Shop.P{number:04}" for number in range(2_000)]
    references = [
        GraphFact(name, "refers to", to, f"{name}.csproj", 1, certain=True)
        for at, name in enumerate(names)
        for to in names[at + 1 : at + 101]
    ]
    with ends_within(10.0):
        assert not circle_of(references)
    first, last = references[0].source, references[-1].target
    way = circle_of([*references, GraphFact(last, "refers to", first, "a.csproj", 1, certain=True)])
    assert way[-1].target == first == way[0].source


def test_long_questions_end_soon() -> None:
    long = "which the migrations that changed " * 3_000
    with ends_within(2.0):
        for reader in (happening_asked, migrations_asked, compared_names, convention_noun):
            for text in (
                f"what happens when {long}",
                f"which migrations {long}",
                f"how {long}",
                "difference between " * 5_000,
            ):
                reader(text)
