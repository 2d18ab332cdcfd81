"""A list is of the sort that is asked for: by what types are called, and by what they derive from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.question_analysis import Intent, listed_noun
from rag_assets.index.layout import IndexHome
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository, opened_index

FILES = {
    "README.md": "# Shop\n\nSells things.\n",
    "src/Contracts/IIntegrationEvent.cs": "namespace Shop;\n\npublic interface IIntegrationEvent { }\n",
    "src/Contracts/IntegrationEventBase.cs": """\
namespace Shop;

public abstract record IntegrationEventBase : IIntegrationEvent;
""",
    "src/Orders/OrderPlaced.cs": "namespace Shop;\n\npublic record OrderPlaced(int Id) : IntegrationEventBase;\n",
    "src/Orders/OrderPaid.cs": "namespace Shop;\n\npublic record OrderPaid(int Id) : IIntegrationEvent;\n",
    "src/Orders/StockLowEvent.cs": "namespace Shop;\n\npublic record StockLowEvent(int Id);\n",
    "src/Orders/BasketEvent.cs": "namespace Shop;\n\npublic record BasketEvent(int Id);\n",
    "src/Orders/OrderStatus.cs": "namespace Shop;\n\npublic enum OrderStatus\n{\n    Placed,\n    Sent,\n}\n",
    "src/Orders/Order.cs": "namespace Shop;\n\npublic class Order { public int Id { get; set; } }\n",
    "src/Orders/Customer.cs": "namespace Shop;\n\npublic class Customer { public int Id { get; set; } }\n",
    "src/Orders/Role.cs": "namespace Shop;\n\npublic class Role { public int Id { get; set; } }\n",
    "src/Orders/RoleNames.cs": """\
namespace Shop;

public class RoleNames
{
    public const string Clerk = "clerk";
    public static readonly string Admin = "admin";
}
""",
    "src/Data/ShopContext.cs": """\
namespace Shop;

public class ShopContext : DbContext
{
    public DbSet<Order> Orders => Set<Order>();
    public DbSet<Customer> Customers => Set<Customer>();

    protected override void OnModelCreating(ModelBuilder builder)
    {
        builder.Entity<Order>().ToTable("Orders", "sales");
        builder.Entity<Customer>().ToTable("Customers", "sales");
    }
}
""",
    "src/Data/Migrations/20240101_AddedCalmEvent.cs": """\
namespace Shop;

public partial class AddedCalmEvent : Migration
{
    protected override void Up(MigrationBuilder builder) => builder.Sql("select 1");
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("lists"), FILES, "shop") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "heading", "names"),
    [
        ("Which integration events are there?", "2 integration events", {"OrderPlaced", "OrderPaid"}),
        ("which integration events exist between the services?", "2 integration events", {"OrderPlaced", "OrderPaid"}),
        ("which events exist?", "4 events", {"OrderPlaced", "OrderPaid", "StockLowEvent", "BasketEvent"}),
        ("which database tables are needed for persistent storage?", "2 tables", {"sales.Orders", "sales.Customers"}),
        ("what does the database schema look like?", "2 tables", {"sales.Orders", "sales.Customers"}),
        ("how is the data model structured", "2 tables", {"sales.Orders", "sales.Customers"}),
        ("which entities are there?", "2 entities", {"Order", "Customer"}),
    ],
)
def test_a_list_is_of_the_sort_that_is_asked_for(shop: Index, question: str, heading: str, names: set[str]) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.intent is Intent.LIST and found.text.startswith(f"**{heading}:**\n")
    assert {line.split("**")[1] for line in found.text.splitlines() if line.startswith("- **")} == names


def test_entities_without_a_framework_are_types_and_functions_those_of_a_database(tmp_path: Path) -> None:
    files = {
        "src/user.entity.ts": "@Entity()\nexport class UserEntity { id: number; }\n",
        "src/article.entity.ts": "@Entity()\nexport class ArticleEntity { id: number; }\n",
        "db/a.sql": "CREATE FUNCTION dbo.Total () RETURNS int AS BEGIN RETURN 1 END\n",
        "db/b.sql": "CREATE FUNCTION dbo.[Sum. of all] () RETURNS int AS BEGIN RETURN 1 END\n",
    }
    with opened_index(tmp_path, files, "nest") as index:
        for question, names in (
            ("which entities are there?", {"UserEntity", "ArticleEntity"}),
            ("which functions are there?", {"dbo.Total", "dbo.Sum. of all"}),
        ):
            found = index.ask(question, options=AskOptions())
            assert {line.split("**")[1] for line in found.text.splitlines() if line.startswith("- **")} == names


CONSTANTS = """\
export const AUTH_TOKEN = "shop.token";

export const EVENT_TYPE = {
  placed: 1,

  paid: 2,
} as const;

export const ROLES = {
  admin: "admin",
  clerk: "clerk",
} as const;

export const mayRefund = (role: string) => role === ROLES.admin || role === "ROLES";
"""
STATUS = """\
package store

// Status tells how far an order is.
type Status string

const (
	// Open is new.
	Open Status = "OPEN"
	Paid Status = "PAID"

	limit = 3
)
"""
MODES = """\
/// What is searched.
#[derive(Clone, Copy)]
pub enum SearchMode {
    #[serde(rename = "prefix")]
    Prefix,
    Fuzzy,
}

impl SearchMode {
    pub fn other(&self) -> Self { Self::Fuzzy }
}
"""


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("which roles are there?", "export const ROLES = {", "AUTH_TOKEN"),
        ("what event types exist?", "paid: 2", "ROLES"),
        ("what is ROLES", 'clerk: "clerk"', "mayRefund"),
        ("show me EVENT_TYPE", "paid: 2", "mayRefund"),
        ("what is AUTH_TOKEN?", '"shop.token"', "mayRefund"),
        ("which statuses can an order have?", "**2 statuses:**\n- **store.Open**", "limit"),
        ("which statuses exist?", "- **store.Paid**", "limit"),
        ("which search modes are there?", "Fuzzy,\n}", "impl"),
        ("what values can SearchMode have?", "Prefix,", "impl"),
    ],
)
def test_constants_outside_of_types_and_variants_are_values(
    coded: Index, question: str, told: str, untold: str
) -> None:
    text = coded.ask(question, options=AskOptions(threshold=0.0)).text
    assert told in text and untold not in text


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("coded")
    files = {
        "README.md": "# Shop\n\nRoles, statuses and event types of orders exist here.\n",
        "web/src/constants.ts": CONSTANTS,
        "store/status.go": STATUS,
        "core/src/mode.rs": MODES,
    }
    with opened_index(base, files, "coded") as index:
        yield index


CRONTAB = """\
jobs:
  - name: Delete logs
    command: run -j logs
    schedule: "15 5 * * *"

  - name: Growth
    schedule: "@daily"
"""


