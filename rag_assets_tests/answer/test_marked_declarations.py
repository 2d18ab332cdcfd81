"""What attributes, annotations and decorators say of declarations, and lists of what has one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.plans.marked import Marked
from rag_assets.answer.plans.usage import with_names
from rag_assets_tests.cli.conftest import opened_index

_MANY = 12 * 30
FILES = {
    "README.md": "# Harbour\n\nShips and cargo.\n",
    "src/ShipsController.cs": """\
namespace Harbour;

[ApiController, Watched]
public class ShipsController
{
    [HttpGet][Watched]
    public string Get() => "";

    [Produces(
        "text/plain",
        "text/csv")]
    [Watched("cargo (all)")]
    public string Cargo() => "";

    [Produces("text/plain")]
    public string Crew() => "";
}
""",
    "src/CraneBase.cs": "namespace Harbour;\n\npublic abstract class CraneBase { }\n",
    "src/TallCrane.cs": "namespace Harbour;\n\npublic class TallCrane : CraneBase { }\n",
    "src/LongCrane.cs": "namespace Harbour;\n\npublic class LongCrane : CraneBase { }\n",
    **{
        f"src/Cargo{one}.cs": "namespace Harbour;\n\n"
        + "\n".join(
            f"/// <summary>Carries good number {at}.</summary>\n[Insured]\npublic class Cargo{at}\n{{\n"
            f"    public int Weight{at} {{ get; set; }} = {at};\n}}\n"
            for at in range(one * 30, one * 30 + 30)
        )
        for one in range(_MANY // 30)
    },
    "src/Strings.resx": "<root>\n  <data name='Moor'><value>Moor the ship</value></data>\n</root>\n",
    "web/commands.ts": "export class HoistCommand {\n  run(): void {}\n}\n\nexport class SailCommand<T> {\n"
    "  wind?: T;\n}\n\nexport type SailPayload<T extends SailCommand<unknown>> =\n"
    "  T extends SailCommand<infer P> ? P : never;\n",
    "tools/harbour.py": "import click\n\n\n@click.command()\n@click.option('--force')\ndef unload(force):\n"
    "    pass\n\n\n"
    "class Quay:\n    @property\n    def depth(self):\n        return 3\n",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("marked"), FILES, "harbour") as index:
        yield index


def test_marks_are_read_of_several_on_a_line_and_behind_those_of_several_lines(harbour: Index) -> None:
    told = harbour.ask("which declarations have the Watched attribute?").text
    assert told.startswith("**3 declarations:**") and "ShipsController.Cargo**" in told and "Crew" not in told


def test_of_what_has_a_mark_the_sort_is_listed_that_is_asked_for(harbour: Index) -> None:
    told = harbour.ask("which methods are marked with [Watched]?").text
    assert told.startswith("**2 declarations:**") and "**ShipsController**" not in told
    assert harbour.ask("which classes are marked with [Watched]?").text.startswith("**1 declaration:**")


def test_all_that_has_a_mark_is_counted(harbour: Index) -> None:
    assert harbour.ask("which classes are marked with [Insured]?").text.startswith(f"**{_MANY} declarations:**")


@pytest.mark.parametrize("question", ["which properties are required on create?", "which options are there?"])
def test_what_has_something_is_not_listed_as_what_it_has(harbour: Index, question: str) -> None:
    told = harbour.ask(question).text
    assert "properties:**" not in told and "property:**" not in told and "**harbour.unload**" not in told


def test_what_derives_from_a_base_is_no_base(harbour: Index) -> None:
    assert "**TallCrane**" not in harbour.ask("which base classes are there?").text


def test_an_alias_is_no_more_what_its_bound_is(harbour: Index) -> None:
    told = harbour.ask("which commands are there?").text
    assert "**HoistCommand**" in told and "**SailPayload**" not in told


def test_texts_without_translations_are_not_told_as_languages(harbour: Index) -> None:
    assert "text file" not in harbour.ask("which languages is the app translated to?").text
    assert "Strings.resx" in harbour.ask("where are the texts of the app?").text


@pytest.mark.parametrize("part", ['<add name="a" ', "<endpoint ", "class a ", "class a:", ":", "<add<"])
def test_lines_that_marks_are_looked_for_in_take_linear_time(part: str) -> None:
    line = "class a " + part * (8_000 // len(part))
    start = time.process_time()
    for marked in (
        Marked.CONNECTION_STRINGS,
        Marked.HTTP_HANDLERS,
        Marked.HTTP_MODULES,
        Marked.SEEDS,
        Marked.SERVICE_ENDPOINTS,
        Marked.STARTUP,
    ):
        assert re.search(marked.value.lines, line) is None
    assert time.process_time() - start < 1


def test_the_types_of_a_graph_are_looked_through_once_a_question(harbour: Index) -> None:
    graph = harbour.graph()
    text = "who uses " + "the tall red crane of the old small harbour and " * 700
    start = time.process_time()
    assert with_names([graph], text)[1] == ()
    assert time.process_time() - start < 1
    assert with_names([graph], "who uses the tall crane?")[1] == ("TallCrane",)
