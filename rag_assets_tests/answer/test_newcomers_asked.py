"""What people who are new to a project of Kotlin, Dart, PHP, Clojure, Julia or Zig ask of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.qa.ask_options import AskOptions
from rag_assets_tests.cli.conftest import opened_index

FILES = {
    "CHANGELOG.md": """\
# Change Log

* 1.3.next in progress
  * Update dependencies.

* 1.3.9 -- 2024-03-15
  * Boats have an anchor.

* 1.3.8 -- 2023-12-16
  * Boats have a mast.
""",
    "AGENTS.md": "# Agents\n\n- Fix formatting: `./gradlew spotlessApply`\n",
    "gradle/libs.versions.toml": """\
[versions]
kotlin = "2.3.0"
hilt = "2.59"
client = "2.11.0"

[libraries]
hilt-android = { group = "com.google.dagger", name = "hilt-android", version.ref = "hilt" }
retrofit-core = { group = "com.squareup.retrofit2", name = "retrofit", version.ref = "client" }
""",
    "composer.json": """{
  "require": {
    "laravel/ai": "^0.7", "laravel/ui": "^4.5",
    "laravel/framework": "^13.0", "blobs/database": "^1.0"
  }
}
""",
    "zig/build.zig.zon": '.{\n    .name = .harbour,\n    .minimum_zig_version = "0.17.0",\n    .paths = .{""},\n}\n',
    "jl/Project.toml": 'name = "Harbour"\n[compat]\njulia = "1.10"\n',
    "src/main/boats/BoatDao.kt": "package boats\n\ninterface BoatDao {\n    fun all(): List<Boat>\n}\n",
    "src/main/boats/OarDao.kt": "package boats\n\ninterface OarDao {\n    fun all(): List<Oar>\n}\n",
    "src/main/boats/MastDao.kt": "package boats\n\ninterface MastDao {\n    fun all(): List<Mast>\n}\n",
    "src/main/boats/MemoryMastDao.kt": "package boats\n\nclass MemoryMastDao : MastDao {\n"
    "    override fun all() = listOf<Mast>()\n}\n",
    "src/test/boats/TestBoatDao.kt": "package boats\n\nclass TestBoatDao : BoatDao {\n"
    "    override fun all() = listOf<Boat>()\n}\n",
    "app/lib/domain/models/boat.dart": "class Boat {\n  final String name;\n}\n\nclass _Hidden {\n  int a = 1;\n}\n",
    "app/lib/domain/models/oar.dart": "class Oar {\n  final int length;\n}\n",
    "app/lib/domain/models/mast.dart": "class Mast {\n  final int height;\n}\n",
    "app/lib/api/boat_api_model.dart": "class BoatApiModel {\n  final String name;\n}\n",
    "app/lib/ui/boat_viewmodel.dart": "class BoatViewModel {\n  final Boat boat;\n}\n",
    "app/lib/ui/oar_viewmodel.dart": "class OarViewModel {\n  final Oar oar;\n}\n",
    "routes/console.php": """<?php

use Illuminate\\Support\\Facades\\Schedule;

Schedule::job(new RunCommandJob('boats:count'))->daily();
Schedule::command('oars:paint --all')->weekly();
$schedule->job(new MendSails)->everyFiveMinutes();
""",
    "app/Jobs/QueuedJob.php": "<?php\nnamespace App\\Jobs;\n\nabstract class QueuedJob implements ShouldQueue\n{\n}\n",
    "app/Jobs/PaintOarsJob.php": "<?php\nnamespace App\\Jobs;\n\nclass PaintOarsJob extends QueuedJob\n{\n}\n",
    "app/Jobs/CountBoatsJob.php": "<?php\nnamespace App\\Jobs;\n\nclass CountBoatsJob extends QueuedJob\n{\n}\n",
    "app/Exceptions/MooringTakenException.php": "<?php\nnamespace App\\Exceptions;\n\n"
    "class MooringTakenException extends \\Exception\n{\n}\n",
    "app/Services/MooringService.php": """<?php
namespace App\\Services;

