"""Kinds, flavors and domains as an index stores them."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome, index_label
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.stored_points import payloads_in

SHOP = {
    "src/Devices/CreateDeviceCommand.cs": """\
namespace Shop.Devices;

public record CreateDeviceCommand(string Name) : IRequest<int>;
public record FindDevice(string Name) : IRequest<int>;
""",
    "src/Devices/DeviceRequest.cs": """\
namespace Shop.Devices;

public class DeviceRequest { public string Name { get; set; } }
public class DeviceResponse { public string Name { get; set; } }
public class DeviceResult { public bool Done { get; set; } }
public class DeviceOptions { public int Limit { get; set; } }
public record DeviceCreated(int Device) : INotification;
""",
    "src/Devices/Model/Entities.cs": """\
namespace Shop.Devices.Model;

public class Device
{
    public string Name { get; set; }
    public void Rename(string name) => Name = name;
}

public class DeviceEvent
{
    public string Text { get; set; }
    public bool Is(string text) => Text == text;
}
""",
    "src/Devices/Data/DeviceContext.cs": """\
using Shop.Devices.Model;

namespace Shop.Devices.Data;

public class DeviceContext : DbContext
{
    public DbSet<Device> Devices { get; set; }
}

public class DeviceEventMapping : IEntityTypeConfiguration<DeviceEvent>
{
    public void Configure(EntityTypeBuilder<DeviceEvent> builder) => builder.ToTable("Events");
}
""",
}


def stored(cli: CommandLine, files: dict[str, str], configuration: str = "") -> dict[str, list[dict[str, Any]]]:
    """The payloads that indexing these files stores, by simple name of their symbol."""
    path = cli.folder / "repository"
    source = new_repository(path, dict(files))
    (cli.folder / "rag_assets.yaml").write_text(
        f"embedder: {{provider: lexical-only}}\nrepositories:\n  - {{id: shop, location: {source.path}, "
        f"ref: main{configuration}}}\n",
        encoding="utf-8",
    )
    cli.build("shop")
    generation = active_generation(cli.home, index_label("shop", "main"))
    assert generation is not None
    found: dict[str, list[dict[str, Any]]] = {}
    for payload in payloads_in(generation.directory):
        found.setdefault(payload["Symbol"].partition("~")[0].rpartition(".")[2], []).append(payload)
    return found


@pytest.mark.rule("F07", "R33")
def test_a_type_is_stored_under_the_kind_of_its_role_and_what_is_persisted_is_a_model(cli: CommandLine) -> None:
    found = stored(cli, SHOP)
    kinds = {name: {payload["Kind"] for payload in payloads} for name, payloads in found.items()}
    assert kinds["CreateDeviceCommand"] == {"Message"}
    assert kinds["FindDevice"] == {"Request"}
    assert kinds["DeviceRequest"] == {"Request"}
    assert kinds["DeviceResponse"] == {"Response"}
    assert kinds["DeviceResult"] == {"Result"}
    assert kinds["DeviceOptions"] == {"Configuration"}
    assert kinds["DeviceCreated"] == {"Message"}
    assert kinds["Device"] == kinds["DeviceEvent"] == {"Model"}, "another file says that they are stored"
    assert {payload["SubtypeFlavor"] for payload in found["CreateDeviceCommand"]} == {"Command"}
    assert {payload["SubtypeFlavor"] for payload in found["DeviceCreated"]} == {"Event"}
    assert {payload["SubtypeFlavor"] for payload in found["Device"]} == {"ModelStructured"}
    assert "model-structure-overview" in {payload["SectionKey"] for payload in found["Device"]}
    explained = cli.run("explain", "--label", "shop", "src/Devices/Model/Entities.cs")
    assert explained.code == 0, explained.err
    assert "stored: set Devices of DeviceContext" in explained.out


@pytest.mark.rule("F07", "R33")
def test_a_type_changes_its_kind_when_another_file_begins_to_store_it(cli: CommandLine) -> None:
    """Without the context, an event with behaviour is a message; the build after the commit is incremental."""
    context = "src/Devices/Data/DeviceContext.cs"
    found = stored(cli, {name: text for name, text in SHOP.items() if name != context})
    assert {payload["Kind"] for payload in found["DeviceEvent"]} == {"Message"}
    Repository(cli.folder / "repository").commit({context: SHOP[context]})
    cli.build("shop")
    generation = active_generation(cli.home, index_label("shop", "main"))
    assert generation is not None
    kinds = {p["Kind"] for p in payloads_in(generation.directory) if p["Symbol"].endswith(".DeviceEvent")}
    assert kinds == {"Model"}


MIGRATION = """\
namespace Shop.Migrations;

