"""Files of a kind or of a length, and declarations by several modifiers, by one that they lack and by what they do not
take; forms of logs, clients, metrics and defaults; patterns and technologies that are asked for by name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.structure.files import files_asked
from rag_assets.answer.structure.questions import shape_asked
from rag_assets_tests.cli.conftest import opened_index
from rag_assets_tests.effort import ends_within

FILES = {
    "Bakery.slnx": "<Solution>\n</Solution>\n",
    "Dockerfile": "FROM alpine\n",
    "deploy/oven.Dockerfile": "FROM alpine\n",
    "deploy/bake.sh": "#!/bin/sh\nset -e\necho baked\n",
    "protos/bread.proto": 'syntax = "proto3";\n\nmessage Bread {\n  int32 weight = 1;\n}\n',
    "web/scale.rb": "class ScaleController\n  def weigh\n    1\n  end\nend\n",
    "src/appsettings.json": '{\n  "Oven": {\n    "Degrees": 220\n  }\n}\n',
    "src/Bakery.csproj": """\
<Project Sdk="Microsoft.NET.Sdk.Web">
  <ItemGroup>
    <PackageReference Include="Dapper" Version="2.1.0" />
  </ItemGroup>
</Project>
""",
    "src/Shop.csproj": '<Project Sdk="Microsoft.NET.Sdk.Web">\n</Project>\n',
    "src/Oven.cs": """\
namespace Bakery;

public sealed class Oven
{
    public async Task HeatAsync(int degrees, CancellationToken stop)
    {
        logger.LogError("Too hot");
        logger.LogWarning("Hot");
        await Task.Delay(degrees, stop);
        Console.WriteLine(DateTime.UtcNow);
    }

    public async Task CoolAsync(int degrees) => await Task.Delay(degrees);

    public async void Open() => await CoolAsync(20);

    internal int Warm() => 1;

    public Bread? Find(string name)
    {
        if (name == "")
            return null;
        throw new NotImplementedException();
    }
}

public interface IOven
{
    int Cool();
}

public record Bread(int Weight);

public class BakeBreadCommand : Bread
{
}

public static class Ovens
{
    public static Oven Clean(this Oven oven) => oven;

    public static readonly Counter<long> Baked = Meter.CreateCounter<long>("baked");

    public static void Add(IServiceCollection services)
    {
        services.AddHttpClient<FlourClient>();
        services.AddSingleton<Oven>();
        services.AddScoped<Bread>();
        services.Publish(new BreadBaked(1));
    }
}

public class BreadHandler
{
    public Bread Handle(Bread bread) => bread;
}