@pytest.mark.parametrize("question", ["which cron jobs are there?", "how often do the scheduled jobs run?"])
def test_jobs_that_configuration_runs_by_a_schedule_are_listed(tmp_path: Path, question: str) -> None:
    files = {
        "ops/jobs.yml": CRONTAB,
        "app/appsettings.json": '{\n  "Mail": {\n    "ReminderCron": "0 0 3 * * ?",\n    "Schedule": "often"\n  }\n}\n',
        "app/run.py": "def run():\n    pass\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
    assert re.findall(r"- \*\*(.+?)\*\* in (\S+):", told) == [
        ("ReminderCron", "app/appsettings.json:3"),
        ("Delete logs", "ops/jobs.yml:4"),
        ("Growth", "ops/jobs.yml:7"),
    ]


def test_a_sort_that_nothing_is_of_is_no_list(shop: Index) -> None:
    found = shop.ask("which audit events are there?", options=AskOptions(threshold=0.0))
    assert found.intent is not Intent.LIST and "events:**" not in found.text


def test_what_all_words_are_about_is_listed_alone(tmp_path: Path) -> None:
    def controller(name: str, route: str) -> str:
        return (
            f'namespace Shop;\n\n[Route("{route}")]\npublic class {name}Controller\n{{\n'
            "    [HttpGet] public int All() => 1;\n    [HttpPost] public int Add() => 1;\n}\n"
        )

    files = {
        "src/Admin/RolesController.cs": controller("Roles", "admin/roles"),
        "src/Admin/OrdersController.cs": controller("Orders", "admin/orders"),
        "src/Shop/RolesController.cs": controller("Roles", "shop/roles"),
        "src/Clerk/RolesController.cs": controller("Roles", "clerk/roles"),
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("which endpoints does the admin api have for roles?", options=AskOptions()).text
        assert told.startswith("**2 endpoints:**\n") and "admin/orders" not in told
        told = index.ask("which endpoints are there for roles or orders?", options=AskOptions()).text
        assert "admin/orders" in told


def test_a_contract_and_what_holds_them_are_none_of_a_sort(tmp_path: Path) -> None:
    files = {
        "src/ICommand.cs": "namespace Shop;\n\npublic interface ICommand : ICommand<Unit> { }\n\n"
        "public interface ICommand<T> { }\n",
        "src/Pay.cs": "namespace Shop;\n\npublic record PayCommand(int Id) : ICommand<int>;\n",
        "src/Send.cs": "namespace Shop;\n\npublic record SendCommand(int Id) : ICommand<int>;\n",
        "src/Permission.cs": "namespace Shop;\n\npublic class Permission { public string Name; }\n",
        "src/WalletPermissions.cs": "namespace Shop;\n\npublic record WalletPermissions(bool CanPay);\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("which commands exist?", options=AskOptions()).text
        assert told.startswith("**2 commands:**\n") and "ICommand**" not in told
        assert index.ask("what permissions exist?", options=AskOptions()).intent is not Intent.LIST


def test_packages_that_are_published_are_not_those_that_are_used(parts: Index) -> None:
    assert parts.ask("which packages are used?", options=AskOptions()).intent is Intent.LIST
    assert parts.ask("which packages are published?", options=AskOptions()).intent is not Intent.LIST


def test_what_its_folder_alone_says_is_of_a_sort(tmp_path: Path) -> None:
    files = {
        f"src/{part}/ValueObjects/{name}.cs": f"namespace Shop;\n\npublic record {name}(int Value);\n"
        for part, name in (("Sales", "OrderId"), ("Sales", "Money"), ("Stock", "Shelf"), ("Stock", "Amount"))
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("what value objects are there?", options=AskOptions()).text
        assert told.startswith("**4 value objects:**\n") and "**Shelf**" in told
        told = index.ask("which value objects does the sales service have?", options=AskOptions()).text
        assert told.startswith("**2 value objects:**\n") and "**Shelf**" not in told
        assert index.ask("which domain objects are there?", options=AskOptions()).intent is not Intent.LIST


REGISTERED = {
    "src/Sales/Startup.cs": """\
namespace Shop.Sales;

public static class Startup
{
    public static void Add(IServiceCollection services)
    {
        services.AddScoped<ISaveInterceptor, Auditing>();
        services.AddHostedService<Mailer>();
        // services.AddScoped<IOld, Old>();
        services.AddSingleton<T>();
    }
}
""",
    "src/Till/Setup.cs": "namespace Shop.Till;\n\npublic static class Setup\n{\n"
    "    public static void Add(IServiceCollection services) =>\n"
    "        services.AddScoped<ITill, Till>()\n            .Decorate<ITill, CountingTill>();\n}\n",
    "src/Stock/Program.cs": "var builder = WebApplication.CreateBuilder(args);\n"
    "builder.Services.AddDbContext<StockContext>(o => o.UseSqlite());\nbuilder.Build().Run();\n",
    "tests/Stubs.cs": "public static class Stubs\n{\n"
    "    public static void Add(IServiceCollection services) => services.AddScoped<IStub, Stub>();\n}\n",
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which services are registered?", ["ISaveInterceptor", "Mailer", "StockContext", "ITill", "ITill"]),
        (
            "which services are registered in the DI container?",
            ["ISaveInterceptor", "Mailer", "StockContext", "ITill", "ITill"],
        ),
        ("which implementation of ITill is used when the shop is shut?", ["ITill", "ITill"]),
        ("what is registered in the sales service?", ["ISaveInterceptor", "Mailer"]),
        ("which implementation is used for ISaveInterceptor?", ["ISaveInterceptor"]),
        ("what is injected for ISaveInterceptor", ["ISaveInterceptor"]),
    ],
)
def test_registered_services_are_the_lines_that_register_them(tmp_path: Path, question: str, names: list[str]) -> None:
    with opened_index(tmp_path, REGISTERED, "shop") as index:
        found = index.ask(question, options=AskOptions())
    assert found.intent is Intent.LIST and found.confidence == 1.0
    assert [line.split("**")[1] for line in found.text.splitlines() if line.startswith("- **")] == names
    assert found.text.startswith(f"**{len(names)} registered service{'s' * (len(names) > 1)}:**\n")


ONE_OF_A_HOST = {
    "src/Watcher.cs": "namespace Shop;\n\npublic class Watcher : BackgroundService\n{\n"
    "    protected override Task ExecuteAsync(CancellationToken stop) => Watch(stop);\n}\n",
}


JOBS = {
    "src/IPeriodicTask.cs": "namespace Shop;\n\npublic interface IPeriodicTask { Task Do(); }\n",
    "src/Rates.cs": "namespace Shop;\n\npublic class Rates : IPeriodicTask { public Task Do() => Load(); }\n",
    "src/Cleanup.cs": "namespace Shop;\n\npublic class Cleanup : IPeriodicTask { public Task Do() => Purge(); }\n",
    "src/Watcher.cs": "namespace Shop;\n\npublic class Watcher : BackgroundService { }\n",
}
SCHEDULES = """\
namespace Shop;

public static class Startup
{
    public static void Add(IServiceCollection services)
    {
        services.AddSingleton<Rates>();
        services.AddScheduledTask<Rates>(TimeSpan.FromSeconds(30));
        services.AddScheduledTask<Cleanup>(TimeSpan.FromHours(6));
    }
}
"""


def test_what_a_schedule_runs_is_told_with_how_often(tmp_path: Path) -> None:
    with opened_index(tmp_path, {**JOBS, "src/Startup.cs": SCHEDULES}, "shop") as index:
        for question in (
            "what scheduled tasks are there and how often do they run?",
            "how often do scheduled jobs run?",
        ):
            told = index.ask(question, options=AskOptions()).text
            assert "**Rates** in src/Startup.cs:8" in told and "**Cleanup** in src/Startup.cs:9" in told
            assert "Watcher" not in told
        told = index.ask("which background jobs are there?", options=AskOptions()).text
        assert "**Rates** in src/Rates.cs:3" in told and "**Watcher** in src/Watcher.cs:3" in told


@pytest.mark.parametrize(
    "question", ["which background jobs run in the shipping portal?", "which jobs are there in the shipping site?"]
)
def test_jobs_of_a_part_are_told_whatever_the_part_is_called(tmp_path: Path, question: str) -> None:
    job = "public class {0}Job : IJob\n{{\n    public Task Execute(IJobExecutionContext context) => null;\n}}\n"
    jobs = {"Shipping": ("Pack", "Label", "Weigh"), "Billing": ("Charge", "Remind", "Settle")}
    files = {f"src/{of}/{one}Job.cs": job.format(one) for of, names in jobs.items() for one in names}
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
    assert all(f"**{one}Job** in src/Shipping/{one}Job.cs" in told for one in jobs["Shipping"])
    assert "Billing" not in told


def test_one_service_of_a_host_is_told(tmp_path: Path) -> None:
    with opened_index(tmp_path, ONE_OF_A_HOST, "shop") as index:
        told = index.ask("which hosted services are there?", options=AskOptions()).text
        assert told.startswith("**1 hosted service:**\n- **Watcher** in src/Watcher.cs:3")
        assert index.ask("which scheduled tasks are there?", options=AskOptions()).intent is not Intent.LIST


def test_services_of_a_host_are_not_called_recurring(tmp_path: Path) -> None:
    other = ONE_OF_A_HOST["src/Watcher.cs"].replace("Watcher", "Sender")
    files = {**ONE_OF_A_HOST, "src/Sender.cs": other}
    with opened_index(tmp_path, files, "shop") as index:
        assert index.ask("which recurring jobs are there?", options=AskOptions()).text.startswith(
            "**2 hosted services:"
        )


def test_how_often_is_not_answered_by_a_list_without_it(tmp_path: Path) -> None:
    with opened_index(tmp_path, JOBS, "shop") as index:
        assert index.ask("how often do the scheduled jobs run?", options=AskOptions()).intent is not Intent.LIST


ANNOTATED = {
    "src/jobs.service.ts": 'export class JobsService {\n  /** Keeps it small. */\n  @Cron("0 */6 * * *")\n'
    "  async purge() {\n    await this.store.purge();\n  }\n\n  load() {\n    return this.store.load();\n  }\n}\n",
    "src/Rates.kt": "package shop\n\nclass Rates(val store: Store) {\n  @Scheduled(fixedRate = 60_000)\n"
    "  fun refresh() {\n    store.refresh()\n  }\n}\n",
}


@pytest.mark.parametrize(
    "question",
    ["which background jobs are there and how often do they run?", "how often do cron jobs run?"],
)
def test_what_an_annotation_runs_by_a_schedule_is_told_with_it(tmp_path: Path, question: str) -> None:
    with opened_index(tmp_path, ANNOTATED, "shop") as index:
        told = index.ask(question, options=AskOptions()).text.splitlines()
    assert told[0] == "**2 scheduled jobs:**"
    assert told[1].startswith("- **Rates.refresh** in src/Rates.kt:4: `@Scheduled(fixedRate = 60_000)`")
    assert told[2].startswith('- **JobsService.purge** in src/jobs.service.ts:3: `@Cron("0 */6 * * *")`')


READ_LISTS = {
    "src/ReadStatus.kt": "package shop\n\nenum class ReadStatus {\n  UNREAD,\n  DONE,\n}\n",
    "src/test/kotlin/BookTest.kt": "class BookTest {\n  inner class BookStatus {\n    fun a() = 1\n  }\n}\n",
    "src/ReadListController.kt": """\
package shop

@RestController
@RequestMapping("readlists")
class ReadListController(
  @Qualifier("x") private val store: Store,
) {
  @GetMapping
  fun all() = 1

  @PostMapping
  fun make() = 2
}
""",
    "src/BookController.kt": """\
package shop

@RestController
@RequestMapping("books")
class BookController {
  @GetMapping
  fun all() = 1
}
""",
    "src/Store.kt": "package shop\n\ninterface Store {\n  fun get(): Int\n}\n",
}


def test_a_thing_may_be_called_by_what_is_done(tmp_path: Path) -> None:
    with opened_index(tmp_path, READ_LISTS, "shop") as index:
        told = {
            question: index.ask(question, options=AskOptions()).text
            for question in (
                "which endpoints are there for read lists?",
                "what are the read statuses of a book?",
                "what implements Store?",
            )
        }
    endpoints, statuses, stores = told.values()
    assert endpoints.startswith("**2 endpoints:**") and "BookController" not in endpoints
    assert statuses.startswith("`ReadStatus` in src/ReadStatus.kt:3-6 ")
    assert "inherits" not in stores and "implements" not in stores  # what is given one is none


SCHEMA = """\
datasource db {
  provider = "mysql"
}

model Order {
  id Int @id
  total Int
}

model Customer {
  id Int @id
}

enum Role {
  CLERK
  ADMIN
}
"""
PRISMA = {"prisma/schema.prisma": SCHEMA}
CLASSIC = {
    "shop/models.py": """\
Base = declarative_base()


class Order(Base, Dated):
    __tablename__ = "orders"
    total = Column(Integer)


class Customer(Base):
    __tablename__ = "customers"


class Basket(Dated):
    pass
"""
}
MODELS = {
    "shop/models.py": "class Base(DeclarativeBase):\n    pass\n\n\nclass Order(Base):\n    id = Column(Integer)\n\n\n"
    "class Customer(Base):\n    id = Column(Integer)\n\n\nclass Basket:\n    pass\n",
    "shop/forms.py": "class OrderForm(Form):\n    pass\n",
}


@pytest.mark.parametrize("files", [MODELS, CLASSIC, PRISMA])
def test_models_are_told_where_no_script_creates_a_table(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    with opened_index(tmp_path, files, "shop") as index:
        for question in ("which tables are there?", "which models are there?"):
            told = index.ask(question, options=AskOptions()).text
            assert told.startswith("**2 database models:**") and "**Order** in" in told and "**Customer** in" in told
        assert index.ask("where are orders stored?", options=AskOptions()).text.startswith(
            "**Stored in:**\n- **Order** in"
        )


def test_models_and_enumerations_of_prisma_are_types(tmp_path: Path) -> None:
    with opened_index(tmp_path, PRISMA, "shop") as index:
        told = index.ask("which fields does the order model have?", options=AskOptions()).text
        assert "total Int" in told and "Customer" not in told
        assert "ADMIN" in index.ask("which roles are there?", options=AskOptions()).text


def test_types_that_hold_metrics_are_none(tmp_path: Path) -> None:
    files = {
        f"src/{name}Metrics.cs": f"namespace Shop;\n\npublic class {name}Metrics\n{{\n    public int Count;\n}}\n"
        for name in ("Order", "Refund")
    } | {"docs/telemetry.md": "# Metrics\n\nThe shop emits the metrics `shop.orders` and `shop.refunds`.\n"}
    with opened_index(tmp_path, files, "shop") as index:
        found = index.ask("which metrics does the shop emit?", options=AskOptions(threshold=0.0))
        assert found.intent is not Intent.LIST and "`shop.orders`" in found.text


@pytest.mark.parametrize(
    "question",
    ["which states can an order be in?", "what order states are there?", "which statuses can an order have?"],
)
def test_the_states_of_something_are_its_enumeration(shop: Index, question: str) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.text.startswith("`OrderStatus` in src/Orders/OrderStatus.cs:3-7 ") and "Sent," in found.text


def test_constants_that_exist_are_those_that_there_are(shop: Index) -> None:
    found = shop.ask("which roles exist?", options=AskOptions())
    assert found.text.startswith("`RoleNames` in src/Orders/RoleNames.cs:3-7 ")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("which permissions exist for products?", "Products"),
        ("what order permissions are there?", "Orders"),
        ("which permissions are there for refunds?", ""),
    ],
)
def test_constants_of_something_are_in_what_is_called_so(tmp_path: Path, question: str, name: str) -> None:
    inner = '    public static class {0}\n    {{\n        public const string View = "{0}.View";\n    }}\n'
    held = "".join(map(inner.format, ("Products", "Orders")))
    files = {"src/Permissions.cs": f"namespace Shop;\n\npublic static class Permissions\n{{\n{held}}}\n"}
    with opened_index(tmp_path, files, "shop") as index:
        found = index.ask(question, options=AskOptions())
        assert (found.intent is Intent.DEFINITION) is bool(name)
        assert found.text.startswith(f"`{name}` in src/Permissions.cs:") or not name


def test_an_enumeration_may_be_called_by_several_and_its_members_are_no_values(tmp_path: Path) -> None:
    files = {
        "src/UserRoles.kt": "package a\n\nenum class UserRoles {\n  ADMIN,\n  GUEST,\n  ;\n\n"
        "  companion object {\n    fun of(name: String) = valueOf(name)\n  }\n}\n",
        "ui/roles.ts": "export type UserRole = (typeof all)[number];\n",
        "src/bills.py": "from enum import Enum\n\n\nclass BillType(Enum):\n    EXPENSE = 1\n    LOAN = 2\n\n"
        "    @classmethod\n    def choices(cls):\n        return list(cls)\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        roles = index.ask("which roles can a user have?", options=AskOptions()).text
        assert (
            roles.startswith("`UserRoles` in src/UserRoles.kt:3-6 ") and "GUEST," in roles and "companion" not in roles
        )
        bills = index.ask("what bill types are there?", options=AskOptions()).text
        assert "LOAN = 2" in bills and "def choices" not in bills


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("which values does OrderStatus have?", "src/OrderStatus.cs"),
        ("what are the possible values of the order status?", "src/OrderStatus.cs"),
        ("what values can the parcel stage take?", "src/OrderStatus.cs"),
        ("which values can Parcel.Stage have", "src/OrderStatus.cs"),
        ("which stages can a parcel be in?", "src/OrderStatus.cs"),
        ("which values does the parcel cache hold", ""),
        ("which values can Parcel.Size have", ""),
    ],
)
def test_values_are_those_of_an_enumeration_or_of_what_holds_one(tmp_path: Path, question: str, path: str) -> None:
    files = {
        "src/OrderStatus.cs": FILES["src/Orders/OrderStatus.cs"],
        "src/Parcel.cs": "namespace Shop;\n\npublic class Parcel\n{\n    public OrderStatus? Stage { get; set; }\n"
        "    public int Size { get; set; }\n}\n",
        "src/Letter.cs": "namespace Shop;\n\npublic class Letter\n{\n    public int Stage { get; set; }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        found = index.ask(question, options=AskOptions())
        is_enumeration = found.text.startswith(f"`OrderStatus` in {path}") and found.intent is Intent.DEFINITION
        assert is_enumeration is bool(path)


def test_values_are_those_of_the_enumeration_and_not_what_else_is_called_so(tmp_path: Path) -> None:
    files = {
        "src/Client/Invoices.cs": "namespace Client;\n\npublic enum InvoiceStatus\n{\n    New,\n    Settled,\n}\n",
        "src/InvoiceStatus.cs": "namespace Web;\n\npublic class InvoiceStatus : ViewComponent\n{\n"
        "    public string Invoke(int state) => Text(state);\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("what invoice statuses exist, and what do they mean?", options=AskOptions()).text
        assert told.startswith("`InvoiceStatus` in src/Client/Invoices.cs:3-7 ") and "ViewComponent" not in told


@pytest.mark.parametrize(
    "question",
    [
        "which columns does the orders table have?",
        "what columns are in Orders?",
        "which fields has an order?",
        "columns of the orders table",
    ],
)
def test_the_columns_of_a_table_are_what_its_type_has(shop: Index, question: str) -> None:
    found = shop.ask(question, options=AskOptions())
    assert found.text.startswith("`Order` in src/Orders/Order.cs:3 ") and "Id: int" in found.text


def test_all_columns_of_a_wide_table_are_told(tmp_path: Path) -> None:
    columns = "\n".join(f"    public int Amount{number} {{ get; set; }}" for number in range(30))
    files = {
        "src/Bill.cs": f"namespace Shop;\n\npublic class Bill\n{{\n{columns}\n}}\n",
        "src/BillContext.cs": "namespace Shop;\n\npublic class BillContext : DbContext\n{\n"
        "    public DbSet<Bill> Bills { get; set; }\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("columns of the bills table", options=AskOptions()).text
        assert all(f"int Amount{number}" in told for number in range(30))
        assert "int Amount29" not in index.ask("what is Bill?", options=AskOptions()).text


PARTS = {
    "src/Shop.MailQueue/Shop.MailQueue.csproj": '<Project><PackageReference Include="MailKit" /></Project>\n',
    "src/Shop.Web/Shop.Web.csproj": '<Project>\n  <PackageReference Include="Serilog" Version="3" />\n'
    '  <PackageReference Include="Dapper" Version="2" />\n</Project>\n',
    "src/Shop.Web.Admin/Shop.Web.Admin.csproj": '<Project><PackageReference Include="Polly" Version="8" /></Project>\n',
    "src/App/App.csproj": '<Project><PackageReference Include="NLog" Version="5" /></Project>\n',
    "src/Shop.Jobs/packages.config": '<packages>\n  <package id="Quartz" version="3.0" />\n'
    '  <package id="NLog" version="5.0" />\n</packages>\n',
    "src/Shop.Web/OrdersController.cs": 'namespace Shop;\n\n[Route("api/orders")]\npublic class OrdersController\n{\n'
    "    [HttpGet] public int Get() => 1;\n    [HttpPost] public int Post() => 1;\n}\n",
    "src/Shop.Web/OrderLinesController.cs": 'namespace Shop;\n\n[Route("api/orders/lines")]\n'
    "public class OrderLinesController\n{\n    [HttpGet] public int Get() => 1;\n}\n",
    "src/Shop.Web/ShopEventType.cs": "namespace Shop;\n\npublic enum ShopEventType\n{\n    Opened,\n    Closed,\n}\n",
    "src/Shop.Web/MailProvider.cs": "namespace Shop;\n\npublic enum MailProvider\n{\n    Smtp,\n    Azure,\n}\n",
    "src/Shop.Web/MailSettings.cs": "namespace Shop;\n\npublic class MailSettings\n{\n"
    "    public string Sender { get; set; }\n}\n",
    "tests/Orders/OrderTotalsTests.cs": "public class OrderTotalsTests { [Fact] public void Adds() { } }\n",
    "tests/Orders/OrderLinesTests.cs": "public class OrderLinesTests { [Fact] public void Adds() { } }\n",
    "src/Shop.Web/Server.cs": "namespace Shop;\n\npublic class Server { }\n",
    "src/Shop.Web/Data.cs": "namespace Shop;\n\npublic class Voucher { public int Id { get; set; } }\n\n"
    "public class Customer { public int Id { get; set; } }\n\npublic class ShopContext : DbContext\n{\n"
    "    public DbSet<Voucher> Vouchers { get; set; }\n    public DbSet<Customer> Customers { get; set; }\n}\n",
    "web/test/parcels/label.ts": "import { label } from '../../label';\n\ndescribe('label', () => {\n"
    "  it('has a name', () => label());\n});\n",
    "web/server.ts": "import express from 'express';\nconst app = express();\napp.listen(80);\n",
    "web/label.ts": "export function label() {}\n",
    "core/src/parcel.rs": "pub fn weigh() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
    "    fn parcel_weighs_something() {\n        weigh();\n    }\n}\n",
    "tests/Fixtures/all.sql": "CREATE TABLE Vouchers (Id int);\n\nCREATE TABLE Unused (Id int);\n",
    "db/MySQL/Archive/Setup1.sql": "CREATE TABLE shop_orders (Id int);\nCREATE TABLE shop_lines (Id int);\n",
    "db/MySQL/Setup.sql": "CREATE TABLE shop_Orders (Id int);\nCREATE TABLE shop_Lines (Id int);\n",
    "db/Archive/1.sql": "ALTER TABLE shop_Lines ADD Amount int;\n",
    "db/SQLServer/Setup.sql": "CREATE TABLE shop_Orders (Id int);\n\nCREATE TABLE shop_Refunds (Id int);\n",
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("parts"), PARTS, "parts") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "heading", "told"),
    [
        (
            "which packages does Shop.Web use?",
            "2 packages",
            ["Serilog** in src/Shop.Web/Shop.Web.csproj:2", "Dapper** in src/Shop.Web/Shop.Web.csproj:3"],
        ),
        (
            "which NuGet packages does Shop.Jobs depend on?",
            "2 packages",
            ["Quartz** in src/Shop.Jobs/packages.config:2", "NLog** in src/Shop.Jobs/packages.config:3"],
        ),
        (
            "which NuGet packages does the MailQueue need?",
            "1 package",
            ["MailKit** in src/Shop.MailQueue/Shop.MailQueue.csproj:1"],
        ),
        (
            "which packages does the admin project need?",
            "1 package",
            ["Polly** in src/Shop.Web.Admin/Shop.Web.Admin.csproj:1"],
        ),
        (
            "which endpoints does the order lines controller have?",
            "1 endpoint",
            ["GET /api/orders/lines** in src/Shop.Web/OrderLinesController.cs:6"],
        ),
        (
            "what endpoints does the orders api expose?",
            "3 endpoints",
            [
                "GET /api/orders/lines** in src/Shop.Web/OrderLinesController.cs:6",
                "GET /api/orders** in src/Shop.Web/OrdersController.cs:6",
                "POST /api/orders** in src/Shop.Web/OrdersController.cs:7",
            ],
        ),
        (
            "which endpoints does the orders controller have?",
            "2 endpoints",
            [
                "GET /api/orders** in src/Shop.Web/OrdersController.cs:6",
                "POST /api/orders** in src/Shop.Web/OrdersController.cs:7",
            ],
        ),
        (
            "which tables are there?",
            "5 tables",
            [
                "Customers** in src/Shop.Web/Data.cs:5",
                "Vouchers** in src/Shop.Web/Data.cs:3",
                "shop_Lines** in db/MySQL/Setup.sql:2",
                "shop_Orders** in db/MySQL/Setup.sql:1",
                "shop_Refunds** in db/SQLServer/Setup.sql:3",
            ],
        ),
        (
            "which tables does the SQL Server setup script create?",
            "2 tables",
            ["shop_Orders** in db/SQLServer/Setup.sql:1", "shop_Refunds** in db/SQLServer/Setup.sql:3"],
        ),
    ],
)
def test_a_list_is_of_the_file_or_the_project_that_is_named(
    parts: Index, question: str, heading: str, told: list[str]
) -> None:
    found = parts.ask(question, options=AskOptions())
    assert found.text.startswith(f"**{heading}:**\n")
    lines = [line.removeprefix("- **") for line in found.text.splitlines() if line.startswith("- **")]
    assert sorted(line.partition(": `")[0].partition(" [")[0] for line in lines) == sorted(told)


@pytest.mark.parametrize(
    ("question", "name", "said"),
    [
        ("which event types can I handle?", "ShopEventType", "Closed,"),  # called after the project too
        ("which mail providers are supported?", "MailProvider", "Azure,"),
        ("what mail providers are available?", "MailProvider", "Azure,"),
        ("which provider types are there?", "MailProvider", "Azure,"),
        ("what settings does MailSettings have?", "MailSettings", "public string Sender"),
    ],
)
def test_what_may_be_chosen_is_shown(parts: Index, question: str, name: str, said: str) -> None:
    found = parts.ask(question, options=AskOptions())
    assert found.text.startswith(f"`{name}` in src/Shop.Web/{name}.cs:3") and said in found.text
    assert found.intent is Intent.DEFINITION and not found.unsure


def test_programs_of_node_start_in_files_that_are_called_so(parts: Index) -> None:
    found = parts.ask("where is the entry point?", options=AskOptions()).text
    assert found.startswith("**Entry points:**\n- **server.ts** in web/server.ts:3: `app.listen(80);`")


def test_tests_that_cover_something_are_a_list(parts: Index) -> None:
    found = parts.ask("which tests cover orders?", options=AskOptions())
    assert found.text.startswith("**2 tests:**") and "**OrderLinesTests** in tests/Orders/" in found.text
    labels = parts.ask("which tests cover labels?", options=AskOptions()).text
    assert labels.startswith("**1 test:**\n- **label.ts** in web/test/parcels/label.ts:3: `describe('label'")
    parcels = parts.ask("which tests cover parcels?", options=AskOptions()).text
    assert "- **tests.parcel_weighs_something** in core/src/parcel.rs:8" in parcels
    weigh = parts.ask("which tests cover `weigh`?", options=AskOptions()).text
    assert "**tests.parcel_weighs_something** calls **parcel.weigh** in core/src/parcel.rs:9" in weigh


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("which integration events exist?", "integration event"),
        ("list all background jobs", "background job"),
        ("which commands are there?", "command"),
        ("which unit tests exist?", "test"),
        ("what integration tests are there?", "integration test"),
        ("how many history entries does it keep?", ""),
        ("which status code does it return?", ""),
    ],
)
def test_what_goes_before_a_noun_says_which_sort(question: str, noun: str) -> None:
    assert listed_noun(question)[0] == noun


