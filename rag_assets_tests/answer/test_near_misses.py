"""Questions that only sound like those that a rule answers, and code that is only called like what it looks for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.question_kinds import data_asked
from rag_assets.answer.structure.behaviours import happening_asked
from rag_assets.answer.structure.migrations import migrations_asked
from rag_assets.answer.whole_project import Everyday, everyday_question
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "db/migrate/20240101_create_seats.rb": """\
class CreateSeats < ActiveRecord::Migration[7.0]
  def change
    create_table :seats do |t|
      t.string :number
    end
  end
end
""",
    "db/migrate/20240202_create_rows.rb": """\
class CreateRows < ActiveRecord::Migration[7.0]
  def change
    create_table :rows do |t|
      t.string :seat
    end
  end
end
""",
    "db/migrate/20240303_change_rows.rb": """\
class ChangeRows < ActiveRecord::Migration[7.0]
  def change
    remove_index :rows, name: :by_seat
    change_column :rows, :seat, :text
    add_foreign_key "tickets", "seats"
  end
end
""",
    "lib/curtain.rb": """\
class Curtain
  def closed?
    measured_height < 1
  end

  def measured_height
    height_of(self)
  end

  def height_of(curtain)
    curtain.rope.length
  end
end
""",
    "src/Basket.cs": """\
namespace Theatre;

public class Basket
{
    private readonly List<string> _items = [];

    public void RemoveItemFromBasket(string item) => Take(item);

    private void Take(string item) => _items.Remove(item);
}

public class BasketView
{
    public void ClearBasketItems() => System.Console.Clear();
}

public class TicketGroup
{
    public int CreateTicket(string seat) => Number(seat);

    private static int Number(string seat)
    {
        return seat.Length;
    }
}

public class TourBookedHandler
{
    public void Handle(string tour) => Note(tour);

    private void Note(string tour)
    {
        System.Console.WriteLine(tour);
    }
}
""",
    "src/Play.cs": "namespace Theatre;\n\npublic class Play\n{\n    public void Open() => Light();\n\n"
    "    private void Light()\n    {\n    }\n}\n",
    "src/Posters/Play.cs": "namespace Theatre.Posters;\n\npublic class Play\n{\n    public string Title()\n    {\n"
    '        return "Faust";\n    }\n}\n',
    "src/Gates.cs": """namespace Theatre;

/// <summary>Authentication at the two gates: each has a factor of its own, a two-step test.</summary>
public class GateAuthentication
{
    public bool Authenticate(string factor) => factor.Length > 2;
}
""",
    "src/Rig.cs": "namespace Theatre;\n\npublic class Rig\n{\n    public string StageLight { get; set; }\n}\n\n"
    "public class HouseLight\n{\n    public int Watts { get; set; }\n}\n",
    "src/Model.cs": """\
namespace Theatre;

public class Scene
{
    public int Id { get; set; }

    public Author Author { get; set; }
}

public class Author
{
    public int Id { get; set; }

    public Country Country { get; set; }

    public List<Letter> Letters { get; set; }
}

public class Letter
{
    public int Id { get; set; }
}

public class Country
{
    public int Id { get; set; }
}

public class TheatreContext : DbContext
{
    public DbSet<Scene> Scenes { get; set; }

    public DbSet<Author> Authors { get; set; }

    public DbSet<Letter> Letters { get; set; }

    public DbSet<Country> Countries { get; set; }
}
""",
    "src/Controllers.cs": """\
namespace Theatre;

[Audit]
public class SeatsController : ControllerBase
{
    [HttpGet("/seats")]
    public string All() => "";
}

public class GuestsController : ControllerBase
{
    [HttpGet("/guests")]
    public string All() => "";
}

public static class PlaysApi
{
    public static void MapPlays(this IEndpointRouteBuilder app)
    {
        app.MapGet("/plays", Find).RequireAudit();
    }

    public static string Find() => "";
}
""",
    "src/Services.cs": "namespace Theatre;\n\npublic interface IDoor\n{\n}\n\n"
    + "".join(f"public class {one}Service : IDoor;\n\n" for one in ("Front", "Back", "Side"))
    + "".join(f"public class Stage{one}Service\n{{\n}}\n\n" for one in "ABCDEFGHIJKLM"),
    "forum/views.py": """\
class Register(MethodView):
    def post(self):
        return self.kept()

    def kept(self):
        form = self.form()
        return form


class EnablePlugin(MethodView):
    pass


class DisablePlugin(MethodView):
    pass


class DeletePlugin(MethodView):
    pass


class Topic:
    def update_read(self):
        return self.seen()

    def seen(self):
        read = True
        return read
""",
    "forum/plugins.py": """\
def new_plugin(name):
    return named(name)


def named(name):
    name = name.lower()
    return name
""",
    "migrations/20240404_hidden.py": """\
from alembic import op


def upgrade():
    with op.batch_alter_table("posts", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("hidden", sa.Boolean())
        )
""",
    "src/Migrations/20240505_Stage.cs": """\
public partial class Stage : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.CreateTable(
            name: "Stages",
            columns: table => new
            {
                Id = table.Column<int>(nullable: false),
                Depth = table.Column<int>(nullable: false)
            });
    }
}
""",
    "src/Lamps.cs": """\
namespace Theatre;

public class LampMockService
{
    public void DimLamp() => Fade();

    private void Fade()
    {
        System.Console.WriteLine("dimmed");
    }
}

public class LampService
{
    public void DimLamp()
    {
        System.Console.WriteLine("dim");
    }

    private System.Exception LampRepairException()
    {
        return Failed();
    }

    private System.Exception Failed()
    {
        return new System.Exception("lamp");
    }
}