public partial class AddDevices : Migration
{
    protected override void Up(MigrationBuilder migrationBuilder)
    {
        migrationBuilder.CreateTable(name: "Devices", columns: table => new { Serial = table.Column<int>() });
    }
}
"""


@pytest.mark.rule("F07", "F14")
def test_a_migration_is_stored_with_what_it_changes_and_is_found_by_its_node(cli: CommandLine) -> None:
    found = stored(cli, {"src/Migrations/20250101_AddDevices.cs": MIGRATION})
    (point,) = found["AddDevices"]
    assert point["Kind"] == "Migration"
    assert "Purpose: Creates Devices." in point["FinderSnippet"]
    assert "creates Devices (Serial)" in point["FinderSnippet"]
    assert "csharp:Shop.Migrations.AddDevices|MIGRATION" in point["GraphNodeKeys"]
    shown = cli.run("show", "--label", "shop", point["SemanticId"], "--part", "description")
    assert shown.code == 0, shown.err
    assert "- creates Devices (Serial)" in shown.out
    searched = cli.run("search", "--label", "shop", "devices kind:migration", "--json", "--full")
    assert [hit["symbol"] for hit in searched.json["hits"]] == ["Shop.Migrations.AddDevices"]


DOMAINS = {
    "src/Domains.cs": """\
namespace Shop;

[DomainDescriptor]
public class ShopDomains
{
    public const string Billing = "billing";
    public const string Fleet = "fleet";

    [DomainDescription(Billing)]
    public static DomainDescription BillingDescription => new() { Name = "Billing", Description = "Money." };

    [DomainDescription(Fleet)]
    public static DomainDescription FleetDescription => new() { Name = "Vans and trucks", Description = "Wheels." };
}
""",
    "src/Models/Invoice.cs": """\
namespace Shop.Models;

[EntityDescription(ShopDomains.Billing)]
public class Invoice : EntityBase { public int Id { get; set; } }
""",
    "src/Models/Truck.cs": """\
namespace Shop.Models;

[EntityDescription(ShopDomains.Fleet)]
public class Truck : EntityBase { public int Id { get; set; } }
""",
    "src/Data/ShopContext.cs": """\
using Shop.Models;

namespace Shop.Data;

public class ShopContext : DbContext
{
    public DbSet<Invoice> Invoices { get; set; }
    public DbSet<Truck> Trucks { get; set; }
}
""",
    "src/Data/InvoiceRepository.cs": """\
using Shop.Models;

namespace Shop.Data;

public class InvoiceRepository : IInvoiceRepository { public Invoice Find(int id) => null; }
public interface IInvoiceRepository { Invoice Find(int id); }
""",
    "src/Api/TruckController.cs": """\
namespace Shop.Api;

[Route("trucks")]
public class TruckController : ControllerBase
{
    [HttpGet("{id}")]
    public Truck Get(int id) => null;
}
""",
    "src/Features/PayInvoice.cs": """\
namespace Shop.Features;

public record PayInvoiceCommand(int Id) : IRequest<int>;

public class PayHandler : IRequestHandler<PayInvoiceCommand, int>
{
    public Task<int> Handle(PayInvoiceCommand request, CancellationToken token) => null;
}
""",
    "src/Features/Calculator.cs": """\
namespace Shop.Features;

public static class Calculator { public static decimal Sum(Invoice[] invoices, Invoice last) => 0; }
""",
    "src/Features/Clock.cs": "namespace Shop.Features;\n\npublic class Clock { public void Tick() { } }\n",
    "tests/Shop.Tests/TruckTests.cs": """\
namespace Shop.Tests;

