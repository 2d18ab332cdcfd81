"""A question for an amount, a default or a place to change something is answered by the setting that it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_kinds import asks_setting
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Shop\n\nAn example of a shop with a delivery service and a payment service.\n",
    "src/Delivery/DeliveryOptions.cs": """\
namespace Shop.Delivery;

/// <summary>What can be configured for deliveries.</summary>
public class DeliveryOptions
{
    public TimeSpan DeliveryTimeout { get; set; } = TimeSpan.FromSeconds(30);

    public int MaxParcels { get; set; }

    public string DepotAddress { get; set; } = "";
}
""",
    "src/Delivery/DeliveryStartup.cs": """\
namespace Shop.Delivery;

public static class DeliveryStartup
{
    public static DeliveryOptions Read(IConfiguration config)
    {
        var options = new DeliveryOptions();
        options.MaxParcels = config.GetValue(nameof(options.MaxParcels), 25);
        return options;
    }
}
""",
    "src/Delivery/Courier.cs": """\
namespace Shop.Delivery;

/// <summary>Brings parcels to customers.</summary>
public class Courier
{
    private readonly DeliveryOptions _options;

    public bool CanTake(Van van) => van.Parcels.Count < _options.MaxParcels;

    public Task Bring(Van van) => van.DriveAsync().WaitAsync(_options.DeliveryTimeout);
}
""",
    "src/appsettings.json": '{\n  "Delivery": {\n    "DeliveryTimeout": "00:02:00"\n  }\n}\n',
    "tests/CourierTests.cs": """\
class CourierTests
{
    void Full() => new Courier(new DeliveryOptions { MaxParcels = 1 }).CanTake(new Van());
}
""",
    "src/Labels.resx": '<root>\n  <data name="maxParcels"><value>Most parcels</value></data>\n</root>\n',
    "docs/usage.md": "# Usage\n\nThe flag `--delivery-zone` says in which zone of the city deliveries are made.\n",
    "jobs/mailing.py": '''\
"""Sends letters."""


class MailingConfig:
    """How letters are sent."""

    retry_interval: int = 90
    sender_name: str = "shop"


def send(letter, config: MailingConfig):
    """Sends a letter, and again after a while."""
    return letter.post(again_after=config.retry_interval)
''',
}

NAMESAKES = {
    "src/ClaimConstants.cs": """\
namespace Shop.Claims;

/// <summary>The names of what a token says.</summary>
public static class ClaimConstants
{
    public const string TokenLifetime = "token_lifetime";
}
""",
    "src/Issuer.cs": """\
namespace Shop.Claims;

public class Issuer
{
    public void Tell(Ticket ticket) => ticket.Add(ClaimConstants.TokenLifetime, "1");

    public DateTime End(TokenOptions options) => DateTime.UtcNow + options.TokenLifetime;
}
""",
    "src/TokenOptions.cs": """\
namespace Shop.Claims;

public class TokenOptions
{
    public TimeSpan TokenLifetime { get; set; } = TimeSpan.FromHours(1);
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("setting-plan"), FILES, "shop") as index:
        yield index


def told_by(index: Index, question: str, files: Mapping[str, str] = FILES) -> dict[str, list[str]]:
    """Heading → the places below it; every one is as it is in its file, and cited."""
    answer = index.ask(question, options=AskOptions(threshold=0.0))
    assert {one.support for one in answer.checks} <= {Support.SUPPORTED}
    found: dict[str, list[str]] = {}
    places: list[str] = []
    for line in answer.text.splitlines():
        if line.startswith("**") and line.endswith(":**"):
            places = found.setdefault(line.strip("*:"), [])
        elif line.startswith("- **"):
            place, _, quoted = line.rpartition(" in ")[2].partition(": `")
            path, _, number = place.rpartition(":")
            assert files[path].split("\n")[int(number) - 1].strip() == quoted.rpartition("` [chunk: ")[0]
            places.append(place)
    return found


GIVEN = {
    "README.md": "# Depot\n\nThe port, the timeout, the frequency and the number of workers of the depot can be set.\n",
    "cmd/main.go": 'package main\n\nfunc init() {\n\tviper.SetDefault("sync-frequency", "5m")\n'
    '\troot.Flags().IntP("port", "p", 8081, "where")\n\troot.Flags().String("folder", "", "what")\n}\n',
    "mail/smtp.go": "package mail\n\ntype Config struct {\n\tSMTPPort int\n}\n",
    "tools/send.py": "import argparse\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("-w", "--max-workers", type=int, default=4)\n',
    "core/src/settings.rs": "pub struct Settings {\n    pub network_timeout: u64,\n}\n\nimpl Settings {\n"
    '    pub fn build() -> Self {\n        builder.set_default("core.network_timeout", 30)\n    }\n}\n',
}


@pytest.mark.parametrize(
    ("question", "default"),
    [
        ("what is the default port?", "cmd/main.go:5"),
        ("how often does it sync, what is the sync frequency by default", "cmd/main.go:4"),
        ("how many workers are there at most by default?", "tools/send.py:6"),
        ("what is the default network timeout", "core/src/settings.rs:7"),
    ],
)
def test_the_default_that_code_gives_an_option_or_a_key(tmp_path: Path, question: str, default: str) -> None:
    with opened_index(tmp_path, GIVEN, "depot") as index:
        assert told_by(index, question, GIVEN)["Default"][:1] == [default]


@pytest.mark.rule("E19")
def test_default_and_where_it_is_set_and_read(shop: Index) -> None:
    told = told_by(shop, "which delivery timeout is used when I set nothing?")
    assert told["Default"] == ["src/Delivery/DeliveryOptions.cs:6"]
    assert told["Set in"] == ["src/appsettings.json:3"]
    assert told["Read in"] == ["src/Delivery/Courier.cs:10"]