public static class Clock
{
    public static void Set() => Wind();

    private static void Wind()
    {
        System.Console.WriteLine("wound");
    }
}
""",
    "metrics/metric.go": """\
package metrics

type collector struct{}

func NewCollector() *collector {
	return started()
}

func started() *collector {
	return &collector{}
}
""",
}
SHARED = {
    "src/Directory.Build.targets": "<Project>\n  <ItemGroup Condition=\"$(MSBuildProjectName.EndsWith('Web'))\">\n"
    '    <ProjectReference Include="..\\*\\*.Core.csproj" />\n  </ItemGroup>\n</Project>\n',
    "src/Hall.Web/Hall.Web.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web">\n  <ItemGroup>\n'
    '    <ProjectReference Include="..\\Hall.Mail\\Hall.Mail.csproj" />\n  </ItemGroup>\n</Project>\n',
    "src/Hall.Mail/Hall.Mail.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
    "src/Hall.Core/Hall.Core.csproj": '<Project Sdk="Microsoft.NET.Sdk">\n</Project>\n',
}


@pytest.fixture(scope="module")
def theatre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("theatre"), FILES, "theatre") as index:
        yield index


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("hall"), SHARED, "hall") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "has", "lacks"),
    [
        ("When was the table seats created?", "**1 migration adding seats:**", "create_rows"),
        ("When was the column Depth added?", "**1 migration adding Depth:**", "create_rows"),
        ("Which migrations created seats?", "**2 migrations adding seats:**", "change_rows"),
        ("When was the column hidden added to posts?", "**1 migration adding hidden of posts:**", "create_rows"),
        ("Which entities reference Author?", "**Scene** refers to **Author**", "**Country**"),
        ("Which entities reference Author?", "**Author** refers to **Letter**", "**Country**"),
        ("Which foreign keys does Author have?", "**Author** refers to **Country**", "**Letter**"),
        ("Which controllers have no Audit attribute?", "**1 controller of 2 without Audit:**", "PlaysApi"),
        ("Which endpoints have no [Audit] attribute?", "**1 endpoint of 2 without Audit", "/plays"),
        ("Which methods of Play are used the most?", "**Play.Light** has **1 user**", "Title"),
    ],
)
def test_a_list_has_nothing_that_is_only_called_so(theatre: Index, question: str, has: str, lacks: str) -> None:
    text = theatre.ask(question).text.partition("\n\n")[0]
    assert has in text
    assert lacks not in text


@pytest.mark.parametrize(
    ("question", "lacks"),
    [
        ("What happens when a curtain is closed?", "It comes to"),
        ("How is a ticket group created?", "It comes to"),
        ("How are metrics collected?", "It comes to"),
        ("What do I need to change to add a new service?", "Usual form"),
        ("How does a visitor book a tour?", "It comes to"),
        ("How is a post created?", "It comes to"),
        ("How is a lamp repaired?", "It comes to"),
        ("How is a lamp dimmed?", "It comes to"),
        ("How are settings changed?", "It comes to"),
        ("How are settings loaded?", "It comes to"),
        ("How does a plugin work?", "It comes to"),
        ("Show me an example of a plugin", "Usual form"),
    ],
)
def test_what_is_only_called_nearly_so_is_no_course(theatre: Index, question: str, lacks: str) -> None:
    assert lacks not in theatre.ask(question).text


def test_a_word_that_only_joins_others_is_none_beside_what_is_done(theatre: Index) -> None:
    answer = theatre.ask("How is an item removed from the basket?")
    assert answer.text.startswith("`Basket.RemoveItemFromBasket` in ")


def test_a_number_that_is_part_of_a_name_is_named_with_it(theatre: Index) -> None:
    assert theatre.ask("how does two-factor authentication work?").text.startswith("**Not sure.")
    assert theatre.ask("how does the two-step gate authentication work?").text.startswith("`GateAuthentication")


def test_words_compared_are_those_of_types(theatre: Index) -> None:
    answer = theatre.ask("What is the difference between a stage light and a house light?")
    assert answer.intent != "definition"


def test_no_foreign_key_is_said_to_be_none_where_none_is_known_of_any(theatre: Index) -> None:
    answer = theatre.ask("Which foreign keys does seats have?")
    assert "no foreign key" not in f"{answer.reason} {answer.notes}"


def test_references_of_other_files_are_not_said_to_be_none(hall: Index) -> None:
    answer = hall.ask("Does Hall.Web depend on Hall.Core?")
    assert "does not refer" not in f"{answer.reason} {answer.notes}"
    assert "**Hall.Web** refers to **Hall.Mail**" in hall.ask("Does Hall.Web depend on Hall.Mail?").text
    assert "refers to **1 project**" not in hall.ask("Which project has the most references?").text
    answer = hall.ask("Are there circular references between the projects?")
    assert "refers to itself" not in f"{answer.reason} {answer.notes}"


def test_what_is_not_done_is_no_course() -> None:
    for question in (
        "What happens when a seat is not sold?",
        "What happens when a seat can't be sold?",
        "How is a seat never sold twice?",
    ):
        assert happening_asked(question) is None


def test_a_column_of_no_name_is_of_no_migration() -> None:
    for question in ("Which migrations drop a column?", "Which migrations add a column to seats?"):
        assert migrations_asked(question) is None


def test_how_something_is_saved_is_told_by_what_saves_it() -> None:
    assert data_asked("How is a seat saved?") is None
    assert data_asked("Where is a seat saved?") is not None


def test_tests_with_classes_are_no_classes_with_tests() -> None:
    asked = everyday_question("Which tests have classes?")
    assert asked is None or asked.about is not Everyday.UNTESTED