class MooringService
{
    public function moor(Boat $boat): void
    {
        throw_if($this->isTaken($boat), MooringTakenException::class);
        $boat->save();
    }
}
""",
    "src/harbour/core.clj": """(ns harbour.core
  "Where boats are kept.")

(defn get-store
  "Return where to keep boats.

  Store types supported (for `:type`), and their defaults:
  * `memory` -- gone at the end
  * `disk` -- in a folder
  * `cloud` -- far away"
  [spec]
  (open-store spec))
""",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), FILES, "harbour") as index:
        yield index


def told(harbour: Index, question: str) -> str:
    return harbour.ask(question, options=AskOptions()).text


def listed(harbour: Index, question: str) -> list[str]:
    """The names of a list, each as it stands before its place."""
    lines = [line for line in told(harbour, question).split("\n") if line.startswith("- ")]
    return [line.removeprefix("- ").partition(" in ")[0].strip("*") for line in lines]


def test_a_contract_that_tests_alone_implement_is_among_those_of_the_product(harbour: Index) -> None:
    """What a library makes of it, no code shows; one that the product implements is told by that."""
    assert listed(harbour, "which DAOs exist?") == ["BoatDao", "MemoryMastDao", "OarDao"]


def test_view_models_are_no_models_and_types_in_folders_of_models_are(harbour: Index) -> None:
    assert listed(harbour, "which models are there?") == ["BoatApiModel", "Boat", "Mast", "Oar"]
    assert listed(harbour, "which view models are there?") == ["BoatViewModel", "OarViewModel"]


def test_jobs_that_are_queued_are_all_jobs(harbour: Index) -> None:
    assert listed(harbour, "which jobs are queued?") == ["CountBoatsJob", "PaintOarsJob"]


@pytest.mark.parametrize("question", ["which tasks are scheduled?", "which scheduled jobs are there?"])
def test_what_laravel_schedules_is_called_as_it_runs(harbour: Index, question: str) -> None:
    assert listed(harbour, question) == ["boats:count", "oars:paint --all", "MendSails"]


def test_what_throw_if_throws_is_thrown(harbour: Index) -> None:
    answer = told(harbour, "what throws MooringTakenException?")
    assert "**MooringService.moor** throws **MooringTakenException** in app/Services/MooringService.php:8" in answer


def test_an_item_that_is_a_version_heads_what_it_brought(harbour: Index) -> None:
    answer = told(harbour, "what changed in 1.3.9?")
    assert answer.startswith("CHANGELOG.md:6-7") and "anchor" in answer and "mast" not in answer


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("which version of Kotlin is used?", "gradle/libs.versions.toml:2"),
        ("what Julia version is required?", "jl/Project.toml:3"),
        ("what Zig version is required?", "zig/build.zig.zon:3"),
        ("which version of retrofit is used?", "gradle/libs.versions.toml:4"),
        ("what version of hilt do we use?", "gradle/libs.versions.toml:3"),
        ("which version of Laravel is used?", "composer.json:4"),
    ],
)
def test_a_version_is_told_by_the_line_that_sets_it(harbour: Index, question: str, line: str) -> None:
    first = next(one for one in told(harbour, question).split("\n") if one.startswith("- "))
    assert f" in {line}: " in first


@pytest.mark.parametrize("thing", ["okhttp", "the framework", "Android", "database"])
def test_what_no_manifest_names_so_has_no_version(harbour: Index, thing: str) -> None:
    assert not listed(harbour, f"which version of {thing} is used?")


def test_a_command_of_a_document_formats_the_code(harbour: Index) -> None:
    assert "AGENTS.md:3: `` - Fix formatting: `./gradlew spotlessApply` ``" in told(
        harbour, "how do I format the code?"
    )


def test_a_comment_lists_what_is_supported_where_no_document_does(harbour: Index) -> None:
    answer = told(harbour, "which store types are supported?")
    assert [f"core.clj:{line}: " in answer for line in (7, 8, 9, 10, 11)] == [False, True, True, True, False]


def test_a_number_of_a_name_is_the_whole_number(harbour: Index) -> None:
    """Nor is a version of something another one."""
    assert told(harbour, "does it support HTTP/3?").startswith("I don’t see enough information")