def test_what_happens_is_told_before_the_setting_of_it(shop: Index) -> None:
    text = shop.ask("what happens when the delivery timeout passes?", options=AskOptions()).text
    assert not text.startswith("**Default:**")
    assert "**Default:**" in text


def test_a_default_that_is_given_elsewhere_and_not_what_tests_set(shop: Index) -> None:
    told = told_by(shop, "how many parcels are delivered at most?")
    assert told["Set in"] == ["src/Delivery/DeliveryStartup.cs:8"]
    assert told["Setting"] == ["src/Delivery/DeliveryOptions.cs:8"]  # and no text for people
    assert told["Read in"] == ["src/Delivery/Courier.cs:8"]


def test_of_a_name_that_is_everywhere_its_own_file_tells(shop: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.answer.plans.settings._MOST_SECTIONS", 1)
    told = told_by(shop, "which delivery timeout is used when I set nothing?")
    assert told["Default"] == ["src/Delivery/DeliveryOptions.cs:6"]
    assert not {"Set in", "Read in"} & told.keys()


def test_the_default_of_an_input_is_one(tmp_path: Path) -> None:
    files = {
        "src/TestRunnerInput.cs": "namespace Pen;\n\npublic class TestRunnerInput : Input<string>\n{\n"
        '    public override string Default => "vstest";\n}\n',
        "src/Runner.cs": "namespace Pen;\n\npublic class Runner\n{\n    public void RunTests() => Start();\n}\n",
    }
    with opened_index(tmp_path, files, "pen") as index:
        told = index.ask("what is the default test runner?", options=AskOptions(threshold=0.0)).text
        assert "**TestRunnerInput.Default** sets **Default** in src/TestRunnerInput.cs:5" in told.partition("```")[0]


def test_texts_that_users_see_read_no_setting_and_are_quoted_after_code(tmp_path: Path) -> None:
    files = {
        "src/UserSettings.cs": "namespace Pen;\n\npublic class UserSettings\n{\n"
        "    public bool CheckForUpdates { get => Read(); set => Write(value); }\n}\n",
        "src/Resources/Settings.xaml": "<ResourceDictionary>\n"
        '    <s:Boolean x:Key="CheckForUpdates">True</s:Boolean>\n</ResourceDictionary>\n',
        "src/Resources/StringResources.en.xaml": "<ResourceDictionary>\n"
        '    <s:String x:Key="S.Options.CheckForUpdates">Check for updates when a pen is started.</s:String>\n'
        '    <s:String x:Key="S.Updates.Download">Updates are checked for and downloaded.</s:String>\n'
        "</ResourceDictionary>\n",
        "src/Updater.cs": "namespace Pen;\n\npublic class Updater\n{\n    public void CheckUpdates()\n    {\n"
        "        if (UserSettings.All.CheckForUpdates)\n            Download(Latest());\n    }\n}\n",
    }
    with opened_index(tmp_path, files, "pen") as index:
        told = index.ask("what is the default of CheckForUpdates?", options=AskOptions(threshold=0.0)).text
        assert (
            "in src/Resources/Settings.xaml:2: `<s:Boolean" in told
            and "reads **CheckForUpdates** in src/Res" not in told
        )
        told = index.ask("how does it check for updates when it is started?", options=AskOptions(threshold=0.0)).text
        assert 0 <= told.index("src/Updater.cs") < told.index("src/Resources/StringResources.en.xaml")


def test_of_one_name_the_options_tell_and_what_else_is_called_so_does_not(tmp_path: Path) -> None:
    with opened_index(tmp_path, NAMESAKES, "shop") as index:
        told = told_by(index, "how long is the token lifetime by default?", NAMESAKES)
    assert told["Default"] == ["src/TokenOptions.cs:5"]
    assert told["Read in"] == ["src/Issuer.cs:7"]
    assert "Set in" not in told


OF_MODULES = {
    "README.md": "# Jobs\n\nRuns jobs.\n",
    "jobs/defaults.py": 'DEFAULT_RESULT_TTL = 500\n"""Seconds to keep the result of a job."""\n'
    '__all__ = [\n    "DEFAULT_RESULT_TTL",\n]\n',
    "jobs/config.py": 'DISABLE_REGISTRATION = os.environ.get("DISABLE_REGISTRATION", "")\n',
    "jobs/users.py": "def register(user):\n    if config.DISABLE_REGISTRATION:\n        return None\n    return user\n",
    "jobs/queue.py": (
        "from jobs.defaults import (\n    DEFAULT_RESULT_TTL,\n)\n\n\nclass Job:\n    result_ttl: int\n\n\n"
        "def enqueue(job, result_ttl=None):\n    result_ttl = parse(result_ttl)\n"
        "    job.result_ttl = result_ttl or DEFAULT_RESULT_TTL\n"
    ),
    "pages/pages.go": (
        "package pages\n\nvar (\n\t// MaxPageSize is what one page has at most.\n\tMaxPageSize = 1000\n)\n\n"
        "func New(size int) int {\n\tif size > MaxPageSize {\n\t\treturn MaxPageSize\n\t}\n\treturn size\n}\n"
    ),
    "web/retry.ts": (
        "export const maxUploadRetries = 4;\n\nexport function upload(file: File) {\n"
        "  return send(file, maxUploadRetries);\n}\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "default", "read"),
    [
        ("what is the default result ttl?", "jobs/defaults.py:1", "jobs/queue.py:12"),
        ("what is the maximum page size?", "pages/pages.go:5", "pages/pages.go:9"),
        ("what is the maximum of upload retries?", "web/retry.ts:1", "web/retry.ts:4"),
        ("can I disable registration?", "jobs/config.py:1", "jobs/users.py:2"),
    ],
)
def test_a_constant_outside_of_types_is_a_setting(tmp_path: Path, question: str, default: str, read: str) -> None:
    with opened_index(tmp_path, OF_MODULES, "shop") as index:
        told = told_by(index, question, OF_MODULES)
    assert told["Default"][0] == default and told["Read in"][0] == read


@pytest.mark.parametrize(
    ("question", "default"),
    [
        ("how long may a delivery take?", "src/Delivery/DeliveryOptions.cs:6"),
        ("how often does mailing try again?", "jobs/mailing.py:7"),
    ],
)
def test_the_manner_of_a_question_says_what_a_setting_is_called(shop: Index, question: str, default: str) -> None:
    assert told_by(shop, question)["Default"] == [default]


def test_a_setting_that_the_question_names_is_told_first(shop: Index) -> None:
    answer = shop.ask("which delivery timeout is the default?", options=AskOptions(threshold=0.0))
    assert answer.text.startswith("**Default:**")


def test_a_setting_written_with_hyphens_is_a_name(shop: Index) -> None:
    """Of one that is nowhere the parts alone are no answer."""
    told = shop.ask("what is the default of the option delivery-timeout-max?")
    assert told.abstained and told.reason == "nothing here is called delivery-timeout-max"
    for known in ("--delivery-zone", "--retry-interval", "--max-parcels"):  # in a document, in Python, in C#
        assert not shop.ask(f"what does {known} do?").read.unknown


def test_a_setting_below_its_section_is_a_name(shop: Index) -> None:
    """As .NET writes it; the file of settings has the sections around it."""
    told = shop.ask("what is the default of Delivery:DeliverySpeed?")
    assert told.abstained and told.reason == "nothing here is called Delivery:DeliverySpeed"
    told = shop.ask("what is Delivery:DeliveryTimeout set to?", options=AskOptions(threshold=0.0))
    assert not told.read.unknown and "00:02:00" in told.text
    assert shop.ask("note the time 10:30 and Error: none").read.wish.names == ()


def test_of_python_too(shop: Index) -> None:
    told = told_by(shop, "what is the retry interval of mailing by default?")
    assert told["Default"] == ["jobs/mailing.py:7"]
    assert told["Read in"] == ["jobs/mailing.py:13"]


@pytest.mark.parametrize(
    "question",
    [
        "how does a courier bring parcels?",
        "how many tables has the warehouse?",
        "which colour is the default?",
        "is the delivery of large letters to another address configured by files or on the page?",
    ],
)
def test_nothing_is_told_of_settings_that_are_not_asked_for(shop: Index, question: str) -> None:
    assert not {"Default", "Set in", "Setting", "Read in"} & told_by(shop, question).keys()


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("which timeout is used when I set nothing", True),
        ("what is the retry count if I don't set one?", True),
        ("where can I change how often the jobs run?", True),
        ("password rules for new accounts?", True),
        ("how late may a trigger be?", True),
        ("can I turn off the reminders?", True),
        ("how is a parcel delivered?", False),
        ("can I pay in advance?", False),
        ("why do OPTIONS calls get through without a token", False),
        ("where is the sender configured?", True),
        ("what happens when a configuration is published?", False),
    ],
)
def test_what_may_be_a_setting(question: str, asks: bool) -> None:
    assert asks_setting(question) is asks