def test_what_a_service_has_is_in_the_folder_that_is_called_so(tmp_path: Path) -> None:
    def endpoint(name: str, route: str) -> str:
        return (
            f'namespace Shop;\n\n[Route("{route}")]\npublic class {name}Controller\n{{\n'
            "    [HttpGet] public int Get() => 1;\n}\n"
        )

    files = {
        "src/Ordering/Web/OrdersController.cs": endpoint("Orders", "orders"),
        "src/Ordering/Web/StatesController.cs": endpoint("States", "states"),
        "src/Site/OrderListController.cs": endpoint("OrderList", "order-list"),
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("which endpoints does the ordering service have?", options=AskOptions()).text
    assert told.startswith("**2 endpoints:**\n- **GET /orders**") and "GET /states" in told


GUARDED = {
    "src/VouchersController.cs": """\
namespace Shop;

[ApiController]
[Route("vouchers")]
[Authorize(Roles = "Clerk")]
public class VouchersController
{
    [HttpGet]
    [AllowAnonymous]
    public int ListVouchers() => 1;

    [HttpPost]
    [Authorize(Policy = Policies.CanIssue)]
    public int IssueVoucher() => 1;

    [HttpDelete("{id}")]
    public int DropVoucher(int id) => 1;
}
""",
    "src/Parcels.cs": """\
namespace Shop;

public static class Parcels
{
    public static void Map(WebApplication app)
    {
        app.MapGet("/parcels", () => 1)
            .AllowAnonymous();
        app.MapPost("/parcels/pack", () => 1)
            .RequireAuthorization("CanPack");
        app.MapPost("/parcels/weigh", () => 1).RequireAuthorization();
    }
}
""",
    "web/LetterController.java": """\
package shop;

@RestController
@RequestMapping("/letters")
public class LetterController {

    @PostMapping("/seal")
    @PreAuthorize("hasRole('CLERK')")
    public int sealLetter() {
        return 1;
    }
}
""",
}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("guarded"), GUARDED, "guarded") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("which permission do I need to issue a voucher?", ["src/VouchersController.cs:13"]),
        ("which role is needed to drop a voucher through the API?", ["src/VouchersController.cs:5"]),  # of its type
        ("who may pack parcels?", ["src/Parcels.cs:10"]),
        ("who is allowed to weigh parcels?", ["src/Parcels.cs:11"]),
        ("which role do I need to seal a letter?", ["web/LetterController.java:8"]),
        ("which endpoints can be called without logging in?", ["src/Parcels.cs:8", "src/VouchersController.cs:9"]),
        ("which endpoints need no authentication?", ["src/Parcels.cs:8", "src/VouchersController.cs:9"]),
        ("which endpoints are publicly accessible?", ["src/Parcels.cs:8", "src/VouchersController.cs:9"]),
    ],
)
def test_who_may_call_an_endpoint(guarded: Index, question: str, places: list[str]) -> None:
    found = guarded.ask(question, options=AskOptions()).text
    assert found.startswith("**Who may call it:**\n")
    assert re.findall(r"\*\* in (\S+:\d+): ", found) == places


