"""What people ask of a GraphQL server and of an app with view models: operations, loaders, commands, notifications."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Library\n\nLends books.\n",
    "src/Books/BookQueries.cs": """\
namespace Library.Books;

[QueryType]
public static class BookQueries
{
    [UsePaging]
    public static IQueryable<Book> GetBooks(LibraryContext context) => context.Books;

    public static Task<Book?> GetBookByIdAsync(int id, IBookByIdDataLoader books) => books.LoadAsync(id);

    private static string Shelf(Book book) => book.Title;
}
""",
    "src/Books/ShelfQueries.cs": """\
namespace Library.Books;

[ExtendObjectType("Query")]
public class ShelfQueries
{
    public IQueryable<Shelf> GetShelves(LibraryContext context) => context.Shelves;
}
""",
    "src/Books/BookMutations.cs": """\
using Library.Data;

namespace Library.Books;

public class BookMutations
{
    public async Task<Book> AddBookAsync(AddBookInput input, LibraryContext context)
    {
        var book = new Book { Title = input.Title };
        context.Books.Add(book);
        await context.SaveChangesAsync();
        return book;
    }
}
""",
    "src/Books/BookSubscriptions.cs": """\
namespace Library.Books;

[SubscriptionType]
public static class BookSubscriptions
{
    [Subscribe(With = nameof(SubscribeToBookLent))]
    public static Book BookLent([EventMessage] Book book) => book;

    public static ISourceStream<Book> SubscribeToBookLent(ITopicEventReceiver receiver) => receiver.Subscribe();
}
""",
    "src/Books/BookDataLoaders.cs": """\
namespace Library.Books;

public static class BookDataLoaders
{
    [DataLoader]
    public static Task<IReadOnlyDictionary<int, Book>> BookByIdAsync(IReadOnlyList<int> ids) => Load(ids);

    [DataLoader]
    public static Task<IReadOnlyDictionary<int, Shelf>> ShelfByIdAsync(IReadOnlyList<int> ids) => Load(ids);
}
""",
    "src/Data/Book.cs": "namespace Library.Data;\n\npublic class Book\n{\n    public int Id { get; set; }\n"
    "    public string Title { get; set; }\n}\n",
    "src/Data/LibraryContext.cs": "namespace Library.Data;\n\npublic class LibraryContext : DbContext\n{\n"
    "    public DbSet<Book> Books { get; set; }\n    public DbSet<Shelf> Shelves { get; set; }\n}\n",
    "src/Data/Shelf.cs": "namespace Library.Data;\n\npublic class Shelf\n{\n    public int Id { get; set; }\n}\n",
    "src/Program.cs": "builder.Services.AddGraphQLServer().AddTypes().AddMutationType<BookMutations>();\n",
    "src/App/LoanViewModel.cs": """\
namespace Library.App;

public partial class LoanViewModel : ObservableObject
{
    [ObservableProperty]
    string title;

    public string Shelf
    {
        get => _shelf;
        set => SetProperty(ref _shelf, value);
    }

    public string Version => "1";

    public event EventHandler LoanEnded;

    public List<LoanEvent> LoanEvents { get; } = new();

    public ICommand Extend { get; }

    [RelayCommand]
    Task GiveBack() => Task.CompletedTask;