GIVEN_BY_CALLS = {
    "src/HostOptions.cs": """\
namespace Shop;

public class HostOptions
{
    public void Load(IConfiguration config)
    {
        DisableRegistration = config.GetOrDefault<bool>("disable-registration", true);
    }

    public bool DisableRegistration
    {
        get;
        set;
    }
}
""",
    "src/Accounts.cs": "namespace Shop;\n\npublic class Accounts(HostOptions options)\n{\n"
    "    public bool MayRegister() => !options.DisableRegistration;\n}\n",
}


def test_a_default_that_a_generic_call_gives(tmp_path: Path) -> None:
    with opened_index(tmp_path, GIVEN_BY_CALLS, "shop") as index:
        told = told_by(index, "is registration disabled by default?", GIVEN_BY_CALLS)
    assert told["Default"] == ["src/HostOptions.cs:7"] and told["Read in"] == ["src/Accounts.cs:5"]


OF_A_FLAG = {
    "src/Placed.cs": "namespace Shop;\n\npublic class Placed(IFeatures features, IBus bus)\n{\n"
    '    public void Tell() { if (features.IsOn("PartialDelivery")) bus.Send("placed"); }\n}\n',
    "src/appsettings.json": '{\n  "Features": {\n    "PartialDelivery": false\n  }\n}\n',
}


def test_a_key_that_no_code_declares_is_a_setting_too(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_FLAG, "shop") as index:
        for question in ("is PartialDelivery on by default?", "what is the default of PartialDelivery?"):
            assert index.ask(question, options=AskOptions()).confidence == 1.0
            assert told_by(index, question, OF_A_FLAG)["Set in"] == ["src/appsettings.json:3"]
        told = told_by(index, "what does the PartialDelivery flag do?", OF_A_FLAG)
        assert told == {"Code names it in": ["src/Placed.cs:5"]}


