"""No public entry shows what its reader must not see, and none is forgotten here (B02, E12, R17)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
import typer.main
from typer.core import TyperGroup

import rag_assets
from rag_assets import Index, IndexGroup
from rag_assets.cli import app
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets_tests.isolation.hidden_words import PAIRED, told_apart
from rag_assets_tests.isolation.public_entries import (
    COMMANDS,
    COMMANDS_WITHOUT_CONTENT,
    ENTRIES,
    LIBRARY,
    LIBRARY_WITHOUT_CONTENT,
    typed,
)
from rag_assets_tests.isolation.walled_shops import CONFIG, LEDGER, Asker, World, walled_shops

REQUESTS = {"library": 10, "command": 5}
PAIRS = {"library": 5, "words": 3, "command": 3}
"""Of each entry; a command costs ten times as much. `benchmarks/isolation.py` makes 10,000 in all."""
_ONLY_TYPES = {
    *("Answer", "AskOptions", "ComparedHit", "ComparedSearch", "Confidentiality", "DeclaredLines", "Hit", "MemberHit"),
    *("Mode", "NO_FILTERS", "Question", "QuestionKind", "SearchFilters", "SourceLines", "TextVersion", "__version__"),
    *("ChangeImpact", "EffectStep", "Touched", "TouchedNode", "TouchingFile"),
}
_ERRORS = {name for name in rag_assets.__all__ if name.endswith("Error") or name.startswith(("Wrong", "No"))}
_OPENING = {
    *("Index", "IndexGroup", "open_index", "open_indexes", "understand", "SearchResult", "Source", "TermEvidence"),
    *("RagIndexResource", "RepositoryIndex"),  # in a project of Dagster
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with walled_shops(tmp_path_factory.mktemp("walled")) as made:
        yield made


def asker(world: World, role: str | None, label: str = "shop@main") -> Asker:
    return next(one for one in world.askers if (one.shop.label, one.role) == (label, role))


def several(chance: random.Random, askers: Sequence[Asker], count: int) -> list[Asker]:
    """Nobody a second time before everybody has asked."""
    rounds = -(-count // len(askers))
    return [one for _ in range(rounds) for one in chance.sample(askers, len(askers))][:count]


@pytest.mark.rule("B02", "E12", "R17")
@pytest.mark.parametrize("name", ENTRIES)
def test_nothing_behind_a_wall_is_shown(world: World, name: str) -> None:
    chance = random.Random(f"requests of {name}")
    for number, asked in enumerate(several(chance, world.askers, REQUESTS[name.split()[0]])):
        found = ENTRIES[name](world, asked, chance)
        leaked = world.leaks(found.shown, found.said, found.labels, asked.clearance)
        assert not leaked, f"{number}: {found.said!r} of {asked.shop.label} as {asked.role}: {leaked}\n{found.shown}"


@pytest.mark.rule("B02", "E12")
@pytest.mark.parametrize("name", PAIRED)
def test_a_hidden_word_is_told_as_one_that_is_nowhere(world: World, name: str) -> None:
    chance = random.Random(f"pairs of {name}")
    not_allowed_all = [one for one in world.askers if one.above]
    for number, asked in enumerate(several(chance, not_allowed_all, PAIRS[name.split()[0]])):
        told = told_apart(world, asked, name, f"{name} {number}")
        assert not told, f"{asked.shop.label} as {asked.role}: {told}"


@pytest.mark.rule("E12")
@pytest.mark.parametrize("level", Confidentiality)
def test_descriptions_tell_of_nothing_behind_a_wall(world: World, level: Confidentiality) -> None:
    """What is written about a file when it is indexed: other parts of a type, who implements or uses something."""
    one = asker(world, level.value)
    shown = [point for point in one.shop.points if one.index.may_read(point["Path"])]
    assert shown
    for point in shown:
        text = f"{point} {one.index.description(point['DescriptionBlobUri'])}"
        assert not world.leaks(text, "", (one.shop.label,), level), point["Path"]


@pytest.mark.rule("E12")
def test_who_sees_everything_is_told_everything(world: World) -> None:
    """The tests above could pass with an index that tells nothing."""
    one = asker(world, "restricted")
    names = [one.shop.canary(level) for level in Confidentiality]
    hidden = names[-1]
    (ledger,) = (point for point in one.shop.points if point["Path"] == LEDGER.format("restricted"))
    told = one.index.description(ledger["DescriptionBlobUri"])
    assert [known.secret in told for known in names] == [True] * len(names)
    for name, words in {
        "explain": (one.shop.code(Confidentiality.RESTRICTED),),
        "read": (f"{one.shop.code(Confidentiality.RESTRICTED)}:11",),
        "show": (f"{one.shop.code(Confidentiality.RESTRICTED)}:11",),
        "search": (f"OrderService{hidden.name.capitalize()}",),
    }.items():
        found = typed(world, one, random.Random(0), (name, "--label", one.shop.label, *words))
        assert hidden.secret in found.shown, name
    compared = typed(world, one, random.Random(0), ("generations", "compare", *one.shop.generations, "--limit", "0"))
    assert all(known.name in compared.shown.lower() for known in names)


@pytest.mark.rule("E12")
@pytest.mark.parametrize("level", Confidentiality)
def test_an_asset_of_dagster_sees_what_the_level_of_its_resource_may(world: World, level: Confidentiality) -> None:
    one = asker(world, level.value)
    resource = rag_assets.RagIndexResource(
        label=one.shop.label, home=str(world.home.root), config_file=str(world.folder / CONFIG), clearance=level.value
    )
    try:
        for other in Confidentiality:
            name = f"OrderService{one.shop.canary(other).name.capitalize()}"
            shown = f"{resource.search(name)} {resource.ask(f'what does {name} do?')}"
            assert not world.leaks(shown, name, (one.shop.label,), level)
    finally:
        resource.index().close()


@pytest.mark.rule("E12")
@pytest.mark.parametrize(
    "words",
    [
        ("explain", "src/{level}/{file}"),
        ("explain", "src/{level}/{file}:11"),
        ("read", "src/{level}/{file}"),
        ("read", "src/{level}/{file}:11-12"),
        ("read", "src/{level}/{file}:11", "--work-tree"),
        ("show", "src/{level}/{file}:11"),
        ("show", "rag://shop@main/src/{level}/{file}"),
        ("search", "path:src/{level}/{file}"),
        ("search", "src/{level}/{file}:11"),
    ],
    ids=" ".join,
)
def test_a_hidden_file_is_told_as_if_it_did_not_exist(world: World, words: tuple[str, ...]) -> None:
    one = asker(world, "public")

    def told(file: str) -> str:
        filled = [word.format(level="restricted", file=file) for word in words]
        found = typed(world, one, random.Random(0), (*filled, "--label", one.shop.label))
        return found.shown.replace(file, "FILE").replace(file.lower(), "FILE").replace(file[:-3], "FILE")

    known = one.shop.code(Confidentiality.RESTRICTED).rpartition("/")[2]
    assert told(known) == told("OrderZqnnnnnnnnnn.cs")


def test_every_public_name_of_an_index_is_tried_or_shows_nothing() -> None:
    names = {name for kind in (Index, IndexGroup) for name in dir(kind) if not name.startswith("_")}
    names |= {"clearance", "generation", "indexes", "label", "manifest"}  # set by `__init__`
    tried = {word for name in LIBRARY for word in name.split()}
    assert names - tried == set(LIBRARY_WITHOUT_CONTENT)
    assert set(rag_assets.__all__) - _ONLY_TYPES - _ERRORS - _OPENING - tried == set()


def test_every_command_is_tried_or_shows_nothing() -> None:
    """A new command belongs into `COMMANDS`, or with the reason into `COMMANDS_WITHOUT_CONTENT`."""
    tried = {name for name in COMMANDS if not name.startswith("search --")}
    assert set(_commands(typer.main.get_command(app))) == tried | set(COMMANDS_WITHOUT_CONTENT)


def _commands(command: object, name: str = "") -> Iterator[str]:
    if not isinstance(command, TyperGroup):
        yield name
        return
    context = typer.Context(command)
    for own in command.list_commands(context):
        _, found, _ = command.resolve_command(context, [own])
        assert found is not None
        yield from _commands(found, f"{name} {own}".strip())
