"""What people ask of a business application of .NET: its error codes, repositories, registrations, entity sets and
endpoints, and what is tested, in their words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

CODES = ["StampTorn", "StampWet", "LetterLost", "LetterLate", "BagFull", "BagOpen", "ScaleOff", "DoorShut", "NoInk"]
FILES = {
    "README.md": "# Post\n\nLetters and stamps.\n",
    "src/PostErrorCodes.cs": "namespace Post;\n\npublic class PostErrorCodes\n{\n"
    + "".join(
        f'    public static ErrorCode {name} => new ErrorCode() {{ Code = "PST{at:03}", Message = Texts.{name} }};\n'
        for at, name in enumerate(CODES, 1)
    )
    + "}\n",
    "src/Repos/StampRepo.cs": "namespace Post;\n\npublic class StampRepo : DocumentRepoBase<Stamp>, IStampRepo\n{\n"
    "    public Task AddStampAsync(Stamp stamp) => CreateDocumentAsync(stamp);\n}\n",
    "src/Repos/LetterBoxRepo.cs": "namespace Post.Repos;\n\npublic class LetterBoxRepo : TableBase<LetterBox>\n{\n"
    "    public Task SaveAsync(LetterBox box) => InsertAsync(box);\n}\n",
    "src/Repos/DocumentRepoBase.cs": "namespace Post;\n\npublic class DocumentRepoBase<TEntity>\n{\n"
    "    private static PostClient _client;\n\n    protected Task CreateDocumentAsync(TEntity item)\n    {\n"
    "        return Task.CompletedTask;\n    }\n}\n",
    "src/Models/LetterBox.cs": "namespace Post;\n\npublic class LetterBox\n{\n    public int Size { get; set; }\n}\n",
    "src/Models/Stamp.cs": "namespace Post;\n\npublic class Stamp\n{\n    public int Id { get; set; }\n}\n",
    "src/Managers/StampManager.cs": "namespace Post;\n\npublic class StampManager : ManagerBase, IStampManager\n{\n"
    "    private readonly IStampRepo _repo;\n\n    public StampManager(IStampRepo repo)\n    {\n        _repo = repo;\n"
    "    }\n}\n",
    "src/Startup.cs": "namespace Post;\n\npublic static class Startup\n{\n"
    "    public static void ConfigureServices(IServiceCollection services)\n    {\n"
    "        services.AddSingleton<IStampManager, StampManager>();\n"
    "        services.AddTransient<ILetterManager, LetterManager>();\n"
    "        services.AddTransient<IStampRepo, StampRepo>();\n    }\n}\n",
    "src/Data/PostOfficeContext.cs": "namespace Post;\n\npublic class PostOfficeContext : DbContext\n{\n"
    "    public DbSet<Stamp> Stamps { get; set; }\n    public DbSet<LetterBox> LetterBoxes { get; set; }\n}\n",
    "src/Controllers/LetterBoxController.cs": """\
namespace Post.Controllers;

[Authorize]
public class LetterBoxController : ControllerBase
{
    [HttpPost("/api/letterbox")]
    public Task AddLetterBoxAsync([FromBody] LetterBox box) => _manager.AddAsync(box);

    [HttpPut("/api/letterbox")]
    public Task UpdateLetterBoxAsync([FromBody] LetterBox box) => _manager.UpdateAsync(box);

    [HttpGet("/api/letterboxes")]
    public Task<List<LetterBox>> GetLetterBoxesAsync() => _manager.GetAllAsync();

    [HttpGet("/api/letterbox/{id}")]
    public Task<LetterBox> GetLetterBoxAsync(string id) => _manager.GetAsync(id);

    [HttpDelete("/api/letterbox/{id}")]
    public Task DeleteLetterBoxAsync(string id) => _manager.DeleteAsync(id);

    /// <summary>Letter box - get by number or street</summary>
    [HttpGet("/api/letterbox/search")]
    public Task<LetterBox> FindLetterBoxAsync(string number, string street)
    {
        if (!String.IsNullOrEmpty(number))
            return _manager.FindAsync(number);

        throw new InvalidOperationException("Must pass a number or a street on the query string.");
    }
}
""",
    "tests/LetterBoxValidation.cs": """\
namespace Post.Tests;