OF_A_TASK = {
    "src/CleanupDeliveriesTask.cs": "namespace Shop;\n\npublic class CleanupDeliveriesTask\n{\n"
    "    public TimeSpan PruneAfter { get; set; } = TimeSpan.FromDays(60);\n\n"
    "    public bool IsOld(Delivery one) => DateTime.Now - one.Made > this.PruneAfter;\n}\n",
    "src/DeliverySettings.cs": "namespace Shop;\n\npublic class DeliverySettings\n{\n"
    "    public bool KeepDeletedDeliveries { get; set; } = true;\n}\n",
}


def test_how_long_something_is_kept_is_what_it_is_removed_after(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_TASK, "shop") as index:
        told = told_by(index, "how long are deliveries kept before they get deleted?", OF_A_TASK)
    assert told["Default"] == ["src/CleanupDeliveriesTask.cs:5"]  # and no yes or no
    assert told["Read in"] == ["src/CleanupDeliveriesTask.cs:7"]


OF_A_LINK = {
    "src/LinkStore.cs": "namespace Shop;\n\npublic class LinkStore\n{\n"
    "    private static readonly TimeSpan DeliveryLinkLifetime = TimeSpan.FromMinutes(60);\n\n"
    "    public DateTime Ends() => DateTime.UtcNow.Add(DeliveryLinkLifetime);\n}\n",
    "src/DeliveryLinkCopy.cs": "namespace Shop;\n\npublic class DeliveryLinkCopy\n{\n"
    "    public int DurationSeconds { get; set; }\n\n"
    "    public void Copy(Film film) { DurationSeconds = (int)film.Length; }\n}\n",
}


def test_beside_a_default_the_duration_of_a_thing_is_no_setting(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_LINK, "shop") as index:
        told = told_by(index, "how long is the link of a delivery valid?", OF_A_LINK)
    assert told["Default"] == ["src/LinkStore.cs:5"] and "Setting" not in told


OF_LIMITS = {
    "src/BagLimits.cs": "namespace Shop;\n\npublic class BagLimits\n{\n    public int MaxParcels { get; set; } = 50;\n"
    "    public int MaxWeight { get; set; } = 9;\n}\n",
    "src/Numbers.cs": "namespace Shop;\n\npublic class Numbers\n{\n    public int Next(int number) => number + 1;\n}\n",
}


def test_the_maximum_number_of_something_is_an_amount(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_LIMITS, "shop") as index:
        told = told_by(index, "what is the maximum number of parcels of a delivery?", OF_LIMITS)
    assert told["Default"][0] == "src/BagLimits.cs:5"


OF_A_FRONT_END = {
    "src/JobSettings.cs": "namespace Shop;\n\npublic class JobSettings\n{\n"
    "    public string CleanupInterval { get; set; }\n}\n",
    "src/JobSettingsHelper.cs": "namespace Shop;\n\npublic static class JobSettingsHelper\n{\n"
    "    public static string CleanupInterval(JobSettings s)\n    {\n"
    "        return Chosen(s.CleanupInterval, Cron.Daily(6));\n    }\n}\n",
    "app/settings.ts": "export interface IJobSettings {\n    cleanupInterval: string;\n}\n",
}


def test_a_setting_is_that_of_the_server_and_read_by_what_is_called_so(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_FRONT_END, "shop") as index:
        told = told_by(index, "what is the default cleanup interval?", OF_A_FRONT_END)
    assert told["Setting"] == ["src/JobSettings.cs:5"] and told["Read in"] == ["src/JobSettingsHelper.cs:7"]


OF_A_NAME = {
    "src/TimeoutConstants.cs": "namespace Shop;\n\npublic static class TimeoutConstants\n{\n"
    '    public const string DefaultName = "Timeout";\n}\n',
    "src/PickUpOptions.cs": "namespace Shop;\n\npublic class PickUpOptions\n{\n"
    "    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(30);\n}\n",
}


@pytest.mark.parametrize(
    ("question", "default"),
    [
        ("what is the default timeout?", "src/PickUpOptions.cs:5"),
        ("what is the default name of a timeout?", "src/TimeoutConstants.cs:5"),
    ],
)
def test_a_text_is_no_amount(tmp_path: Path, question: str, default: str) -> None:
    with opened_index(tmp_path, OF_A_NAME, "shop") as index:
        assert told_by(index, question, OF_A_NAME)["Default"] == [default]


OF_PARAMETERS = {
    "src/Pages.cs": "namespace Shop;\n\npublic record PageRequest(int PageIndex = 0, int PageSize = 25);\n",
    "src/Catalog.cs": "namespace Shop;\n\npublic class Catalog(Store store)\n{\n"
    "    public Page Of(PageRequest request) => store.Page(request.PageIndex, request.PageSize);\n}\n",
    "src/Sender.cs": "namespace Shop;\n\npublic class Sender\n{\n"
    "    private readonly int _tries;\n\n    public Sender(Store store, int sendTries = 4) => _tries = sendTries;\n}\n",
    "jobs/fetching.py": "class Fetcher:\n    def __init__(self, url, batch: int = 70):\n        self.batch = batch\n",
}


@pytest.mark.parametrize(
    ("question", "default"),
    [
        ("what is the default page size?", "src/Pages.cs:3"),
        ("how many tries has the sender by default?", "src/Sender.cs:7"),
        ("what is the default batch of a fetcher?", "jobs/fetching.py:2"),
    ],
)
def test_the_default_of_a_parameter(tmp_path: Path, question: str, default: str) -> None:
    with opened_index(tmp_path, OF_PARAMETERS, "shop") as index:
        assert told_by(index, question, OF_PARAMETERS)["Default"] == [default]


