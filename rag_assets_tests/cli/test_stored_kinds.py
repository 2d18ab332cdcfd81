"""Kinds, flavors and domains as they are stored by `rag-assets index`."""

from __future__ import annotations

from typing import Any

import pytest

from rag_assets.index.generations import active_generation
from rag_assets.index.layout import index_label
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
    done = cli.run("index", "shop")
    assert done.code == 0, done.err
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
    assert cli.run("index", "shop").code == 0
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
    searched = cli.run("search", "--label", "shop", "devices kind:migration", "--json")
    assert [hit["symbol"] for hit in searched.json["hits"]] == ["Shop.Migrations.AddDevices"]