    public Task ReloadAsync() => Task.CompletedTask;
}
""",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("clients"), FILES, "library") as index:
        yield index


def names_in(index: Index, question: str) -> list[str]:
    return re.findall(r"^- \*\*([\w./]+)\*\*", index.ask(question, options=AskOptions()).text, re.MULTILINE)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        (
            "Which queries does the API offer?",
            ["BookQueries.GetBooks", "BookQueries.GetBookByIdAsync", "ShelfQueries.GetShelves"],
        ),
        ("Which queries are paged?", ["BookQueries.GetBooks"]),
        ("Which mutations are there?", ["BookMutations.AddBookAsync"]),
        ("What subscriptions can a client listen to?", ["BookSubscriptions.BookLent"]),
        ("Which data loaders are there?", ["BookDataLoaders.BookByIdAsync", "BookDataLoaders.ShelfByIdAsync"]),
    ],
)
def test_the_operations_of_graphql_are_the_members_of_the_types_that_hold_them(
    library: Index, question: str, names: list[str]
) -> None:
    assert names_in(library, question) == names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which commands does LoanViewModel have?", ["Extend", "GiveBack"]),
        ("Which commands does the loan page's view model offer?", ["Extend", "GiveBack"]),
        ("Which events does LoanViewModel raise?", ["LoanEnded"]),
        ("Which properties of the LoanViewModel notify?", ["title", "Shelf"]),
    ],
)
def test_commands_events_and_properties_that_notify_are_listed_of_a_view_model(
    library: Index, question: str, names: list[str]
) -> None:
    assert names_in(library, question) == names


def test_that_nothing_deletes_is_told_where_all_that_writes_only_adds(library: Index) -> None:
    told = library.ask("Which mutation deletes a book?", options=AskOptions())
    assert "nothing deletes from it" in " ".join(told.notes) and "Written by" not in told.text
    assert "AddBookAsync" in library.ask("Who adds books?", options=AskOptions()).text.partition("Stored")[0]


def test_a_schema_tells_the_operations_where_no_code_does(tmp_path: Path) -> None:
    schema = "type Query {\n  book(id: ID!): Book\n  books: [Book!]!\n}\n\ntype Book {\n  id: ID!\n}\n"
    with opened_index(tmp_path, {"schema.graphql": schema, "README.md": "# Api\n"}, "api") as index:
        assert names_in(index, "Which queries does the API offer?") == ["Query.book", "Query.books"]


DESKTOP = {
    "src/Recorder.xaml": '<c:BaseRecorder x:Class="Pen.Recorder"\n    xmlns="http://schemas.microsoft.com/winfx">\n'
    "</c:BaseRecorder>\n",
    "src/Board.xaml": '<Window x:Class="Pen.Board"\n    xmlns="http://schemas.microsoft.com/winfx">\n</Window>\n',
    "src/BaseRecorder.cs": "namespace Pen;\n\npublic class BaseRecorder : Window\n{\n}\n",
    "src/Commands.xaml": """\
<ResourceDictionary xmlns="http://schemas.microsoft.com/winfx" xmlns:x="http://schemas.microsoft.com/winfx/2006/xaml">
    <RoutedUICommand x:Key="Command.NewRecording" Text="New">
        <RoutedUICommand.InputGestures>
            <KeyGesture>Ctrl + N</KeyGesture>
        </RoutedUICommand.InputGestures>
    </RoutedUICommand>

    <RoutedUICommand x:Key="Command.SaveRecording" Text="Save">
        <RoutedUICommand.InputGestures>
            <KeyGesture>Ctrl + S</KeyGesture>
        </RoutedUICommand.InputGestures>
    </RoutedUICommand>
</ResourceDictionary>
""",
    "src/Settings.xaml": """\
<ResourceDictionary xmlns="http://schemas.microsoft.com/winfx" xmlns:x="http://schemas.microsoft.com/winfx/2006/xaml">
    <Key x:Key="StopShortcut">F8</Key>
    <Key x:Key="EditorShortcut">None</Key>