OF_A_LIBRARY = {
    "src/Startup.cs": """\
namespace Shop;

public class Startup
{
    public void ConfigureServices(IServiceCollection services)
    {
        services.AddIdentity<Clerk, Role>(options =>
        {
            options.Lockout.AllowedForNewUsers = true;
            options.Lockout.MaxFailedAccessAttempts = 4;
            options.Password.RequiredLength = 9;
        });
        services.Configure<KestrelServerOptions>(o => { o.AddServerHeader = false; });
        services.ConfigureApplicationCookie(options =>
        {
            options.Cookie.Name = "shop";
            options.ExpireTimeSpan = TimeSpan.FromDays(14);
        });
        services.AddDeliveries(deliveries =>
        {
            deliveries.MaxParcels = 7;
        });
    }
}
""",
    "src/DeliverySettings.cs": "namespace Shop;\n\npublic class DeliverySettings\n{\n"
    "    public int MaxParcels { get; set; } = 3;\n}\n",
}


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("after how many wrong passwords is somebody locked out?", "src/Startup.cs:10"),
        ("how long must a password be?", "src/Startup.cs:11"),
        ("after what time does the application cookie expire by default?", "src/Startup.cs:17"),
    ],
)
def test_what_code_sets_of_the_options_of_a_library(tmp_path: Path, question: str, place: str) -> None:
    with opened_index(tmp_path, OF_A_LIBRARY, "shop") as index:
        assert told_by(index, question, OF_A_LIBRARY)["Set in"][0] == place
        parcels = told_by(index, "how many parcels are allowed at most?", OF_A_LIBRARY)
    assert parcels["Default"] == ["src/DeliverySettings.cs:5"]  # which is declared here


OF_A_CONSTANT = {
    "app/defaults.py": 'ALLOW_SIGNUP = True\nSITE = "Shop"\n',
    "app/web.py": 'def signup(app):\n    if app.config.get("ALLOW_SIGNUP"):\n        create()\n',
    "docs/settings.md": "# ALLOW_SIGNUP\n\nWhether everyone can sign up.\n",
}


def test_the_value_of_a_constant_is_where_it_is_declared(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_CONSTANT, "shop") as index:
        told = told_by(index, "what is the default of ALLOW_SIGNUP?", OF_A_CONSTANT)
    assert told["Default"] == ["app/defaults.py:1"] and told["Read in"] == ["app/web.py:2"]


OF_A_SERVER = {
    "src/ServerOptions.cs": """\
namespace Shop;

public class ServerOptions
{
    private TimeSpan _pollInterval;
    private TimeSpan _parcelExpiry = TimeSpan.FromDays(1);

    public ServerOptions()
    {
        PollInterval = TimeSpan.Zero;
        Missed = MissedMode.Relaxed;
        WorkerCount = Math.Min(Environment.ProcessorCount, 20);
    }

    public TimeSpan PollInterval { get { return _pollInterval; } set { _pollInterval = value; } }
    public TimeSpan ParcelExpiry { get { return _parcelExpiry; } set { _parcelExpiry = value; } }
    public TimeSpan StopTimeout { get; set; } = TimeSpan.FromSeconds(5);
    public MissedMode Missed { get; set; }
    public int WorkerCount { get; set; }
    public Action<Thread> MaxServerWorkersAction { get; set; } = Threads.Start();
}
""",
    "src/SentParcelDto.cs": "namespace Shop;\n\npublic class SentParcelDto\n{\n"
    "    public long TotalDuration { get; set; }\n}\n",
    "src/Workers.cs": "namespace Shop;\n\npublic class Workers(ServerOptions options)\n{\n"
    "    public void Start() => Wait(options.PollInterval, options.Missed);\n}\n",
}


@pytest.mark.parametrize(
    ("question", "defaults"),
    [
        ("what is the default of PollInterval?", ["src/ServerOptions.cs:10"]),
        ("what is the default value of ServerOptions.Missed", ["src/ServerOptions.cs:11"]),
        ("how many workers does a server have by default?", ["src/ServerOptions.cs:12"]),
        ("how long are sent parcels kept?", ["src/ServerOptions.cs:6"]),
    ],
)
def test_a_default_may_be_a_constant_or_that_of_the_field_behind(
    tmp_path: Path, question: str, defaults: list[str]
) -> None:
    with opened_index(tmp_path, OF_A_SERVER, "shop") as index:
        told = told_by(index, question, OF_A_SERVER)
        assert told["Default"] == defaults
        assert not any(place.startswith("src/SentParcelDto.cs") for places in told.values() for place in places)


def _configured(interval: str, is_on: str, level: str) -> str:
    return (
        f'{{\n  "Sorter": {{\n    "CleanupInterval": "{interval}"\n  }},\n'
        f'  "FeatureManagement": {{\n    "Express": {is_on}\n  }},\n'
        f'  "Logging": {{\n    "LogLevel": {{\n      "Sorter.Jobs": "{level}"\n    }}\n  }},\n  "Gates": [\n'
        '    {\n      "ParcelLimit": 60,\n      "Gate": "north"\n    },\n'
        '    {\n      "ParcelLimit": 70,\n      "Gate": "south"\n    }\n  ]\n}\n'
    )