@pytest.mark.parametrize(
    "question",
    [
        "which role is needed to weigh parcels?",
        "who may burn parcels?",
        "which permissions can a voucher have?",
    ],
)
def test_who_may_do_what_no_line_says_is_not_told(guarded: Index, question: str) -> None:
    assert "Who may call it" not in guarded.ask(question, options=AskOptions()).text


WATCHED = {
    "src/Gates.cs": """\
namespace Shop;

public static class Gates
{
    public static void MapGates(this WebApplication app)
    {
        app.MapGet("/gates", ListGates).AllowAnonymous();
        app.MapGet("/gates/{id}", (int id) => id);
        app.MapPost("/gates", () => 1).RequireAuthorization();
    }

    /// <summary>Lists them.</summary>
    private static int ListGates() => 1;
}
""",
    "src/GuardedController.cs": """namespace Shop;

[ApiController]
[Authorize]
public abstract class GuardedController : ControllerBase;
""",
    "src/TowersController.cs": """namespace Shop;

[Route("towers")]
public class TowersController : GuardedController
{
    [HttpGet]
    [AllowAnonymous]
    [ResponseCache(Duration = 5)]
    public int ListTowers() => 1;

    [HttpPost]
    public int BuildTower() => 1;
}
""",
}


@pytest.mark.parametrize(
    "question",
    [
        "which endpoints aren't protected?",
        "are all endpoints protected?",
        "which endpoints have no authorization?",
        "which routes are accessible to everyone?",
        "what can an anonymous visitor call?",
    ],
)
def test_endpoints_that_nothing_guards_are_told_beside_those_that_are_open(tmp_path: Path, question: str) -> None:
    """A handler behind its comment, an attribute between others, and one of a base class count."""
    found = _asked_of(tmp_path, WATCHED, question)
    opened, _, unsaid = found.partition("**No line says who may call:**")
    assert re.findall(r"\*\*(\w+ /\S+)\*\* in (\S+:\d+):", opened) == [
        ("GET /gates", "src/Gates.cs:7"),
        ("GET /towers", "src/TowersController.cs:7"),
    ]
    assert re.findall(r"\*\*(\w+ /\S+)\*\* in (\S+:\d+):", unsaid) == [("GET /gates/{id}", "src/Gates.cs:8")]