[TestClass]
public class LetterBoxValidation
{
    [TestMethod]
    public void LetterBox_has_a_size()
    {
        var box = new LetterBox();
        Assert.AreEqual(0, box.Size);
    }
}
""",
}


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("office"), FILES, "post") as index:
        yield index


def listed(index: Index, question: str) -> tuple[str, list[str]]:
    """The heading of a list, and the names in it."""
    lines = index.ask(question, options=AskOptions()).text.splitlines()
    return lines[0].strip("*:"), [line.split("**")[1] for line in lines if line.startswith("- **")]


def test_a_catalog_of_errors_is_listed_line_by_line_or_what_of_it_is_asked_for(post: Index) -> None:
    heading, names = listed(post, "which error codes are there and what do they mean?")
    assert heading == "9 error codes" and names == [f"PostErrorCodes.{name}" for name in CODES]
    assert '"PST003"' in post.ask("list the error codes", options=AskOptions()).text
    assert listed(post, "what error codes can a stamp have?")[1] == [
        "PostErrorCodes.StampTorn",
        "PostErrorCodes.StampWet",
    ]


def test_repositories_may_be_called_repos(post: Index) -> None:
    assert listed(post, "which repositories are there?") == ("2 repositories", ["LetterBoxRepo", "StampRepo"])


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which repositories store their data in documents?", "StampRepo"),
        ("Which repos keep their records in a table?", "LetterBoxRepo"),
    ],
)
def test_what_is_kept_where_is_told_by_the_bases(post: Index, question: str, name: str) -> None:
    assert listed(post, question)[1] == [name]
    assert listed(post, "Which repositories store their data in a cupboard?")[1] == []


@pytest.mark.parametrize(
    ("question", "heading", "names"),
    [
        ("Which managers are registered for dependency injection?", "2 registered managers", "IStamp ILetter"),
        ("Which managers are registered as transient?", "1 registered manager", "ILetter"),
    ],
)
def test_what_is_registered_is_told_of_a_sort_and_of_a_lifetime(
    post: Index, question: str, heading: str, names: str
) -> None:
    assert listed(post, question) == (heading, [f"{name}Manager" for name in names.split()])


@pytest.mark.parametrize(
    "question",
    [
        "Where is StampRepo registered?",
        "where do we register IStampRepo?",
        "Where is StampRepo.AddStampAsync registered?",
        "with which lifetime is IStampRepo registered?",
        "what is the lifetime of IStampRepo?",
        "is StampRepo a singleton or scoped?",
    ],
)
def test_where_something_is_registered_is_the_line_that_does_it(post: Index, question: str) -> None:
    text = post.ask(question, options=AskOptions()).text
    assert text.startswith("**1 registered service:**\n- **IStampRepo** in src/Startup.cs:9")


@pytest.mark.parametrize(
    "question",
    [
        "Which tables does PostOfficeContext have?",
        "Which database tables does the post office context have?",
        "Which DbSets does the PostOfficeContext have?",
        "Which entities are in the post office context?",
    ],
)
def test_the_sets_of_a_context_are_those_that_it_declares(post: Index, question: str) -> None:
    assert listed(post, question) == ("2 entity sets", ["Stamps", "LetterBoxes"])


@pytest.mark.parametrize(
    ("question", "routes"),
    [
        ("Which endpoint saves a letter box?", ["POST /api/letterbox", "PUT /api/letterbox"]),
        ("What rest api deletes a letter box?", ["DELETE /api/letterbox/{id}"]),
        ("Which endpoint returns a letter box?", ["GET /api/letterbox/{id}"]),
        ("Which endpoint lists all letter boxes?", ["GET /api/letterboxes"]),
    ],
)
def test_the_endpoint_that_does_something_to_a_thing_is_known_by_its_method(
    post: Index, question: str, routes: list[str]
) -> None:
    assert listed(post, question)[1] == routes


def test_tests_are_known_by_what_they_test_whatever_they_are_called(post: Index) -> None:
    assert "**LetterBoxValidation** tests **LetterBox**" in post.ask("Which tests cover letter boxes?").text
    assert listed(post, "Is there a test for letter box validation?")[1] == ["LetterBoxValidation"]


def test_that_nothing_tests_something_is_said(post: Index) -> None:
    found = post.ask("Are there tests for the stamp manager?", options=AskOptions())
    assert "Not sure" in found.text and "no test of StampManager is known" in " ".join(found.notes)


def test_a_member_is_told_with_the_type_that_has_it(post: Index) -> None:
    thrown = post.ask("where is InvalidOperationException thrown?").text
    assert "**LetterBoxController.FindLetterBox** throws **InvalidOperationException**" in thrown
    assert "**DocumentRepoBase._client** names **PostClient**" in post.ask("where is PostClient used?").text


def test_a_name_in_the_plural_is_one_that_is_mentioned(post: Index) -> None:
    assert "enough information" not in post.ask("How are ErrorCodes made from a StampTorn?").text
    assert "enough information" in post.ask("What are the KafkaTopics for?").text


def test_the_commands_for_tests_are_also_those_of_the_readme_of_a_part(tmp_path: Path) -> None:
    files = {
        "README.md": "# Post\n\nLetters.\n",
        "MODEL.md": "# Model\n\n## 4 Test binding and evidence\n\nStatus: not started. Tests prove what is said.\n",
        "tests/Post.Tests/README.md": "# Post.Tests\n\nRun them:\n\n```\ndotnet test tests/Post.Tests\n```\n",
    }
    with opened_index(tmp_path, files, "post") as index:
        text = index.ask("How do I run the tests?", options=AskOptions()).text
    assert text.startswith("**Documents of parts:**\n- **README.md** in tests/Post.Tests/README.md:6: `dotnet test")