@pytest.fixture(scope="module")
def sorter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        "src/appsettings.json": _configured("00:05:00", "false", "Warning"),
        "src/appsettings.Production.json": _configured("00:01:00", "true", "Error"),
        "chart/values.yaml": "# Where it sorts.\nsorterDepot: north\n",
        "src/Sorter.cs": "namespace Shop;\n\n/// <summary>Sorts parcels.</summary>\npublic class Sorter { }\n",
    }
    with opened_index(tmp_path_factory.mktemp("sorter"), files, "shop") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("how often is the sorter cleaned up?", ["src/appsettings.Production.json:3", "src/appsettings.json:3"]),
        ("what is the default sorter cleanup interval in production?", ["src/appsettings.Production.json:3"]),
        ("which feature flags are on in production?", ["src/appsettings.Production.json:6"]),
        ("why is the sorter cleaned up, what is the policy?", []),
        ("list the feature toggles", ["src/appsettings.Production.json:6", "src/appsettings.json:6"]),
        ("which features can be turned on and off?", ["src/appsettings.Production.json:6", "src/appsettings.json:6"]),
        ("which log level does Sorter.Jobs have?", ["src/appsettings.Production.json:10", "src/appsettings.json:10"]),
        ("what is the log level in production?", ["src/appsettings.Production.json:10"]),
        ("what is the parcel limit of the north gate in production?", ["src/appsettings.Production.json:15"]),
        ("what is the parcel limit of the south gate in production?", ["src/appsettings.Production.json:19"]),
        ("what is the default sorter depot of the chart?", ["chart/values.yaml:2"]),
        ("what is the parcel limit in production?", []),  # each entry has its own
    ],
)
def test_keys_of_configuration_that_no_code_declares_are_settings(
    sorter: Index, question: str, places: list[str]
) -> None:
    told = sorter.ask(question, options=AskOptions(threshold=0.0)).text
    assert sorted(re.findall(r"^- \*\*\S+\*\* in (\S+:\d+): ", told, re.MULTILINE)) == places