</ResourceDictionary>
""",
    "src/AppThemes.cs": "namespace Pen;\n\npublic enum AppThemes\n{\n    Light,\n    Dark,\n}\n",
    "src/Errors.cs": "namespace Pen;\n\npublic class InkException : Exception;\n\n"
    "public class NibException : Exception;\n",
    "src/AppShell.cs": "namespace Pen;\n\npublic class AppShell : Shell\n{\n    public AppShell()\n    {\n"
    "        Routing.RegisterRoute(nameof(DrawingPage), typeof(DrawingPage));\n"
    '        Routing.RegisterRoute("ink/colors", typeof(ColorsPage));\n    }\n}\n',
    "src/Texts/Strings.resx": '<root>\n  <data name="Draw"><value>Draw</value></data>\n</root>\n',
    "src/Texts/Strings.de.resx": '<root>\n  <data name="Draw"><value>Zeichnen</value></data>\n</root>\n',
    "src/Pen.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n  <PropertyGroup>\n'
    "    <TargetFrameworks>net9.0-android;net9.0-windows10.0.19041.0</TargetFrameworks>\n"
    "  </PropertyGroup>\n</Project>\n",
    "src/Core/Core.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n  <PropertyGroup>\n'
    "    <TargetFramework>net8.0</TargetFramework>\n  </PropertyGroup>\n</Project>\n",
}


@pytest.fixture(scope="module")
def pen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("desktop"), DESKTOP, "pen") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which keyboard shortcuts are there?", ["Command.NewRecording", "Command.SaveRecording", "StopShortcut"]),
        ("Which shortcuts does the app have?", ["Command.NewRecording", "Command.SaveRecording", "StopShortcut"]),
        ("Which shortcut saves the recording?", ["Command.SaveRecording"]),
        ("What is the default shortcut to stop a recording?", ["StopShortcut"]),
        ("Which shortcuts stop or save a recording?", ["Command.NewRecording", "Command.SaveRecording"]),
    ],
)
def test_shortcuts_are_known_by_what_they_do_and_by_their_resources(
    pen: Index, question: str, names: list[str]
) -> None:
    assert names_in(pen, question) == names


@pytest.mark.parametrize(
    "question", ["Where are the navigation routes registered?", "Which routes does the shell know?"]
)
def test_navigation_routes_are_those_that_the_shell_is_given(pen: Index, question: str) -> None:
    assert names_in(pen, question) == ["DrawingPage", "ink/colors"]


@pytest.mark.parametrize("question", ["Which themes can a user choose?", "What themes does the app have?"])
def test_an_enumeration_of_the_app_is_what_a_question_for_its_values_means(pen: Index, question: str) -> None:
    assert "enum AppThemes" in pen.ask(question, options=AskOptions()).text.partition("See also")[0]


@pytest.mark.parametrize(
    "question",
    [
        "Where are the texts of the app kept?",
        "Where do I change the UI labels?",
        "Which languages is the app translated into?",
    ],
)
def test_texts_that_users_see_are_told_by_their_files(pen: Index, question: str) -> None:
    assert names_in(pen, question) == ["Strings.resx", "Strings.de.resx"]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            ["Forms/Pen.resx", "Forms/Pen.de.resx", "Forms/Ink.de.resx", "Forms/Pen.pt.resx"],
            ["neutral", "de", "pt"],
        ),
        (["i18n/en.json", "i18n/cs.json", "i18n/fr.json", "Properties/Resources.resx"], ["cs", "en", "fr"]),
        (["res/values/strings.xml", "res/values-de/strings.xml", "res/values-fr/strings.xml"], ["neutral", "de", "fr"]),
    ],
)
def test_languages_of_texts_are_listed_once_each(tmp_path: Path, texts: list[str], told: list[str]) -> None:
    files = {path: '{"Pen": "Pen"}\n' if path.endswith("json") else "<root></root>\n" for path in texts}
    with opened_index(tmp_path, {**files, "src/Pen.cs": "namespace Pens;\n\npublic class Pen { }\n"}, "pens") as index:
        for question in ("Which languages is the user interface translated to?", "which translations are available?"):
            assert names_in(index, question)[:3] == told


def test_types_of_a_sort_are_the_types_that_are_called_so(pen: Index) -> None:
    assert names_in(pen, "Which exception types are there?") == ["InkException", "NibException"]


def test_a_window_may_derive_from_another_of_the_project(pen: Index) -> None:
    assert names_in(pen, "Which windows does the app have?") == ["Board", "Recorder"]


@pytest.mark.parametrize(
    "question",
    ["Which platforms does the mobile app support?", "On which platforms does it run?"],
)
def test_platforms_are_those_that_projects_target(pen: Index, question: str) -> None:
    told = pen.ask(question, options=AskOptions()).text
    assert "net9.0-android;net9.0-windows" in told and "net8.0" not in told


def test_the_version_of_net_that_is_needed_to_run_it_is_the_one_that_projects_target(pen: Index) -> None:
    assert "net9.0-android" in pen.ask("Which .NET version do I need to run it?", options=AskOptions()).text
