"""Which settings something reads is answered by the places where it asks for them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index, open_index
from rag_assets.answer.citations import Support
from rag_assets.answer.question_analysis import Intent, file_asked, settings_asked
from rag_assets.index.layout import IndexHome
from rag_assets.languages.configuration_keys import settings_read
from rag_assets.qa.ask_options import AskOptions
from rag_assets.search.query_parser import understand
from rag_assets_tests.cli.conftest import index_without_dagster, new_repository

FILES = {
    "README.md": "# Shop\n\nThe web project reads its settings from appsettings.json. Set the settings that the web "
    "project reads before it starts.\n",
    "src/Shop.Web/Startup.cs": """\
namespace Shop.Web;

/// <summary>Starts the web project and reads its settings.</summary>
public class Startup
{
    public void Configure(IConfiguration configuration)
    {
        var limit = configuration.GetValue<int>("Orders:Limit");
        var mail = configuration.GetSection("Mail");
        var again = configuration["Orders:Limit"];
        var mode = configuration.GetValue<string>(nameof(options.Mode));
        var proxy = Environment.GetEnvironmentVariable("SHOP_PROXY");
    }
}
""",
    "src/Shop.Jobs/NightlyJob.cs": """\
namespace Shop.Jobs;

public class NightlyJob
{
    public NightlyJob(IConfiguration config)
    {
        _hour = config["Jobs:Hour"];
        _days = config["Jobs:Days"];
    }
}
""",
    "src/Shop.Web/appsettings.json": '{\n  "Orders": { "Limit": 3 },\n  "Mail": {}\n}\n',
    "src/Shop.Jobs/appsettings.json": '{ "Jobs": { "Hour": 2 } }\n',
    "src/Shop.Web/wwwroot/web.config": '<configuration>\n  <location path="a" />\n</configuration>\n',
    **{f"src/Shop.Web/wwwroot/{name}/web.config": f'<location path="{name}" />\n' for name in ("a", "b", "c")},
    "tests/StartupTests.cs": 'class StartupTests { string Key(IConfiguration config) => config["Tests:Key"]; }\n',
}
WEB = ["Orders:Limit", "Mail", "Mode", "SHOP_PROXY"]
JOBS = ["Jobs:Hour", "Jobs:Days"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    base = tmp_path_factory.mktemp("settings-read")
    home = IndexHome(base / "home")
    index_without_dagster(home, new_repository(base / "shop", FILES), "shop")
    with open_index("shop@main", home=home.root) as index:
        yield index


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("which settings does the web project read?", WEB),
        ("Which configuration keys are read by the web project?", WEB),
        ("which configuration keys does NightlyJob use?", JOBS),
        ("which settings does this project use?", [*JOBS, *WEB]),
    ],
)
def test_settings_are_listed_where_they_are_read(shop: Index, question: str, keys: list[str]) -> None:
    found = shop.ask(question, options=AskOptions())
    told = [line for line in found.text.splitlines() if line.startswith("- **")]
    assert [line.split("**")[1] for line in told] == keys
    assert found.text.startswith(f"**{len(keys)} settings:**\n") and found.intent is Intent.LIST
    assert {one.support for one in found.checks} == {Support.SUPPORTED}
    lines = {path: content.split("\n") for path, content in FILES.items()}
    for line, key in zip(told, keys, strict=True):
        path, _, number = line.partition(" in ")[2].partition(" ")[0].rstrip(":").rpartition(":")
        assert key in lines[path][int(number) - 1]


def test_one_place_is_no_list_and_another_question_none_of_settings(shop: Index) -> None:
    asked = "which environment variables does the web project read?"
    assert "environment variables:**" not in shop.ask(asked, options=AskOptions()).text
    other = shop.ask("which settings does the web project read for mail?", options=AskOptions())
    assert "settings:**" not in other.text


@pytest.mark.rule("E19")
@pytest.mark.parametrize(
    ("question", "files"),
    [
        ("which settings are there in appsettings.json?", ["src/Shop.Jobs/appsettings", "src/Shop.Web/appsettings"]),
        ("what does Shop.Web/appsettings.json contain?", ["src/Shop.Web/appsettings"]),
        ("show me the Shop.Web\\appsettings.json file", ["src/Shop.Web/appsettings"]),
        (
            "what is in web.config",
            ["src/Shop.Web/wwwroot/web", "src/Shop.Web/wwwroot/a/web", "src/Shop.Web/wwwroot/b/web"],
        ),
    ],
)
def test_what_a_file_holds_is_shown_of_the_files_nearest_to_the_root(
    shop: Index, question: str, files: list[str]
) -> None:
    found = shop.ask(question, options=AskOptions())
    told = [line for line in found.text.splitlines() if "[chunk: " in line]
    assert [line.partition("src/")[2].partition(".config:")[0].partition(".json:")[0] for line in told] == [
        one.removeprefix("src/") for one in files
    ]
    assert found.intent is Intent.PLACE and {one.support for one in found.checks} == {Support.SUPPORTED}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("which sections are defined in appsettings.json?", "appsettings.json"),
        ("what does the file `docker-compose.yml` define?", "docker-compose.yml"),
        ("describe package.json", "package.json"),
        ("who reads appsettings.json?", ""),
        ("what uses appsettings.json?", ""),
        ("which handlers are registered in web.config?", ""),
        ("how does Startup.cs read appsettings.json?", ""),
        ("what is in appsettings.json and web.config?", ""),
        ("what is appsettings.json used for?", ""),
    ],
)
def test_questions_for_what_a_file_holds(question: str, path: str) -> None:
    found = file_asked(understand(question))
    assert (found.path if found else "") == path


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("which settings does the web project read?", ("setting", "the web project")),
        ("what config values do the jobs need", ("setting", "the jobs")),
        ("which env vars are used by the worker?", ("environment variable", "the worker")),
        ("list the settings that the host reads", ("setting", "the host")),
        ("which settings does the encoder read for hardware acceleration?", ("", "")),
        ("which keys does the cache use?", ("", "")),
        ("which settings are there?", ("setting", "")),
        ("how does the web project read settings?", ("", "")),
    ],
)
def test_questions_for_settings(question: str, asked: tuple[str, str]) -> None:
    assert settings_asked(question) == asked


@pytest.mark.parametrize(
    ("code", "key", "is_variable"),
    [
        ('config["Jobs:Hour"]', "Jobs:Hour", False),
        ('builder.Configuration.GetConnectionString("Shop")', "Shop", False),
        ('services.Configure<Mail>(config.GetRequiredSection("Mail"))', "Mail", False),
        ("config.GetValue<int>(nameof(options.Limit), 3)", "Limit", False),
        ('WebConfigurationManager.AppSettings["Mail.Host"]', "Mail.Host", False),
        ('ConfigurationManager.ConnectionStrings["Shop"].ConnectionString', "Shop", False),
        ('viper.GetString("mail.host")', "mail.host", False),
        ('@Value("${mail.host:localhost}")', "mail.host", False),
        ('Environment.GetEnvironmentVariable("SHOP_PROXY")', "SHOP_PROXY", True),
        ('os.environ["SHOP_PROXY"]', "SHOP_PROXY", True),
        ("os.environ.get('SHOP_PROXY', '')", "SHOP_PROXY", True),
        ('os.Getenv("SHOP_PROXY")', "SHOP_PROXY", True),
        ("process.env.SHOP_PROXY || ''", "SHOP_PROXY", True),
        ("process.env['SHOP_PROXY']", "SHOP_PROXY", True),
    ],
)
def test_how_languages_read_settings(code: str, key: str, is_variable: bool) -> None:
    assert [name for name, _ in settings_read(f"x = {code};")] == [key]
    assert [name for name, _ in settings_read(code, variables=True)] == [key] * is_variable
    assert list(settings_read(f'const title = "{key}";')) == []