def test_what_a_request_is_given_each_time_is_no_setting(tmp_path: Path) -> None:
    files = {
        "src/ParcelRequests.cs": "namespace Shop;\n\npublic record ListParcelsRequest(int MaxParcels);\n\n"
        "public class FindCratesQuery\n{\n    public int MaxCrates { get; set; } = 25;\n}\n"
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask("how many crates are found at most?", options=AskOptions(threshold=0.0)).text
        assert "**MaxCrates** in src/ParcelRequests.cs:7" in told or "`FindCratesQuery.MaxCrates` in" in told
        told = index.ask("how many parcels are listed at most?", options=AskOptions(threshold=0.0)).text
        assert "**Setting:**" not in told


@pytest.mark.parametrize(
    "question",
    ["which mail settings are there?", "list all configuration options for mail", "which MAIL_ settings exist?"],
)
def test_all_settings_about_one_thing_are_a_list(tmp_path: Path, question: str) -> None:
    """Not the few that the question fits best; what is no setting of the product is none of it."""
    names = ("MAIL_HOST", "MAIL_PORT", "MAIL_SENDER", "MAIL_TIMEOUT", "MAIL_USE_TLS")
    files = {
        "shop/default_settings.py": "".join(f"{name} = None\n" for name in (*names, "LOG_LEVEL")),
        "shop/mail.py": "class Mailer:\n    MAIL_LIMIT = 5\n\n    def send(self, text): ...\n",
        "tests/test_settings.py": "MAIL_RETRIES = 3\n",
    }
    with opened_index(tmp_path, files, "shop") as index:
        told = index.ask(question, options=AskOptions(threshold=0.0)).text.splitlines()
    assert told[0] == "**5 settings:**"
    assert [line.partition("** in ")[0].rpartition(".")[2] for line in told if line.startswith("- **")] == [*names]


READ_BY_A_HELPER = {
    "src/ServerOptions.cs": "namespace Shop;\n\npublic class ServerOptions\n{\n    public int? Port { get; set; }\n}\n",
    "src/LogOptions.cs": "namespace Shop;\n\npublic class LogOptions\n{\n    public string Level { get; set; }\n}\n",
    "src/ConfigFile.cs": """\
namespace Shop;

public class ConfigFile(ServerOptions server, LogOptions log)
{
    public int Port => server.Port ?? ReadInt("Port", 8081);

    public string LogLevel => log.Level ?? Read("LogLevel", "debug");

    public int ParcelRetention
    {
        get { return ReadInt("ParcelRetention", 28); }
        set { Write("ParcelRetention", value); }
    }
}
""",
    "src/Cleaner.cs": "namespace Shop;\n\npublic class Cleaner(ConfigFile config)\n{\n"
    "    public bool IsOld(Parcel one) => one.Age > config.ParcelRetention;\n}\n",
    "web/useSettings.ts": "export interface SettingsModel {\n  parcelRetention: number;\n}\n",
}


@pytest.mark.parametrize(
    ("question", "default"),
    [
        ("what is the default port of the server?", "src/ConfigFile.cs:5"),
        ("what is the default log level?", "src/ConfigFile.cs:7"),
        ("how long are parcels kept?", "src/ConfigFile.cs:11"),
    ],
)
def test_the_default_with_which_a_helper_reads_a_setting(
    tmp_path: Path, question: str, default: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened_index(tmp_path, READ_BY_A_HELPER, "shop") as index:
        for most in (150, 1):  # also of a name that is everywhere
            monkeypatch.setattr("rag_assets.answer.plans.settings._MOST_SECTIONS", most)
            assert told_by(index, question, READ_BY_A_HELPER)["Default"][:1] == [default]


def test_a_line_that_names_two_settings_is_told_of_its_own(tmp_path: Path) -> None:
    log = "namespace Shop;\n\npublic class LogOptions\n{\n    public int? SizeLimit { get; set; }\n}\n"
    config = (
        "namespace Shop;\n\npublic class ConfigFile(LogOptions log)\n{\n"
        '    public int LogSizeLimit => Math.Min(log.SizeLimit ?? ReadInt("LogSizeLimit", 1), 10);\n}\n'
    )
    with opened_index(tmp_path, {"src/LogOptions.cs": log, "src/ConfigFile.cs": config}, "shop") as index:
        told = index.ask("how large may a log be, what is the size limit?").text
    defaults = told.partition("\n\n")[0].splitlines()
    assert [line.partition(" in ")[0] for line in defaults if "src/ConfigFile.cs:5" in line] == [
        "- **ConfigFile.LogSizeLimit** sets **LogSizeLimit**"
    ]


OF_A_BASE = {
    "src/InvitationOptions.cs": "namespace Shop;\n\npublic class InvitationOptions : TokenProviderOptions\n{\n"
    "    public InvitationOptions()\n    {\n        TokenLifespan = TimeSpan.FromDays(7);\n    }\n}\n",
    "src/Inviter.cs": "namespace Shop;\n\npublic class Inviter\n{\n"
    "    public Link Invite(User user) => new Link(user, MakeToken(user));\n}\n",
}


def test_what_options_give_a_property_of_their_base_is_a_setting(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_BASE, "shop") as index:
        told = told_by(index, "how long is an invitation valid?", OF_A_BASE)
    assert told["Set in"] == ["src/InvitationOptions.cs:7"]


RUN_BY_ROWS = {
    "src/TaskManager.cs": """\
namespace Shop;

public class TaskManager
{
    public List<TaskRow> All() => new()
    {
        new TaskRow
        {
            Interval = 6 * 60,
            Name = typeof(CheckHealthCommand).FullName
        },
        new TaskRow { Interval = 5, Name = nameof(SyncStockCommand) }
    };
}
""",
    "src/Startup.cs": "namespace Shop;\n\npublic static class Startup\n{\n"
    "    public static void Add(IServiceCollection services) =>\n"
    "        services.AddScheduledTask<RateFetcher>(TimeSpan.FromSeconds(30));\n}\n",
    "src/RateSettings.cs": "namespace Shop;\n\npublic class RateSettings\n{\n"
    "    public string PreferredExchange { get; set; }\n}\n",
    "src/Beacon.cs": "namespace Shop;\n\npublic class Beacon\n{\n    public async Task Shine(CancellationToken stop)\n"
    "    {\n        while (!stop.IsCancellationRequested)\n        {\n            Blink();\n"
    "            await Task.Delay(TimeSpan.FromSeconds(9), stop);\n        }\n    }\n\n"
    "    public async Task Toot(CancellationToken stop)\n"
    "    {\n        while (!stop.IsCancellationRequested)\n        {\n            Horn();\n"
    "            await Task.Delay(TimeSpan.FromSeconds(70), stop);\n        }\n    }\n}\n",
    "src/Crane.Oiler/Worker.cs": "namespace Shop.Cranes;\n\npublic class Worker : BackgroundService\n{\n"
    "    private readonly TimeSpan _pause = TimeSpan.FromHours(2);\n\n"
    "    public async Task Run(CancellationToken stop)\n"
    "    {\n        while (!stop.IsCancellationRequested)\n        {\n            Oil();\n"
    "            await Task.Delay(_pause, stop);\n        }\n    }\n}\n",
    "src/Sender.cs": "namespace Shop;\n\npublic class Sender\n{\n"
    "    public Task Again() => Task.Delay(TimeSpan.FromSeconds(3));\n}\n",
}


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("how often is the health checked?", "src/TaskManager.cs:9"),
        ("how often is the stock synced?", "src/TaskManager.cs:12"),
        ("how often are the exchange rates refreshed?", "src/Startup.cs:6"),
        ("how often does the beacon shine?", "src/Beacon.cs:10"),
        ("how often does the beacon toot?", "src/Beacon.cs:19"),
        ("how often does the crane oiler run?", "src/Crane.Oiler/Worker.cs:5"),
    ],
)
def test_how_often_something_runs_is_where_code_gives_it_an_interval(tmp_path: Path, question: str, place: str) -> None:
    with opened_index(tmp_path, RUN_BY_ROWS, "shop") as index:
        told = told_by(index, question, RUN_BY_ROWS)
        assert told["How often"] == [place] and "Setting" not in told
        assert "How often" not in told_by(index, "how often does the sender send letters?", RUN_BY_ROWS)
        tasks = index.ask("which scheduled tasks are there and how often do they run?", options=AskOptions()).text
        assert tasks.startswith("**3 scheduled tasks:**\n- **RateFetcher** in src/Startup.cs:6")
        assert "- **CheckHealthCommand** in src/TaskManager.cs:9: `Interval = 6 * 60,`" in tasks


def test_the_default_of_a_named_option_is_told_with_the_value_of_its_constant(tmp_path: Path) -> None:
    files = {
        "src/LiftOptions.cs": """\
namespace Lifts;

public class LiftOptions
{
    public LiftOptions()
    {
        FloorTimeout = LiftDefaults.FloorWait;
    }

    public TimeSpan FloorTimeout { get; set; }
}
""",
        "src/LiftLimits.cs": """\
namespace Lifts;

public class LiftLimits
{
    public TimeSpan DefaultFloorTimeout { get; set; } = TimeSpan.FromSeconds(2);
    public TimeSpan MaxFloorTimeout { get; set; } = TimeSpan.FromSeconds(90);
    public TimeSpan FloorTimeoutOfNights { get; set; } = TimeSpan.FromSeconds(4);
}
""",
        "src/LiftDefaults.cs": """\
namespace Lifts;

internal static class LiftDefaults
{
    public static readonly TimeSpan FloorWait = TimeSpan.FromSeconds(7);
}
""",
        "src/Bell.cs": """\
namespace Lifts;

public class Bell
{
    private const int DefaultRings = 3;

    public Bell()
    {
        Rings = DefaultRings;
    }

    public int Rings { get; set; }
}
""",
    }
    with opened_index(tmp_path, files, "lifts") as index:
        text = index.ask("what is the default of FloorTimeout?", options=AskOptions()).text
        assert "FloorWait = TimeSpan.FromSeconds(7);" in text.partition("See also")[0]
        text = index.ask("what does Rings in Bell default to?", options=AskOptions()).text
        assert text.startswith("**Default:**") and "`private const int DefaultRings = 3;`" in text