def test_that_nothing_is_open_is_told_by_what_guards_it(tmp_path: Path) -> None:
    told = _asked_of(tmp_path, GUARDED, "which letter endpoints need no login?")
    assert told.startswith(
        "**None of these is open to anybody:**\n- **POST /letters/seal** in web/LetterController.java:8"
    )


def test_what_a_policy_says_for_all_endpoints_guards_those_that_say_nothing(tmp_path: Path) -> None:
    fallback = "builder.Services.AddAuthorizationBuilder().SetFallbackPolicy(signedIn);\n"
    told = _asked_of(tmp_path, {**WATCHED, "src/Program.cs": fallback}, "which endpoints are unprotected?")
    assert "No line says who may call" not in told and "**every other endpoint** in src/Program.cs:1" in told


def _asked_of(folder: Path, files: dict[str, str], question: str) -> str:
    with opened_index(folder, files, "watched") as index:
        return index.ask(question, options=AskOptions()).text


def test_an_action_is_found_by_its_controller_and_its_name(tmp_path: Path) -> None:
    body = '{\n    [HttpGet("{id}")]\n    public string Get(int id) => "";\n}\n'
    files = {
        f"src/{name}Controller.cs": f'[ApiController]\n[Route("{name}")]\npublic class {name}Controller\n{body}'
        for name in ("OrderNotes", "Order", "Parcel")
    }
    with opened_index(tmp_path, files, "shop") as index:
        for written in ("OrderController.Get", "OrderController.Get(int)", "ordercontroller.g*"):
            found = index.search(f"symbol:{written}").hits
            assert {hit.symbol for hit in found} == {"OrderController.Get(int)"}
        told = index.ask("show me OrderController.Get", options=AskOptions()).text
        assert told.startswith("`OrderController.Get` in src/OrderController.cs:5-6 ")