public class TruckTests { [Fact] public void Drives() => new Truck(); }
""",
    "db/invoices.sql": "CREATE TABLE dbo.Invoices (Id int NOT NULL);\nGO\n",
    "docs/payments.md": "# Payments\n\nAn `Invoice` is open until somebody pays it. `InvoiceRepository` finds it.\n",
    "docs/fleet/tyres.md": "# Tyres\n\nThey are round.\n",
    "docs/weather.md": "# Weather\n\nIt rains.\n",
}
CONFIGURED = ", rule_packs: [generic, lagovista]"


@pytest.mark.rule("F10")
def test_what_is_about_an_entity_is_stored_with_its_domain(cli: CommandLine) -> None:
    found = stored(cli, DOMAINS, CONFIGURED)
    domains = {name: {payload.get("BusinessDomainKey", "") for payload in payloads} for name, payloads in found.items()}
    assert domains["Invoice"] == {"billing"} and domains["Truck"] == {"fleet"}
    assert domains["InvoiceRepository"] == domains["IInvoiceRepository"] == {"billing"}
    assert domains["TruckController"] == {"fleet"}
    assert domains["PayInvoiceCommand"] == domains["PayHandler"] == {"billing"}
    assert domains["Calculator"] == {"billing"}, "most of the types that it names"
    assert domains["TruckTests"] == {"fleet"}
    assert domains["Clock"] == {""}, "the folder holds neither a domain nor an entity, and around it are two"
    by_path = {
        path: {p.get("BusinessDomainKey", "") for payloads in found.values() for p in payloads if p["Path"] == path}
        for path in DOMAINS
    }
    assert by_path["db/invoices.sql"] == by_path["docs/payments.md"] == {"billing"}
    assert by_path["docs/fleet/tyres.md"] == {"fleet"}
    assert by_path["docs/weather.md"] == {""}
    (invoices,) = (
        found["Invoices"]
        if len(found["Invoices"]) == 1
        else [p for p in found["Invoices"] if p["Symbol"].startswith("EfContext:")]
    )
    assert (invoices["BusinessDomainKey"], invoices["Domain"]) == ("billing", "Billing")
    assert "Domain: Billing\nDomainSummary: Money.\n" in invoices["FinderSnippet"]
    assert {p["Domain"] for p in found["TruckTests"]} == {"Vans and trucks"}


@pytest.mark.rule("F10")
def test_a_repository_of_one_domain_is_of_it_until_another_entity_says_otherwise(cli: CommandLine) -> None:
    """Without configuration; and the build after the commit is incremental."""
    one = {name: text for name, text in DOMAINS.items() if "Truck" not in name}
    found = stored(cli, one | {"src/Data/ShopContext.cs": "namespace Shop.Data;\n"}, CONFIGURED)
    keys = [payload.get("BusinessDomainKey", "") for payloads in found.values() for payload in payloads]
    assert keys.count("billing") == len(keys) - 1, "a document in the folder of the other one is of it"
    Repository(cli.folder / "repository").commit({"src/Models/Truck.cs": DOMAINS["src/Models/Truck.cs"]})
    cli.build("shop")
    generation = active_generation(cli.home, index_label("shop", "main"))
    assert generation is not None
    (clock,) = [p for p in payloads_in(generation.directory) if p["Symbol"].endswith(".Clock")]
    assert "BusinessDomainKey" not in clock


@pytest.mark.rule("F10", "E12")
def test_no_domain_of_a_confidential_entity_shows_at_a_lower_level(cli: CommandLine) -> None:
    """What is stored of the public files is the same whether a confidential one says what an invoice is, or nothing."""
    levels = ", confidential_paths: {src/Models/: confidential}"
    hidden = dict(DOMAINS)
    other = DOMAINS | {"src/Models/Invoice.cs": "namespace Shop.Models;\n\npublic class Nothing { }\n"}
    public = []
    for number, files in enumerate((hidden, other)):
        (cli.folder / str(number)).mkdir()
        one = CommandLine(IndexHome(cli.folder / str(number) / "home"), cli.folder / str(number))
        payloads = [p for found in stored(one, files, CONFIGURED + levels).values() for p in found]
        public.append(
            sorted(
                (p["SemanticId"], p.get("BusinessDomainKey", ""), p["FinderSnippet"])
                for p in payloads
                if not p["Path"].startswith("src/Models/")
            )
        )
        inside = {p["Path"]: p.get("BusinessDomainKey") for p in payloads if p["Path"].startswith("src/Models/")}
        assert inside["src/Models/Truck.cs"] == "fleet"
    assert public[0] == public[1]
    assert ("billing" in {key for _, key, _ in public[0]}) is False