public class BreadMap : IEntityTypeConfiguration<Bread>
{
    public void Configure(EntityTypeBuilder<Bread> builder)
    {
        builder.Property(one => one.Weight).HasDefaultValue(500);
        builder.HasIndex(one => one.Name).IsUnique();
        builder.Property(one => one.Name).IsRequired();
    }
}
""",
}


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("bakery"), FILES, "bakery") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("which Dockerfiles are there?", ["2 Dockerfiles", "deploy/oven.Dockerfile"], []),
        ("is there a Dockerfile?", ["2 Dockerfiles"], []),
        ("what proto files are there?", ["1 proto", "protos/bread.proto"], []),
        ("list all shell scripts", ["1 shell script", "deploy/bake.sh"], []),
        ("which config files do we have?", ["1 config file", "appsettings.json"], []),
        ("what solution files are there?", ["1 solution file", "Bakery.slnx"], []),
        ("how many C# files are there?", ["1 C# file", "src/Oven.cs"], []),
        ("which files are longer than 40 lines?", ["1 file", "**Oven.cs** has **"], ["bake.sh"]),
        (
            "which classes are not sealed?",
            ["classes not sealed", "**BakeBreadCommand**"],
            ["**Oven**", "**Ovens**", "**ScaleController**"],
        ),
        ("which classes are records?", ["1 record", "**Bread**"], ["**Oven"]),
        ("which extension methods are there?", ["1 extension method", "Ovens.Clean"], ["Ovens.Add"]),
        ("list all public static methods", ["2 public static methods", "Ovens.Add"], ["Heat"]),
        ("which methods are async void?", ["1 async void method", "Oven.Open"], []),
        (
            "which async methods don't take a CancellationToken?",
            ["Async methods that do not take CancellationToken (2)", "CoolAsync", "Open"],
            ["HeatAsync"],
        ),
        ("which classes have more than two methods?", ["Classes by their methods (1)", "**Oven**"], ["Ovens"]),
        ("which logs are written at error level?", ["1 error log", "Too hot"], ['("Hot")']),
        ("where are warnings logged?", ["1 warning log", '("Hot")'], ["Too hot"]),
        ("which HTTP clients are configured?", ["1 HTTP client", "AddHttpClient<FlourClient>"], []),
        ("which metrics are collected?", ["1 metric", "Ovens.Baked"], []),
        ("where are events published?", ["1 published event", "BreadBaked"], []),
        ("which methods return null?", ["1 returned null", "Oven.Find"], []),
        ("which methods throw NotImplementedException?", ["1 unimplemented member", "Oven.Find"], []),
        ("which columns have a default value?", ["1 column default", "HasDefaultValue(500)"], []),
        ("which indexes are unique?", ["1 unique constraint", "IsUnique"], []),
        ("which tables have an index?", ["1 index definition", "HasIndex"], []),
        ("which properties are required?", ["1 required property", "IsRequired"], []),
        ("which methods are not async?", ["methods not async", "Ovens.Clean"], ["HeatAsync", "weigh"]),
        ("which methods are not public?", ["1 method not public", "Oven.Warm"], ["IOven", "weigh"]),
        ("which methods are not implemented?", ["1 unimplemented member", "Oven.Find"], ["derives from"]),
        ("which handlers do not take a CancellationToken?", ["(1)", "BreadHandler.Handle"], ["Oven.Open", "Ovens."]),
        ("which singletons are there?", ["AddSingleton<Oven>"], ["AddScoped"]),
        ("which scoped services are there?", ["AddScoped<Bread>"], ["AddSingleton"]),
        ("what changed in the last 5 commits?", ["Indexed is commit", "Bakery.slnx"], []),
        ("is CQRS used?", ["Command and query (CQRS)", "BakeBreadCommand"], []),
        ("does it use Entity Framework or Dapper?", ["**ORM:**", "**Dapper**"], ["Entity"]),
        ("is it a monolith or microservices?", ["2 programs"], []),
        ("where is DateTime.UtcNow used?", ["Oven.HeatAsync"], []),
    ],
)
def test_files_and_declarations_are_listed(bakery: Index, question: str, told: list[str], untold: list[str]) -> None:
    answer = bakery.ask(question)

    assert not answer.abstained and not answer.unsure, answer.reason
    assert [one for one in told if one not in answer.text] == [], answer.text
    assert [one for one in untold if one in answer.text] == [], answer.text


def test_what_is_only_called_a_controller_is_no_mvc(bakery: Index) -> None:
    assert "ScaleController" not in bakery.ask("is MVC used?").text


def test_of_records_those_that_are_another_kind_are_not_all_of_that_kind(bakery: Index) -> None:
    assert "1 interface" not in bakery.ask("which records are interfaces?").text


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("which SQL scripts are there?", "no file of the index is a SQL script"),
        ("are there any .resx files?", "no file of the index is a RESX file"),
        ("which files are longer than 2,000 lines?", "no file of code in the index is so"),
        ("where is DateTime.Now used?", "nothing here names DateTime.Now"),
        ("which classes are sealed and abstract?", "no sealed abstract class is known"),
    ],
)
def test_that_none_is_so_is_said(bakery: Index, question: str, absent: str) -> None:
    answer = bakery.ask(question)
    assert answer.abstained or answer.unsure
    assert absent in f"{answer.notes} {answer.reason}"


@pytest.mark.parametrize(
    "question",
    [
        "which files does the import write?",
        "which log files are kept?",
        "what does the Dockerfile do?",
        "which scripts run at night?",
        "how many lines may a file have?",
        "which orders are not open?",
        "which methods are void of meaning?",
    ],
)
def test_questions_that_only_sound_so_want_no_files(question: str) -> None:
    assert files_asked(question) is None
    assert shape_asked(question) is None


def test_long_questions_take_no_time() -> None:
    with ends_within(1):
        for word in ("files ", "all the which ", "public static ", "a file and a file "):
            assert files_asked(word * 5_000) is None
            assert shape_asked(word * 5_000) is None