CURRENCY = """\
namespace Shop;

public readonly record struct Currency(string Code)
{
    public static readonly Currency Euro = new Currency("EUR");

    public static Currency Krona => new("SEK");

    public static readonly Dictionary<string, Currency> Known = new() { ["EUR"] = Euro };

    public static Currency Parse(string code) => Known[code];
}
"""
MODE = "export class Mode {\n  static readonly Dark = new Mode();\n  static readonly Light = new Mode();\n}\n"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which currencies are supported?", "**2 currencies:**\n- **Currency.Euro** in src/Currency.cs:5: "),
        ("what are the allowed currencies", "**2 currencies:**\n- **Currency.Euro** in src/Currency.cs:5: "),
        ("which values can Currency have?", "**2 values:**\n- **Currency.Euro** in src/Currency.cs:5: "),
        ("which modes are there?", "**2 modes:**\n- **Mode.Dark** in src/mode.ts:2: "),
        ("which currencies are refunded?", ""),
    ],
)
def test_a_type_may_hold_values_of_itself_as_an_enumeration(tmp_path: Path, question: str, told: str) -> None:
    files = {"src/Currency.cs": CURRENCY, "src/mode.ts": MODE}
    with opened_index(tmp_path, files, "shop") as index:
        found = index.ask(question, options=AskOptions(threshold=0.0)).text
        assert found.startswith(told) if told else "currencies:**" not in found


def test_what_is_typed_on_a_command_line_is_listed(tmp_path: Path) -> None:
    files = {
        "README.md": "# Depot\n\nThe options of the command line are there for all commands.\n",
        "depot/serve.py": "import argparse\n\n\ndef serve():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("-p", "--port", default=80)\n    parser.add_argument("--host")\n'
        '    parser.add_argument("folder")\n',
        "depot/send.py": "import click\n\n\n@click.group()\ndef depot(): ...\n\n\n@depot.command()\n"
        '@click.option("--dry-run")\n@click.option("--to")\ndef send(dry_run, to): ...\n',
        "depot/orders.py": "class SendCommand: ...\n",
    }
    index_without_dagster(IndexHome(tmp_path / "home"), new_repository(tmp_path / "depot", files), "depot")

    def told(question: str) -> set[str]:
        text = index.ask(question, options=AskOptions()).text
        return {line.split("**")[1] for line in text.splitlines() if line.startswith("- **")}

    with open_index("depot@main", home=tmp_path / "home") as index:
        assert told("which command line flags are there?") == {"--port", "--host", "--dry-run", "--to"}
        assert told("what options does the send command take?") == {"--dry-run", "--to"}
        assert told("which command line arguments does serve have?") == {"--port", "--host", "folder"}
        assert told("which commands does depot have?") == {"depot", "send"}
        assert told("which options does the mail command have?") == set()


def test_kinds_of_something_are_the_enumeration_of_its_types(tmp_path: Path) -> None:
    files = {
        "src/Parcel.cs": "namespace Shop;\n\npublic class Parcel { public ParcelType Type { get; set; } }\n",
        "src/LostParcel.cs": "namespace Shop;\n\npublic class LostParcel : Parcel { }\n",
        "src/ParcelType.cs": "namespace Shop;\n\npublic enum ParcelType\n{\n    Letter,\n    Crate,\n}\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        for question in ("which kinds of parcels exist?", "what types of parcels are there"):
            assert index.ask(question, options=AskOptions()).text.startswith("`ParcelType` in src/ParcelType.cs:3-7 ")
        assert index.ask("which parcels are there?", options=AskOptions()).text.startswith("**2 parcels:**\n")


def test_pages_are_what_routes_of_their_files_lead_to_or_what_lies_in_their_folder(tmp_path: Path) -> None:
    files = {
        "src/Shop.Web/Pages/Orders.razor": '@page "/orders"\n\n<h1>Orders</h1>\n',
        "src/Shop.Web/Pages/Returns.razor": '@page "/returns"\n\n<h1>Returns</h1>\n',
        "src/Shop.Web/OrdersController.cs": "namespace Shop;\n\npublic class OrdersController : Controller\n{\n"
        '    [HttpGet("/api/orders")] public int All() => 1;\n}\n',
        "spa/src/pages/Basket.jsx": "export const Basket = () => {\n  return <b>Basket</b>;\n};\n",
        "spa/src/pages/Till.jsx": "export const Till = () => {\n  return <b>Till</b>;\n};\n",
        "spa/src/parts/Header.jsx": "export const Header = () => {\n  return <b>Shop</b>;\n};\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("which pages are there?", options=AskOptions()).text
        assert re.findall(r"^- \*\*(.*?)\*\*", told, re.MULTILINE) == ["GET /orders", "GET /returns"]
        told = index.ask("which pages does the spa have?", options=AskOptions()).text
        assert re.findall(r"^- \*\*(.*?)\*\*", told, re.MULTILINE) == ["Basket.jsx", "Till.jsx"]


def test_an_option_that_a_question_names_is_where_it_is_declared_or_refused(tmp_path: Path) -> None:
    message = (
        "Cannot specify both --update-files and --dry-run in the same run. Please run again with one of them alone."
    )
    files = {
        "README.md": "# Depot\n\nUse `--update-files` to update the files and `--dry-run` to update nothing.\n",
        "src/Options.cs": "class Options\n{\n"
        '    static readonly Option<bool> UpdateFiles = new Option<bool>("--update-files", "-u");\n'
        '    static readonly Option<bool> DryRun = new Option<bool>("--dry-run");\n}\n',
        "src/Parser.cs": "class Parser\n{\n    void Check(Result result)\n    {\n"
        f'        if (result.UpdatesFiles && result.IsDry) throw new WarningException("{message}", result.First);\n'
        "    }\n}\n",
    }
    with opened_index(tmp_path, files, "depot") as index:
        told = index.ask("what is the short form of --update-files?", options=AskOptions()).text
        assert told.startswith("- **--update-files** in src/Options.cs:3: ") and '"-u"' in told
        told = index.ask("what happens when I use --update-files with --dry-run?", options=AskOptions()).text
        assert told.startswith("- **Parser.Check** in src/Parser.cs:5: `if (result.UpdatesFiles && result.IsDry) throw")
        assert "Cannot specify both --update-files and --dry-run in the same run." in told.split("` …")[0]


def test_tasks_of_something_are_the_types_of_its_folder_of_tasks(tmp_path: Path) -> None:
    task = "namespace Pen;\n\npublic class {0} : PenTaskBase\n{{\n}}\n"
    files = {
        **{f"src/Pen.MsBuild/Tasks/{one}.cs": task.format(one) for one in ("CleanPens", "FillPens")},
        "src/Pen.MsBuild/Tasks/PenTaskBase.cs": "namespace Pen;\n\npublic abstract class PenTaskBase\n{\n}\n",
        "src/Pen.Server/Tasks/SendPens.cs": "namespace Pen;\n\npublic class SendPens\n{\n}\n",
    }
    with opened_index(tmp_path, files, "pen") as index:
        told = index.ask("which msbuild tasks are there?", options=AskOptions()).text
        assert re.findall(r"^- \*\*(.*?)\*\*", told, re.MULTILINE) == ["CleanPens", "FillPens"]


def test_keys_and_windows_of_a_program_are_listed(tmp_path: Path) -> None:
    window = '<c:PenWindow x:Class="Pen.{0}"\n    xmlns="http://schemas.microsoft.com/winfx/2006/xaml/presentation">\n'
    files = {
        "src/Editor.xaml": window.format("Editor") + "</c:PenWindow>\n",
        "src/Settings.xaml": window.format("Settings") + "</c:PenWindow>\n",
        "src/Editor.xaml.cs": "namespace Pen;\n\npublic partial class Editor : IEditor\n{\n}\n",
        "src/PenWindow.cs": "namespace Pen;\n\npublic class PenWindow : Window\n{\n}\n",
        "src/About.cs": "namespace Pen;\n\npublic class About : Form\n{\n}\n",
        "src/Crash.cs": "namespace Pen;\n\npublic class Crash : Form\n{\n}\n",
        "src/Commands.cs": "namespace Pen;\n\npublic static class Commands\n{\n"
        '    public static RoutedUICommand NewDrawing = new("New", "New", typeof(Commands),\n'
        "        [new KeyGesture(Key.N, ModifierKeys.Control)]);\n\n"
        '    public static RoutedUICommand Save = new("Save", "Save", typeof(Commands),\n'
        "        [new KeyGesture(Key.S, ModifierKeys.Control)]);\n}\n",
    }
    index_without_dagster(IndexHome(tmp_path / "home"), new_repository(tmp_path / "pen", files), "pen")

    def told(question: str) -> list[str]:
        text = index.ask(question, options=AskOptions()).text
        return [line.split("**")[1] for line in text.splitlines() if line.startswith("- **")]

    with open_index("pen@main", home=tmp_path / "home") as index:
        assert told("which windows does the app have?") == ["Editor", "Settings"]
        assert told("which forms are there?") == ["About", "Crash"]
        assert told("which keyboard shortcuts are there?") == ["NewDrawing", "Save"]
        assert told("what is the shortcut for a new drawing?") == ["NewDrawing"]


def test_what_a_program_compares_its_arguments_with_is_listed(tmp_path: Path) -> None:
    files = {
        "src/Program.cs": "class Program\n{\n    static void Main(string[] args)\n    {\n        switch (args[0])\n"
        '        {\n            case "-q":\n            case "-quiet":\n                Quiet();\n'
        '                break;\n            case "-open":\n                Open(args[1]);\n                break;\n'
        "        }\n    }\n}\n",
        "src/Cli.cs": 'class Cli\n{\n    void Register(App app) => app.Command("init", one => one.Run());\n}\n',
    }
    with opened_index(tmp_path, files, "depot") as index:
        told = index.ask("which command line arguments does it accept?", options=AskOptions()).text
        assert "**-quiet** in src/Program.cs:8" in told and "**-open** in src/Program.cs:11" in told
        told = index.ask("which subcommands does the cli have?", options=AskOptions()).text
        assert told.startswith("**1 command:**\n- **init** in src/Cli.cs:3")


GROUPED = """\
namespace Shop;

public static class CrateApi
{
    public static void MapCrates(this WebApplication app)
    {
        var group = app.MapGroup("/crates")
            .RequireAuthorization("CanCarry");
        group.MapGet("/", () => 1);
        group.MapPost("/lift", LiftCrate);
        app.MapPut("/boxes/open", OpenBox).RequireAuthorization("CanOpen");
        app.MapPut("/boxes/shut", ShutBox);
        app.MapDelete("/barrels/roll", () => 1);
    }

    private static int LiftCrate(int crate) => 1;

    private static int OpenBox(int box) => 1;

    private static int ShutBox(int box) => 1;
}
"""
PROGRAM = """\
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddAuthorizationBuilder()
    .AddFallbackPolicy("Clerks", policy => policy.RequireRole("clerk"));
var app = builder.Build();
app.MapCrates();
app.Run();
"""


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who may lift a crate?", [("POST /crates/lift", "src/Api/CrateApi.cs:8")]),
        ("who may open a box?", [("PUT /boxes/open", "src/Api/CrateApi.cs:11")]),
        ("who may roll a barrel?", [("every other endpoint", "src/Program.cs:3")]),
        (
            "which role is needed to call the box endpoints?",
            [("PUT /boxes/open", "src/Api/CrateApi.cs:11"), ("every other endpoint", "src/Program.cs:3")],
        ),
    ],
)
def test_groups_handlers_and_the_policy_of_all_others_say_who_may_call(
    tmp_path: Path, question: str, told: list[tuple[str, str]]
) -> None:
    files = {"src/Api/CrateApi.cs": GROUPED, "src/Program.cs": PROGRAM}
    with opened_index(tmp_path, files, "shop") as index:
        found = index.ask(question, options=AskOptions()).text
        assert re.findall(r"^- \*\*(.*?)\*\* in (\S+:\d+): ", found, re.MULTILINE) == told


