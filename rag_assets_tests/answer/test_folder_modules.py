"""What a folder of code holds, asked by what it is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

_EXTENSION = "local M = {{}}\n\nM.filetypes = {{ '{0}' }}\n\nreturn M\n"
FILES = {
    **{f"lua/bar/extensions/{name}.lua": _EXTENSION.format(name) for name in ("fzf", "lazy", "man", "oil")},
    "lua/bar/extensions/init.lua": "return {}\n",
    "lua/bar/extensions/[name]/a.lua": _EXTENSION.format("name"),
    "lua/bar/sections/branch/init.lua": "local M = {}\nfunction M.draw() end\nreturn M\n",
    "lua/bar/sections/branch/git.lua": "local M = {}\nfunction M.find() end\nreturn M\n",
    "lua/bar/sections/clock.lua": "local function clock() return os.date() end\nreturn clock\n",
    "lua/bar/sections/mode.lua": "local function mode() return 1 end\nreturn mode\n",
    **{
        f"app/orders/{part}.py": f"def {part}_of(order):\n    return order\n"
        for part in ("models", "views", "tests_", "urls")
    },
    **{f"web/teams/{part}.ts": "export const a = 1;\n" for part in ("AdminTeamsPage", "AdminTeamsTable", "getTeam")},
    "app/orders/cart.py": "def total(order):\n    return 1\n",
    "db/read.h": (
        "#ifndef DB_READ_H\n#define DB_READ_H\n\n#define DB_ERR -1\n#define DB_ERR_IO 1 /* reading or writing */\n"
        "#define DB_ERR_EOF 3\n#define DB_ERR_OOM 5\n\n#define DB_REPLY_TEXT 1\n#define DB_REPLY_SET(a) (a)\n#endif\n"
    ),
    "log/levels.h": (
        "namespace log {\n\nenum severity_enum : int {\n  trace = 0,\n  warn = 1,\n};\n\n"
        "class logger {\n public:\n  void flush_on(int level);\n};\n\n}\n"
    ),
    "log/logger-inl.h": "namespace log {\n\nvoid logger::flush_on(int level) { level_ = level; }\n\n}\n",
    "scala/Path.scala": (
        "package bar\n\nobject PathError {\n  type Bad = Exception\n"
        "  case class Missing(path: String) extends Exception(path)\n"
        "  case object Outside extends IllegalArgumentException\n  case class Empty() extends Exception\n}\n"
    ),
    "lib/job.ex": (
        'defmodule Bar.Job do\n  schema "jobs" do\n    field :state, :string\n    field :tries, :integer\n  end\n\n'
        "  def query(fields) do\n    fields\n  end\nend\n"
    ),
    "test/bar.bats": '#!/usr/bin/env bats\n\n@test "draws the bar" {\n  run bar\n}\n',
}


@pytest.fixture(scope="module")
def bar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("bar"), FILES, "bar") as index:
        yield index


@pytest.mark.parametrize(
    "question",
    [
        "Which extensions are bundled?",
        "what extensions are there?",
        "list all extensions",
        "which extensions are supported?",
        "which extensions can I use?",
    ],
)
def test_the_files_of_a_folder_that_is_called_so_are_listed(bar: Index, question: str) -> None:
    told = bar.ask(question).text
    assert told.startswith("**4 extensions:**") and "**fzf** in lua/bar/extensions/fzf.lua" in told
    assert "init" not in told.partition("[1]")[0]


@pytest.mark.parametrize("question", ["Which bar extensions are there?", "which bar extensions are supported?"])
def test_what_is_said_of_them_may_be_a_folder_around_theirs(bar: Index, question: str) -> None:
    assert bar.ask(question).text.startswith("**4 bar extensions:**")


def test_what_implements_a_contract_that_is_called_so_tells_more_than_the_files_of_a_folder(tmp_path: Path) -> None:
    contract = "namespace Bar;\n\npublic interface IDownloadClient { }\n\npublic class ClientSettings { }\n"
    files = {"src/Downloads/Clients/IDownloadClient.cs": contract}
    files |= {
        f"src/Downloads/Clients/{name}.cs": f"namespace Bar;\n\npublic class {name} : IDownloadClient {{ }}\n"
        for name in ("Deluge", "Flood", "Vuze")
    }
    with opened_index(tmp_path, files, "downloads") as index:
        told = index.ask("which download clients are supported?").text
    assert told.startswith("**3 download clients:**") and "IDownloadClient.cs" not in told.partition("\n\n")[0]


def test_folders_in_it_are_listed_at_the_file_that_they_begin_with(bar: Index) -> None:
    told = bar.ask("Which sections are available?").text
    assert told.startswith("**3 sections:**") and "**branch** in lua/bar/sections/branch/init.lua" in told


@pytest.mark.parametrize(
    "question", ["Which orders are there?", "Which teams exist?", "Which fast extensions are there?"]
)
def test_the_parts_of_a_feature_and_what_says_more_are_no_list_of_a_folder(bar: Index, question: str) -> None:
    assert not bar.ask(question).text.startswith(("**5", "**4", "**3"))


def test_an_enumeration_of_c_is_called_as_people_say_it(bar: Index) -> None:
    told = bar.ask("Which severities are there?").text
    assert told.startswith("`severity_enum` in log/levels.h") and "warn" in told


@pytest.mark.parametrize("question", ["What error codes can a context have?", "Which error codes are there?"])
def test_constants_of_c_that_begin_alike_are_a_list(bar: Index, question: str) -> None:
    told = bar.ask(question).text
    assert told.startswith("**3 error codes:**") and "**DB_ERR_EOF** in db/read.h:6" in told


def test_fewer_than_three_are_none(bar: Index) -> None:
    assert not bar.ask("Which reply types are there?").text.startswith("**1")


def test_what_a_member_of_cpp_does_its_definition_says(bar: Index) -> None:
    told = bar.ask("What does logger::flush_on do?").text
    assert told.startswith("`logger::flush_on` in log/logger-inl.h:3") and "level_ = level" in told


def test_what_an_object_of_scala_holds_is_listed_for_it(bar: Index) -> None:
    told = bar.ask("Which path errors exist?").text
    assert told.startswith("**3 path errors:**") and "**Outside** in scala/Path.scala:6" in told


@pytest.mark.parametrize(
    ("question", "begins", "says"),
    [
        ("What does M.draw do?", "`M.draw` in lua/bar/sections/branch/init.lua:2", "function M.draw()"),
        ("What fields does Bar.Job have?", "`Bar.Job` in lib/job.ex:1", "field :tries, :integer"),
    ],
)
def test_what_is_declared_with_its_module_is_found_by_its_name(
    bar: Index, question: str, begins: str, says: str
) -> None:
    told = bar.ask(question).text
    assert told.startswith(begins) and says in told


def test_bats_is_a_test_framework(bar: Index) -> None:
    assert "bats" in bar.ask("Which test framework is used?").text


def test_files_of_folders_that_are_called_as_those_beside_them_are_listed_each(tmp_path: Path) -> None:
    hook = "export function {0}() {{\n  return 1;\n}}\n"
    files = {f"web/hooks/{name}.ts": hook.format(name) for name in ("useSail", "useTide", "useWind", "useWave")}
    files |= {f"web/hooks/queries/{name}.ts": hook.format(name) for name in ("useShipQuery", "useCrewQuery")}
    files |= {"web/hooks/helpers/format.ts": hook.format("format"), "web/hooks/queries/index.ts": "export {};\n"}
    with opened_index(tmp_path, files, "hooks") as index:
        told = index.ask("which hooks are there?").text
    assert told.startswith("**7 hooks:**"), told
    assert "**useShipQuery**" in told and "**useCrewQuery**" in told and "**helpers**" in told
    assert "**queries**" not in told
