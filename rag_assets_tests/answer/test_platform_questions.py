"""What people ask first of a service on .NET: behaviors, connection strings, audit fields, tenancy, configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Depot\n\nKeeps pallets.\n",
    "src/Pipeline/CheckingBehavior.cs": "namespace Depot.Pipeline;\n\n"
    "public class CheckingBehavior<TIn, TOut> : IPipelineBehavior<TIn, TOut>\n{\n"
    "    public Task<TOut> Handle(TIn message) => Next(message);\n}\n",
    "src/Pipeline/TracingStep.cs": "namespace Depot.Pipeline;\n\n"
    "public class TracingStep<TIn, TOut> : IPipelineBehavior<TIn, TOut>\n{\n"
    "    public Task<TOut> Handle(TIn message) => Next(message);\n}\n",
    "src/Api/appsettings.json": '{\n  "DatabaseOptions": {\n    "Provider": "postgres",\n'
    '    "ConnectionString": "Host=db;Database=depot"\n  }\n}\n',
    "src/Api/appsettings.Production.json": '{\n  "DatabaseOptions": {\n    "ConnectionString": ""\n  }\n}\n',
    "src/Data/AuditInterceptor.cs": """\
namespace Depot.Data;

public class AuditInterceptor
{
    private void Fill(DbContext context, string user)
    {
        foreach (var entry in context.ChangeTracker.Entries<IAudited>())
        {
            entry.Property(nameof(IAudited.StoredBy)).CurrentValue = user;
        }
    }
}
""",
    "src/Data/Migrations/20250101_Initial.cs": """\
namespace Depot.Data.Migrations;

public class Initial
{
    protected void Up(MigrationBuilder builder)
    {
        builder.CreateTable("Pallets", table => new { StoredBy = table.Column<string>(type: "text") });
    }
}
""",
    "src/Data/DepotContexts.cs": "namespace Depot.Data;\n\n"
    "public abstract class DepotDbContext(DbContextOptions options) : IdentityDbContext<User>(options)\n{\n}\n\n"
    "public class PostgresDepot(DbContextOptions options) : DepotDbContext(options)\n{\n}\n",
    "src/Data/RequestContext.cs": "namespace Depot.Data;\n\npublic class RequestContext\n{\n}\n",
    "src/Api/SigningOptions.cs": "namespace Depot.Api;\n\npublic class SigningOptions\n{\n"
    '    public string SigningScheme { get; set; } = "rsa";\n}\n',
    "src/Api/SigningKey.cs": "namespace Depot.Api;\n\npublic class SigningKey\n{\n"
    "    public byte[] Secret { get; set; }\n}\n",
    "src/Api/Signing.cs": "namespace Depot.Api;\n\npublic static class Signing\n{\n"
    "    public static void ConfigureSigning(IServiceCollection services, SigningOptions options)\n    {\n"
    "        services.AddSigner(options.SigningScheme);\n        services.AddKeys();\n    }\n}\n",
    "src/Tenants/MultitenancyModule.cs": """\
namespace Depot.Tenants;

public class MultitenancyModule
{
    public void AddServices() { Resolve(); Store(); }

    public void UseTenants() { Resolve(); }

    public void Seed() { Store(); }

    private void Resolve() => Store();

    private void Store() { }
}
""",
}


@pytest.fixture(scope="module")
def depot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("platform"), FILES, "depot") as index:
        yield index


def _listed(index: Index, question: str) -> tuple[str, list[str]]:
    told = index.ask(question).text.partition("\n\n")[0]
    return told.partition("\n")[0], re.findall(r"- .* in ([\w/.]+:\d+)", told)


def test_what_implements_a_contract_of_a_library_is_listed_by_its_words(depot: Index) -> None:
    assert _listed(depot, "which pipeline behaviors are there?") == (
        "**2 pipeline behaviors:**",
        ["src/Pipeline/CheckingBehavior.cs:3", "src/Pipeline/TracingStep.cs:3"],
    )


@pytest.mark.parametrize(
    "question", ["which DbContexts are there?", "which DbContext classes do we have?", "which EF contexts exist?"]
)
def test_a_context_of_ef_core_is_what_derives_from_a_form_of_its_context(depot: Index, question: str) -> None:
    assert _listed(depot, question)[1] == ["src/Data/DepotContexts.cs:3", "src/Data/DepotContexts.cs:7"]


@pytest.mark.parametrize(
    "question",
    [
        "where is the connection string?",
        "where is the database connection string configured?",
        "where do I set the connection string to the database?",
        "which connection strings are there?",
    ],
)
def test_the_connection_string_is_where_settings_have_one(depot: Index, question: str) -> None:
    assert _listed(depot, question) == ("**1 connection string:**", ["src/Api/appsettings.json:4"])


@pytest.mark.parametrize("question", ["where is StoredBy set?", "who sets StoredBy on an entity?"])
def test_what_the_entry_of_a_context_sets_is_told_without_migrations(depot: Index, question: str) -> None:
    assert _listed(depot, question) == ("**Code that sets StoredBy:**", ["src/Data/AuditInterceptor.cs:9"])


@pytest.mark.parametrize(
    "question", ["how is multi tenancy handled?", "how is multitenancy managed?", "how does multi tenancy work?"]
)
def test_a_feature_of_two_words_may_be_called_with_one(depot: Index, question: str) -> None:
    told = depot.ask(question).text
    assert told.startswith("**What is called multi")
    assert "- **MultitenancyModule.AddServices** in src/Tenants/MultitenancyModule.cs:5: " in told


def test_how_something_is_configured_is_shown_by_the_code_that_does_it(depot: Index) -> None:
    told = depot.ask("how is signing configured?").text
    assert told.startswith("`Signing.ConfigureSigning` in src/Api/Signing.cs:5-9 ")
    assert "**Default:**\n- **SigningOptions.SigningScheme**" in told


@pytest.mark.parametrize(
    "question", ["what does a signing key look like?", "what does the SigningKey class look like?"]
)
def test_what_something_looks_like_is_the_type_that_is_called_so(depot: Index, question: str) -> None:
    assert depot.ask(question).text.startswith("`SigningKey` in src/Api/SigningKey.cs:3-6 ")


def test_what_no_type_is_called_as_may_look_like_anything(depot: Index) -> None:
    assert "`SigningKey`" not in depot.ask("what does the start page look like?").text