def test_implementations_of_a_contract_are_also_those_of_its_generic_form(tmp_path: Path) -> None:
    files = {
        "src/IStore.cs": "namespace Shop;\n\npublic interface IStore { }\n\npublic interface IStore<T> : IStore { }\n",
        "src/CrateStore.cs": "namespace Shop;\n\npublic class CrateStore : IStore<int> { }\n",
        "src/web/Pages/Crates.razor": '@page "/crates"\n\n<h1>Crates</h1>\n',
        "src/web/Pages/Boxes.razor": '@page "/boxes"\n\n<h1>Boxes</h1>\n',
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("what implements IStore?", options=AskOptions()).text
        assert "**CrateStore** implements **IStore** in src/CrateStore.cs:3" in told
        told = index.ask("which pages does the admin app have?", options=AskOptions()).text
        assert told.startswith("**2 pages:**\n"), "the app that no folder is called as"


MESSAGES = {
    "src/Contracts/Events.cs": "namespace Shop;\n\npublic record OrderPaidEvent(int Id);\n\n"
    "public record OrderLostEvent(int Id);\n\npublic record CoinFoundEvent(int Id);\n",
    "src/Ordering/Checkout.cs": "namespace Shop;\n\npublic class Checkout\n{\n"
    "    public void Pay() { _bus.Publish(new OrderPaidEvent(1)); }\n}\n",
    "src/Ordering/CoinHandler.cs": "namespace Shop;\n\npublic class CoinHandler : IConsumer<CoinFoundEvent>\n{\n"
    "    public Task Consume(ConsumeContext<CoinFoundEvent> found) => Task.CompletedTask;\n}\n",
    "src/Ordering.Tests/CheckoutTests.cs": "namespace Shop;\n\npublic class CheckoutTests\n{\n"
    "    [Fact] public void Loses() { var lost = new OrderLostEvent(1); }\n}\n",
}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which events does the ordering service publish?", "- **OrderPaidEvent** in src/Ordering/Checkout.cs:5: "),
        ("which events are raised by the ordering service?", "- **OrderPaidEvent** in src/Ordering/Checkout.cs:5: "),
        ("which events does the ordering service consume?", "- **CoinFoundEvent** in src/Ordering/CoinHandler.cs:"),
    ],
)
def test_messages_are_listed_where_a_part_makes_or_handles_them(tmp_path: Path, question: str, told: str) -> None:
    with opened_index(tmp_path, MESSAGES, "shop") as index:
        assert index.ask(question, options=AskOptions()).text.startswith(f"**1 event:**\n{told}")


@pytest.mark.parametrize("does", ["are raised", "are handled", "are there"])
def test_messages_are_listed_that_say_what_happens(tmp_path: Path, does: str) -> None:
    events = "namespace Shop;\n\npublic record MoviesDeletedEvent(int Id);\n\npublic record MovieAddedEvent(int Id);\n"
    files = {**MESSAGES, "src/Contracts/MovieEvents.cs": events}
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(f"which events {does} when a movie is deleted?", options=AskOptions()).text
    assert told.startswith("**1 event:**\n- **MoviesDeletedEvent** in src/Contracts/MovieEvents.cs:3: ")


SERVICES = {
    "src/Shop.Orders.API/Events.cs": "namespace Orders;\n\npublic record OrderPaidEvent(int Id);\n",
    "src/Shop.Orders.API/Till.cs": "namespace Orders;\n\npublic class Till\n{\n"
    "    public void Pay() { _bus.Publish(new OrderPaidEvent(1)); }\n}\n",
    "src/Stamps.Worker/Events.cs": "namespace Stamps;\n\npublic record OrderPaidEvent(int Id);\n\n"
    "public record StampLickedEvent(int Id);\n",
    "src/Stamps.Worker/Glue.cs": "namespace Stamps;\n\npublic class Glue : IEventHandler<OrderPaidEvent>\n{\n"
    "    public Task Handle(OrderPaidEvent paid) => _bus.Publish(new StampLickedEvent(1));\n}\n",
}
MADE = "- **Till.Pay** makes **OrderPaidEvent** in src/Shop.Orders.API/Till.cs:5: "
HANDLED = "- **Glue.Handle** handles **OrderPaidEvent** in src/Stamps.Worker/Glue.cs:5: "


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which events does the orders service publish and who handles them?", ["**1 event:**", MADE, HANDLED]),
        ("which events are there and who consumes each of them?", ["**2 events:**", HANDLED, "- **StampLickedEvent**"]),
        ("which events does the stamps service handle?", ["**1 event:**", "- **OrderPaidEvent** in src/Stamps.Wor"]),
    ],
)
def test_messages_are_told_with_their_handlers_in_whatever_service_has_a_copy(
    tmp_path: Path, question: str, told: list[str]
) -> None:
    with opened_index(tmp_path, SERVICES, "shop") as index:
        lines = [*filter(None, index.ask(question, options=AskOptions()).text.splitlines())]
        assert [line[: len(begin)] for line, begin in zip(lines, told, strict=True)] == told


SAMPLES = {
    "src/Kit/Kit.cs": "namespace Kit;\n\npublic class Glue { }\n",
    "samples/Post/StampsController.cs": 'namespace Post;\n\n[Authorize("Clerks")]\npublic class StampsController\n{\n'
    '    [HttpPost("/stamps")]\n    public void Create(int id) { }\n}\n',
    "samples/Post/new-migration.bat": "dotnet ef dbcontext list\ndotnet ef migrations add %1\n",
}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who can add stamps?", "- **POST /stamps** in samples/Post/StampsController.cs:3: `[Authorize("),
        ("who may create a stamp?", "- **POST /stamps** in samples/Post/StampsController.cs:3: `[Authorize("),
        (
            "how do I add a database migration?",
            "- **new-migration.bat** in samples/Post/new-migration.bat:2: `dotnet ef",
        ),
    ],
)
def test_a_project_may_be_its_samples(tmp_path: Path, question: str, told: str) -> None:
    with opened_index(tmp_path, SAMPLES, "kit") as index:
        assert index.ask(question, options=AskOptions()).text.splitlines()[1].startswith(told)


