"""What a name stands for is told: the items of a collection, and where an amount comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.plans.items import longest_of
from rag_assets.answer.question_analysis import Intent
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": "# Parcel\n\nBrings parcels to people.\n",
    "parcel/settings.py": 'import os\n\nHOST = "parcel.example"\n'
    'INTAKE_MAX_BYTES = int(os.getenv("INTAKE_MAX_BYTES", 15728640))\nPRINT_MAX_BYTES = 12\n',
    "parcel/scanning.py": '''\
from parcel import settings

RETRY_PAUSE = 4


class ScanTooLargeError(Exception):
    """A scan that nobody can store."""


def download_scan(url, storage):
    """Download the scan of a label and keep it."""
    allowed = settings.INTAKE_MAX_BYTES
    size = 0
    for chunk in storage.stream(url):
        size += len(chunk)
        if size > allowed:
            raise ScanTooLargeError(f"the scan exceeds {allowed}")
        storage.write(chunk)
''',
    "src/Carriers/CarrierClient.cs": """\
namespace Parcel.Carriers;

public class CarrierClient
{
    public IDictionary<string, Func<ICarrier>> LabelPaperFormats { get; private set; }

    public CarrierClient()
    {
        LabelPaperFormats = new Dictionary<string, Func<ICarrier>>
        {
            { "a5-landscape", () => new Carrier(1, 2) }, // as most, by far
            { "a6", () => new Carrier(3, 4) },
            { "letter", () => new Carrier(5, 6) },
        };
    }
}
""",
    "src/Mail/MailSettings.cs": """\
namespace Parcel.Mail;

public class MailSettings
{
    public string RelayHost { get; set; }

    public int RelayPort { get; set; }
}
""",
    "src/Mail/MailSeed.cs": """\
namespace Parcel.Mail;

public class MailSeed
{
    public void Build(ModelBuilder builder)
    {
        builder.Entity<AppSetting>().HasData(
            new AppSetting("RelayHost") { Module = "Mail", Value = "relay.parcel.example" },
            new AppSetting("RelayPort") { Module = "Mail", Value = "2525" });
    }
}
""",
}


@pytest.fixture(scope="module")
def parcel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("behind"), FILES, "parcel") as index:
        yield index


def test_what_is_supported_are_the_items_of_the_collection_that_is_called_so(parcel: Index) -> None:
    found = parcel.ask("which label paper formats are supported?")
    assert found.intent is Intent.LIST and found.text.startswith("**3 label paper formats:**"), found.text
    assert '**a5-landscape** in src/Carriers/CarrierClient.cs:11: `{ "a5-landscape", ' in found.text
    assert "- **letter** in src/Carriers/CarrierClient.cs:13" in found.text


def test_an_amount_that_code_only_names_is_told_where_it_has_its_value(parcel: Index) -> None:
    found = parcel.ask("how large may the scan of a label be that is downloaded?").text
    assert "`scanning.download_scan` in parcel/scanning.py" in found.partition("**Where its values come from:**")[0]
    told = found.partition("**Where its values come from:**")[2].partition("\n\n")[0]
    assert 'parcel/settings.py:4: `INTAKE_MAX_BYTES = int(os.getenv("INTAKE_MAX_BYTES", 15728640))`' in told, found
    assert "PRINT_MAX_BYTES" not in told and "HOST" not in told


def test_an_amount_is_told_also_where_a_message_leads_to_the_code(parcel: Index) -> None:
    found = parcel.ask("I get 'the scan exceeds' from the intake. How many bytes may be stored at most?").text
    before, _, told = found.partition("**Where its values come from:**")
    assert "`scanning.download_scan` in parcel/scanning.py" in before, found
    assert "parcel/settings.py:4" in told, found


def test_a_row_of_settings_gives_a_setting_its_value(parcel: Index) -> None:
    found = parcel.ask("what is the default mail relay port?").text
    assert 'src/Mail/MailSeed.cs:9: `new AppSetting("RelayPort") { Module = "Mail", Value = "2525" }' in found, found


@pytest.mark.parametrize(
    ("code", "items"),
    [
        ('A: frozenset[str] = frozenset({"a", "b"})\nB = {"c"}', ["a", "b"]),
        ('static readonly string[] A = { ".jpg", ".png" };', [".jpg", ".png"]),
        ("A = new HashSet<string>(StringComparer.Ordinal)\n{\n  Foo.Bar,\n  Foo.Baz\n};", ["Foo.Bar", "Foo.Baz"]),
        ('var A = []string{"x", "y"}\nvar b = []string{"z"}', ["x", "y"]),
        ('A = List.of("x", "y");', ["x", "y"]),
        ('A = [\n  { code: "en", name: "English" },\n  { code: "de" },\n]', ["en", "de"]),
        ('A = (\n ("a", 1),\n ("c", 2),\n)', ["a", "c"]),
        ('A = [new C("x, y", 1), new C("z", 2)];', ["x, y", "z"]),
        ("public string[] A => new[] { X.Y, X.Z };", ["X.Y", "X.Z"]),
        ("public string[] A { get; } = [X.Y, X.Z];", ["X.Y", "X.Z"]),
        ("A = made(1, 2);", []),
        ("if (A == other) { x, y }", []),
        ("public int A => 3;", []),
        ("A = False\nB = {\n 'x': 1,\n 'y': 2}", []),
        ("A =\n  ['x', 'y']", ["x", "y"]),
        ("A = [" * 3_000, []),
    ],
)
def test_items_are_read_as_languages_write_them(code: str, items: list[str]) -> None:
    assert [label for label, _ in longest_of("A", code)] == items


def test_types_and_tests_that_are_called_so_are_meant_before_the_items_of_a_collection(tmp_path: Path) -> None:
    files = {
        "parcel/ways.py": "class Ways:\n    TESTING = {'scale': 1, 'scanner': 2}\n",
        "tests/test_scale.py": "def test_it_weighs():\n    assert True\n\n\ndef test_it_is_level():\n    assert True\n",
    }
    with opened_index(tmp_path, files, "parcel") as index:
        told = index.ask("which tests are there?").text
    assert told.startswith("**2 tests:**\n- **test_scale.test_it_weighs**"), told