def test_the_default_is_what_a_file_of_defaults_says(tmp_path: Path) -> None:
    files = {
        "lib/send.js": "export function send(config) {\n  const sendTimeout = parseInt(config.sendTimeout, 10);\n"
        "  return wait(sendTimeout, config.sendTimeout);\n}\n",
        "lib/defaults/index.js": "const defaults = {\n  sendTimeout: 250,\n};\n\nexport default defaults;\n",
        "lib/merge.js": "export const merged = {\n  sendTimeout: ours,\n};\n",
        "index.d.ts": "export interface SendConfig {\n  sendTimeout?: number;\n}\n",
    }
    with opened_index(tmp_path, files, "post") as index:
        text = index.ask("What is the default of sendTimeout?", options=AskOptions()).text
    default = text.partition("**Default:**")[2].partition("**Set in:**")[0]
    assert "lib/defaults/index.js:2: `sendTimeout: 250,`" in default


def test_a_variable_of_a_module_that_is_called_default_is_one(tmp_path: Path) -> None:
    code = (
        "package queue\n\nvar defaultQueueTimeout = time.Second * 60\n\ntype Options struct {\n"
        "\tQueueTimeout time.Duration\n}\n\nfunc Queue() *Line {\n"
        "\treturn With(Options{QueueTimeout: defaultQueueTimeout})\n}\n"
    )
    with opened_index(tmp_path, {"queue/queue.go": code}, "q") as index:
        text = index.ask("How long does a request wait in the queue by default?", options=AskOptions()).text
    assert "queue/queue.go:3: `var defaultQueueTimeout = time.Second * 60`" in text.partition("**Read in:**")[0]


OF_A_RANGE = {
    "src/PortConstants.cs": "namespace Quay;\n\npublic static class PortConstants\n{\n"
    "    public const int MaxPort = 65535;\n}\n",
    "src/ServerOptions.cs": "namespace Quay;\n\npublic class ServerOptions\n{\n"
    "    public int Port { get; set; } = 7000;\n}\n",
    "src/Server.cs": "namespace Quay;\n\npublic class Server(ServerOptions options)\n{\n"
    "    public bool Fits() => options.Port <= PortConstants.MaxPort;\n}\n",
}


def test_the_default_of_something_is_no_bound_of_it(tmp_path: Path) -> None:
    with opened_index(tmp_path, OF_A_RANGE, "quay") as index:
        told = index.ask("what is the default port of the server?", options=AskOptions()).text
        assert "7000" in told and "**Default:**" in told and "PortConstants" not in told.partition("**Read in:**")[0]
        assert "MaxPort" in index.ask("what is the default of the maximum port?", options=AskOptions()).text


AMOUNTS = {
    "src/QueueOptions.cs": """\
public class QueueOptions
{
    public const string DefaultTablePrefix = "Q_";

    public string TablePrefix { get; set; } = DefaultTablePrefix;

    public TimeSpan MaxLetterTime { get; set; } = TimeSpan.FromMinutes(5);

    public int MaxLetters { get; set; } = 10;

    public int LateLetterCount { get; set; } = 4;

    public TimeSpan LateThreshold { get; set; } = TimeSpan.FromSeconds(7);
}
""",
}


@pytest.mark.parametrize(
    ("question", "default", "other"),
    [
        ("how many letters are taken at once by default?", "MaxLetters", "MaxLetterTime"),
        ("how late may a letter be before it is late?", "LateThreshold", "LateLetterCount"),
        ("what is the default table prefix?", 'DefaultTablePrefix = "Q_"', "Letters"),
        ("which table prefix is used by default?", 'DefaultTablePrefix = "Q_"', "Letters"),
    ],
)
def test_a_number_is_no_time_a_time_no_number_and_a_default_may_be_of_a_table(
    tmp_path: Path, question: str, default: str, other: str
) -> None:
    with opened_index(tmp_path, AMOUNTS, "queue") as index:
        text = index.ask(question, options=AskOptions()).text
    told = "".join(line for line in text.splitlines() if line.startswith("- **"))
    assert "**Default:**" in text and default in told and other not in told


def test_what_is_done_by_default_is_no_constant_that_is_called_default(tmp_path: Path) -> None:
    files = {
        "lib/crates/run.rb": 'class Crates::Run\n  MINIMUM_VERSION = "v1"\n  DEFAULT_HTTP_PORT = 80\n'
        "  DEFAULT_HTTPS_PORT = 443\n"
        '  DEFAULT_LOG_MAX_SIZE = "10m"\n\n  def options(size: DEFAULT_LOG_MAX_SIZE)\n    size\n  end\nend\n',
        "lib/crates/keep.rb": "class Crates::Keep\n  def containers(retain)\n    drop(retain)\n  end\nend\n",
        "docs/keeping.md": "# Keeping\n\nFive old containers are retained, and the rest is thrown away.\n",
    }
    with opened_index(tmp_path, files, "crates") as index:
        assert "**Default:**" not in index.ask("how many old containers are retained by default?").text
        told = index.ask("what is the default https port?").text
    assert "- **DEFAULT_HTTPS_PORT** in lib/crates/run.rb:4" in told
