"""What keeps the layout readable: no cycles, folders of a bearable size, one name for one thing, explained words.

Layers between packages are contracts of import-linter (`[tool.importlinter]` in pyproject.toml, `make lint`)."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import rag_assets
from rag_assets.pipeline.checks.generation_checks import CHECKS

PACKAGE = Path(rag_assets.__file__).parent
ROOT = PACKAGE.parent
MOST_FILES = 30
MOST_WORDS_OF_README = 900
BARE_STEMS = frozenset(
    {
        *("asking", "finding", "searching", "reading", "making", "gathering", "describing", "keeping", "judging"),
        *("checking", "merging", "loading", "running", "planning", "watching", "talking", "following", "repeating"),
        *("settled", "shown", "known", "located", "written", "installed", "configured", "planned", "logged", "spoken"),
        *("where", "what", "who", "how", "past", "places", "parts", "things", "misc", "utils", "helpers", "common"),
    }
)
"""Gerunds, participles and pronouns that name no thing, and names that hold anything."""


@dataclass(frozen=True)
class Module:
    """What is looked at of a module: not its whole tree, which would stay, and is slow to walk."""

    imports: frozenset[str]
    """Modules of the package that it imports anywhere: at its top, in functions, for types only."""
    classes: tuple[str, ...]
    """Public ones, at its top."""
    texts: tuple[tuple[int, str], ...]
    """Line → string that is no docstring."""


@cache
def modules() -> dict[str, Module]:
    """Every module of the package by its dotted name."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }
    return {name: module_of(path, paths.keys()) for name, path in paths.items()}


def module_of(path: Path, known: Set[str]) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    names, texts, docs = set[str](), list[ast.Constant](), set[ast.expr]()
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=found, level=0):
                inner = (f"{module}.{alias.name}" for alias in found)
                names |= {name if name in known else module for name in inner}
            case ast.Import(names=found):
                names |= {alias.name for alias in found}
            case ast.Expr(value=value):
                docs.add(value)
            case ast.Constant(value=str()):
                texts.append(node)
    classes = (node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    shown = ((text.lineno, str(text.value)) for text in texts if text not in docs)
    return Module(frozenset(names & known), tuple(classes), tuple(shown))


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports for types and inside functions count."""
    graph = {name: module.imports - {name} for name, module in modules().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_no_folder_has_more_files_than_a_reader_can_take_in() -> None:
    counted = Counter(path.parent.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))
    assert {folder: count for folder, count in counted.items() if count > MOST_FILES} == {}


def test_no_module_is_named_by_a_bare_gerund_participle_or_pronoun() -> None:
    stems = {name.rpartition(".")[2]: name for name in modules()}
    assert {stem: name for stem, name in stems.items() if stem in BARE_STEMS} == {}


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for name, module in modules().items():
        for cls in module.classes:
            places[cls].append(name)
    assert {cls: where for cls, where in places.items() if len(where) > 1} == {}


def test_one_module_of_the_csharp_package_knows_sql() -> None:
    users = {
        name
        for name, module in modules().items()
        if name.startswith("rag_assets.languages.csharp.")
        and any(other.startswith("rag_assets.languages.sql") for other in module.imports)
    }
    assert len(users) <= 1, sorted(users)


def test_nothing_private_of_dagster_is_imported() -> None:
    text = re.compile(r"\bdagster(?:_\w+)?\._")
    assert [str(path) for path in PACKAGE.rglob("*.py") if text.search(path.read_text(encoding="utf-8"))] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= MOST_WORDS_OF_README


def public_nouns() -> list[str]:
    """What a user of the package meets by name: its public names, and the classes of the contracts."""
    contracts = (module for name, module in modules().items() if name.startswith("rag_assets.contracts"))
    classes = {cls for module in contracts for cls in module.classes}
    return sorted(classes | {name for name in rag_assets.__all__ if name[0].isupper()})


def test_the_glossary_explains_every_public_noun() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [noun for noun in public_nouns() if f"\n| `{noun}` |" not in glossary] == []


RULE_NUMBER = re.compile(r"(?<![\w.#/-])(?:[A-E]\d{2}|R\d{1,2})(?![\w-])|\b[A-E]\d{2}\.")


def shown_texts() -> Iterator[tuple[str, str]]:
    """Where it is → each text that a person may see: strings that are no docstrings, what the UI says of checks, and
    the help of all commands."""
    for name, module in modules().items():
        yield from ((f"{name}:{line}", text) for line, text in module.texts)
    for name, (_, _, check) in CHECKS.items():
        yield f"check {name}", check.__doc__ or ""
    yield "help", (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def test_no_text_for_people_quotes_a_rule_by_its_number() -> None:
    """But for the numbers themselves in `contracts.point_validation`, which only `validate --json` gives out."""
    quoted = [(place, text) for place, text in shown_texts() if RULE_NUMBER.search(text)]
    assert [
        found for found in quoted if not (".point_validation:" in found[0] and RULE_NUMBER.fullmatch(found[1]))
    ] == []


@pytest.mark.parametrize("text", ["stopped (D34)", "(C01, C04)", "B15.business-domain-key", "as R9 says"])
def test_a_rule_number_is_seen(text: str) -> None:
    assert RULE_NUMBER.search(text)
