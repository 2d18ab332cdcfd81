"""What versions changed, what is no longer meant to be used, what a protocol's version is, and what scripts of an
extension upgrade."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.answer.plans.documents import is_of_release
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "README.md": """\
# Kiln

Bakes pots, told over HTTP/3.

Is tried with Clay 2 too.

* Clay >= 4

## Glazing by hand

This is obsolete; dip the pots.
""",
    "CHANGELOG.md": """\
# Changelog

## [3.1.0](https://example.org/compare) (2024-02-01)

### Removed

* Drop support for Clay 3.7. (#81)

### Added

* The `glaze` argument was added. Use it instead of
  the deprecated `lacquer`. (#80)

3.0.0 & 3.0.1
=============
FIXES
-----
 - Pots no longer crack when they cool.
 - Shelves of the kiln are straight.

## 2.9

* The oven is lit.
* Added the glaze of salt, without arguments.
""",
    "src/Kiln.cs": """\
namespace Kiln;

public class Oven
{
    /// <summary>Heats at once.</summary>
    [Obsolete("It cracks pots. Call WarmUp instead.")]
    public void Blast() { }

    public void WarmUp()
    {
        // the old gauge is deprecated
    }
}
""",
    "sql/tables.sql": """\
CREATE TABLE @extschema@.firing (
    pot int NOT NULL,
    degrees int NOT NULL DEFAULT 900
);
""",
    "sql/fire.sql": """\
CREATE FUNCTION @extschema@.fire(p_pot int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO @extschema@.firing (pot) VALUES (p_pot);
END
$$;
""",
    "updates/kiln--2.9--3.0.0.sql": """\
ALTER TABLE @extschema@.firing ADD COLUMN degrees int NOT NULL DEFAULT 800;
CREATE OR REPLACE FUNCTION @extschema@.fire(p_pot int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- at once
    INSERT INTO @extschema@.firing (pot) VALUES (p_pot);
END
$$;
""",
}


@pytest.fixture(scope="module")
def kiln(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("kiln"), FILES, "kiln") as index:
        yield index


def answered(index: Index, question: str) -> str:
    return index.ask(question, options=AskOptions()).text


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which version dropped support for Clay 3.7?", "- **3.1.0 (2024-02-01)** in CHANGELOG.md:7: "),
        ("In which version was the glaze argument added?", "- **3.1.0 (2024-02-01)** in CHANGELOG.md:11"),
        ("Which version added glazes?", "- **2.9** in CHANGELOG.md:24: "),
        ("When were the cracks of cooling pots fixed?", "- **3.0.0 & 3.0.1** in CHANGELOG.md:18: "),
        ("When was version 3.1.0 released?", "> ## [3.1.0](https://example.org/compare) (2024-02-01)"),
        ("What was fixed in 3.0?", ">  - Shelves of the kiln are straight."),
    ],
)
def test_the_changelog_tells_which_version_did_something(kiln: Index, question: str, told: str) -> None:
    assert told in answered(kiln, question)


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("Which version dropped support for Clay 3.6?", "no entry of a changelog says in which version that was"),
        ("When was version 2.9 released?", "no changelog has a heading of 2.9 with a date"),
    ],
)
def test_what_no_changelog_tells_is_said_to_be_unknown(kiln: Index, question: str, absent: str) -> None:
    assert absent in kiln.ask(question, options=AskOptions()).notes


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Is Oven.Blast deprecated, and what do I call instead?", "- **Kiln.cs** in src/Kiln.cs:6: "),
        ("Is the lacquer argument still supported?", "- **CHANGELOG.md** in CHANGELOG.md:12: "),
        ("Is glazing by hand obsolete?", "- **README.md** in README.md:11: `This is obsolete; dip the pots.`"),
    ],
)
def test_what_is_no_longer_meant_to_be_used_is_told_with_what_is(kiln: Index, question: str, told: str) -> None:
    assert answered(kiln, question).startswith(told)


def test_what_is_deprecated_inside_of_a_member_is_not_that_member(kiln: Index) -> None:
    assert "- **Kiln.cs**" not in answered(kiln, "Is Oven.WarmUp deprecated?")


def test_the_version_that_is_demanded_is_told_first(kiln: Index) -> None:
    assert answered(kiln, "Which version of Clay do I need?").startswith(
        "- **README.md** in README.md:7: `* Clay >= 4`"
    )


@pytest.mark.parametrize(("protocol", "is_there"), [("HTTP/3", True), ("HTTP/2", False)])
def test_a_protocol_with_its_version_is_a_name(kiln: Index, protocol: str, is_there: bool) -> None:
    found = kiln.ask(f"How does it bake over {protocol}?", options=AskOptions())
    assert (f"nothing here is called {protocol}" in found.reason) is not is_there


def test_the_columns_of_a_table_are_those_of_its_script_and_not_of_upgrades_to_it(kiln: Index) -> None:
    told = answered(kiln, "Which columns does the firing table have?")
    assert "sql/tables.sql:1-4" in told
    assert "updates/" not in told


def test_a_routine_is_where_its_script_is_and_not_where_an_upgrade_makes_it_again(kiln: Index) -> None:
    told = answered(kiln, "list all sql functions")
    assert "- **fire** in sql/fire.sql:1: " in told


def test_what_a_script_does_is_quoted_before_an_upgrade_that_did_it(kiln: Index) -> None:
    told = answered(kiln, "How does it fire a pot at once?")
    assert 0 <= told.find("sql/fire.sql") < told.find("updates/kiln--2.9--3.0.0.sql")


@pytest.mark.parametrize(
    ("heading", "version", "is_of"),
    [
        ("2.4.0", "2.4", True),
        ("2.4.1", "2.4", False),
        ("2.40", "2.4", False),
        ("5.0.0 & 5.0.1", "5.0", True),
    ],
)
def test_a_version_is_also_the_first_of_its_patches(heading: str, version: str, is_of: bool) -> None:
    assert is_of_release(heading, version) is is_of


def test_the_readme_of_a_folder_that_is_called_as_an_action_tells_its_steps(tmp_path: Path) -> None:
    files = {
        "README.md": "# Anvil\n\nBeats iron.\n",
        "Build/Readme.md": "# Building Anvil\n\nOpen the folder in its container, which has all that it needs.\n",
        "Build/Forge.ps1": 'Write-Host "beat"\n',
        "tools/Build.ps1": 'Write-Host "build"\n',
        "Shapes/Readme.md": "# Shapes\n\nBuild a hoof first.\n",
    }
    with opened_index(tmp_path, files, "anvil") as index:
        told = index.ask("how do I build Anvil on my machine?").text
    assert "“Building Anvil” in Build/Readme.md" in told and "Shapes" not in told