TESTED = {
    "src/OrderSweeper.cs": "namespace Shop;\n\npublic class OrderSweeper\n{\n    public int Sweep() => 1;\n}\n",
    "tests/OrderSweeperFacts.cs": "namespace Shop.Tests;\n\npublic class OrderSweeperFacts\n{\n    [Fact]\n"
    "    public void Sweeps() => Assert.Equal(1, new OrderSweeper().Sweep());\n}\n",
}


def test_a_type_whose_tests_are_wanted_may_be_called_in_words(tmp_path: Path) -> None:
    with opened_index(tmp_path, TESTED, "shop") as index:
        told = index.ask("which tests cover the order sweeper?", options=AskOptions()).text
        assert "**OrderSweeperFacts.Sweeps** tests **OrderSweeper.Sweep** in tests/OrderSweeperFacts.cs:6" in told


HUBS = {
    "src/OrderHub.cs": """\
namespace Shop;

public class OrderHub : Hub<IOrderClient>
{
    public OrderHub(Orders orders) { }

    public Task Watch(int orderId) => Groups.AddToGroupAsync(Context.ConnectionId, $"{orderId}");

    public async Task Cancel(int orderId) => await Clients.All.Cancelled(orderId);

    public override Task OnConnectedAsync() => Task.CompletedTask;

    public static string PathOf(HttpRequest request) => "/orders/hub";

    private void Forget() { }
}
""",
    "src/LiveHub.cs": "namespace Shop;\n\npublic class LiveHub : Hub\n{\n"
    "    public Task FollowAuction(int id) => Task.CompletedTask;\n\n"
    "    public Task Bid(int id) => Task.CompletedTask;\n}\n",
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which methods can a client call on the order hub?", ["OrderHub.Watch", "OrderHub.Cancel"]),
        ("what methods does OrderHub expose?", ["OrderHub.Watch", "OrderHub.Cancel"]),
        ("which hub methods can a browser call for auctions?", ["LiveHub.FollowAuction", "LiveHub.Bid"]),
        (
            "which hub methods are there?",
            ["LiveHub.FollowAuction", "LiveHub.Bid", "OrderHub.Watch", "OrderHub.Cancel"],
        ),
    ],
)
def test_what_a_client_may_call_of_a_hub_is_listed(tmp_path: Path, question: str, names: list[str]) -> None:
    with opened_index(tmp_path, HUBS, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
        assert re.findall(r"^- \*\*([\w.]+)\*\*", told, re.MULTILINE) == names
        assert "hub method" not in index.ask("which hub methods are there for invoices?", options=AskOptions()).text


OPTIONS_OF_AN_APPLICATION = {
    "src/Arguments.cs": "namespace Shop;\n\npublic class Arguments\n{\n    public void Declare()\n    {\n"
    "        var app = new CommandLineApplication();\n"
    '        app.Option("-n | --network", "The network", CommandOptionType.SingleValue);\n'
    '        app.Option("--offline", $"Works offline", CommandOptionType.BoolValue);\n    }\n}\n',
}


def test_options_that_an_application_is_given_by_a_call_are_listed(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "shop", OPTIONS_OF_AN_APPLICATION)
    index_without_dagster(IndexHome(tmp_path / "home"), repository, "shop")
    with open_index("shop@main", home=tmp_path / "home") as index:
        told = index.ask("which command line options does the server take?", options=AskOptions()).text
        assert told.startswith("**2 command line options:**\n- **--network** in src/Arguments.cs:8")
        assert "**--offline** in src/Arguments.cs:9" in index.ask("what does --offline do?").text


OF_CONTRACTS = {
    "src/IMailClient.cs": "namespace Shop;\n\npublic interface IMailClient { void Send(); }\n",
    "src/MailClientBase.cs": "namespace Shop;\n\npublic abstract class MailClientBase<T> : IMailClient\n{\n"
    "    public abstract void Send();\n}\n",
    "src/MailClientType.cs": "namespace Shop;\n\npublic enum MailClientType\n{\n    Old,\n    Older,\n}\n",
    "src/WebClientBase.cs": "namespace Shop;\n\npublic abstract class WebClientBase<T> : MailClientBase<T> { }\n",
    "src/HostedClientBase.cs": "namespace Shop;\n\npublic abstract class HostedClientBase<T> : WebClientBase<T> { }\n",
    "src/Pigeon.cs": "namespace Shop;\n\npublic class Pigeon : MailClientBase<int>\n{\n"
    "    public override void Send() { }\n}\n",
    "src/Owl.cs": "namespace Shop;\n\npublic class Owl : HostedClientBase<int>\n{\n"
    "    public override void Send() { }\n}\n",
    "src/IBackgroundProcess.cs": "namespace Shop;\n\npublic interface IBackgroundProcess { void Run(); }\n",
    "src/Sweeper.cs": "namespace Shop;\n\npublic class Sweeper : IBackgroundProcess { public void Run() { } }\n",
    "src/Counter.cs": "namespace Shop;\n\npublic class Counter : IBackgroundProcess { public void Run() { } }\n",
    "src/Host.cs": "namespace Shop;\n\npublic class Host : IHostedService { }\n",
    "src/OrderTypes.cs": "namespace Shop;\n\npublic enum OrderTypes\n{\n    Express,\n    Normal,\n}\n",
    "src/OrderStatusType.cs": "namespace Shop;\n\npublic enum OrderStatusType\n{\n    Placed,\n    Sent,\n}\n",
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("which mail clients are supported?", ["Owl", "Pigeon"]),
        ("which background processes does the server run?", ["Counter", "Sweeper"]),
    ],
)
def test_what_derives_from_a_contract_of_the_product_is_what_is_called_so(
    tmp_path: Path, question: str, names: list[str]
) -> None:
    with opened_index(tmp_path, OF_CONTRACTS, "shop") as index:
        told = index.ask(question, options=AskOptions()).text
        assert re.findall(r"^- \*\*([\w.]+)\*\*", told, re.MULTILINE) == names
        assert "Express" in index.ask("which order types can an order have?", options=AskOptions()).text


GRANTED = {
    "src/Program.cs": """\
var builder = WebApplication.CreateBuilder(args);
builder.Services.AddCors(options => options.AddPolicy("Sites", p => p.AllowAnyOrigin()));
builder.Services.AddAuthorizationBuilder()
    .AddPolicy("Staff", policy => policy.RequireRole("clerk", "manager"))
    .AddPolicy("Grown", policy => policy.RequireClaim("age"));
""",
    "src/OrdersController.cs": """\
namespace Shop;

[ApiController]
[Route("api/orders")]
[Authorize]
public class OrdersController : ControllerBase
{
    [HttpGet]
    [Authorize(Policy = "Staff")]
    public IActionResult List() => Ok();

    [HttpDelete("{id}")]
    public IActionResult Cancel(int id) => Ok();
}
""",
    "src/AuditController.cs": """\
namespace Shop;

[ApiController]
[Route("api/audit")]
[Authorize(Roles = "auditor, manager")]
public class AuditController : ControllerBase
{
    [HttpGet]
    public IActionResult Read() => Ok();
}
""",
}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (
            "which roles are there?",
            [("auditor", "src/AuditController.cs:5"), ("manager", "src/Program.cs:4"), ("clerk", "src/Program.cs:4")],
        ),
        ("which roles does the staff policy need?", [("clerk", "src/Program.cs:4"), ("manager", "src/Program.cs:4")]),
        ("which policies are there?", [("Staff", "src/Program.cs:4"), ("Grown", "src/Program.cs:5")]),
        ("which claims are used?", [("age", "src/Program.cs:5")]),
        (
            "which role is needed to list orders?",
            [("GET /api/orders", "src/OrdersController.cs:9"), ("policy Staff", "src/Program.cs:4")],
        ),
    ],
)
def test_roles_and_policies_are_those_that_code_asks_for(
    tmp_path: Path, question: str, told: list[tuple[str, str]]
) -> None:
    with opened_index(tmp_path, GRANTED, "shop") as index:
        text = index.ask(question, options=AskOptions()).text
        assert re.findall(r"^- \*\*(.+?)\*\* in ([\w./]+:\d+)", text, re.MULTILINE) == told
        assert "role" not in index.ask("which roles does the pilot policy need?", options=AskOptions()).text[:12]
