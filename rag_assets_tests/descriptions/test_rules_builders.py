"""What every registered builder and every description keeps to, found by walking the registry (IDX-069 §5–8)."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rag_assets
from rag_assets.contracts.description import DescriptionBuilder, DomainCatalog, ResourceDictionary, SummaryFacts
from rag_assets.contracts.kinds import Classification, SubtypeKind
from rag_assets.contracts.result import InvokeResult
from rag_assets.contracts.segment import SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions import processor
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.processor import DescribeOutcome
from rag_assets.descriptions.registry import DescriptionBuilderRegistry, RegistryError
from rag_assets_tests.descriptions.samples import file_context, segmented
from rag_assets_tests.descriptions.samples import processor as processor_of
from rag_assets_tests.descriptions.test_general import EVERY_SHAPE
from rag_assets_tests.descriptions.test_purity import description_types, every_builder

PACKAGE = Path(rag_assets.__file__).parent


@pytest.mark.rule("A11")
def test_every_builder_has_the_one_signature() -> None:
    """`name`, `description`, `build(file_context, symbol_text, domain_catalog, resource_dictionary)`."""
    expected = list(inspect.signature(DescriptionBuilder.build).parameters)[1:]
    assert expected == ["file_context", "symbol_text", "domain_catalog", "resource_dictionary"]
    for builder in every_builder():
        assert list(inspect.signature(builder.build).parameters) == expected, builder.name


@pytest.mark.rule("A12")
def test_every_builder_names_and_explains_itself() -> None:
    """A short readable name of its own; a description long enough to say what and how."""
    names = [builder.name for builder in every_builder()]
    assert len(set(names)) == len(names)
    for builder in every_builder():
        assert re.fullmatch(r"[a-z][a-z0-9-]{2,39}", builder.name)
        assert len(builder.description.split()) >= 8, builder.name


@pytest.mark.rule("A20", "A29")
def test_a_builder_only_describes() -> None:
    """What it returns has no section, no window and no vector yet, and is about the one symbol it was given."""
    made = processor_of(default_registry())
    found = [
        (outcome.segment, outcome.description)
        for _, path, text in EVERY_SHAPE
        for outcome in made.describe_file(file_context(text, path), segmented(text, path)).outcomes
        if outcome.description is not None
    ]
    assert len(found) >= len(EVERY_SHAPE)
    for segment, description in found:
        assert description.symbol == segment.symbol
        assert description._sections == []
        assert description._window is None


IMPORTS = """
import sys
import rag_assets.sections.code, rag_assets.sections.documents, rag_assets.contracts.description
from rag_assets.descriptions.kinds import default_registry
default_registry()
reached = ("rag_assets.models", "rag_assets.index", "onnxruntime", "qdrant_edge")
print(*sorted(name for name in sys.modules if name.startswith(reached)))
"""


@pytest.mark.rule("A20", "A29", "A39")
def test_builders_descriptions_and_sections_reach_no_embedder_and_no_store() -> None:
    """Their whole import graph has neither; the embedder is an argument of `create_embeddings` alone (A28)."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout.strip() == ""


@pytest.mark.rule("A22", "A23")
def test_no_description_changes_how_points_are_made() -> None:
    """Sections are each subtype's own; what makes points of them is that of `SummaryFacts`, for all of them."""
    types = description_types()
    assert types
    for name in ("build_rag_points", "set_common_properties", "create_embeddings", "_create_point", "_payload"):
        inherited = getattr(SummaryFacts, name)
        assert [t.__name__ for t in types if getattr(t, name) is not inherited] == []
    assert all(t.build_summary_sections is not SummaryFacts.build_summary_sections for t in types)


@pytest.mark.rule("A35")
def test_no_description_writes_the_payload_but_through_the_extension_point() -> None:
    """`RagVectorPayload` is named by no module of descriptions outside that method."""
    for path in sorted((PACKAGE / "descriptions").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        hooks = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == HOOK]
        allowed = {id(inner) for hook in hooks for inner in ast.walk(hook)}
        used = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == "RagVectorPayload"]
        assert [node.lineno for node in used if id(node) not in allowed] == [], path.name


HOOK = "populate_additional_rag_properties"


class Touchy:
    """Says so when anything but its constructor is used."""

    made = 0

    def __init__(self) -> None:
        Touchy.made += 1

    @property
    def name(self) -> str:
        raise AssertionError("the registry asked for the name")

    @property
    def description(self) -> str:
        raise AssertionError("the registry asked for the description")

    def build(
        self, context: IndexFileContext, symbol_text: SymbolText, catalog: DomainCatalog, resources: ResourceDictionary
    ) -> InvokeResult[SummaryFacts]:
        raise AssertionError("the registry invoked a builder")


@pytest.mark.rule("A42", "A43")
def test_the_registry_makes_builders_and_nothing_else() -> None:
    """Types go in, instances come out, at the first question; no builder is asked or invoked by it."""
    registry = DescriptionBuilderRegistry()
    registry.register(Touchy, SubtypeKind.MODEL)
    registry.register(Touchy, SubtypeKind.ENUM)
    before = Touchy.made
    assert registry.get_builders(SubtypeKind.SERVICE) == ()
    assert Touchy.made == before
    (builder,) = registry.get_builders(SubtypeKind.MODEL)
    assert registry.get_builders(SubtypeKind.ENUM) == (builder,)
    registry.validate()
    assert len(registry.fingerprint) == 12
    assert Touchy.made == before + 1


@pytest.mark.rule("A10", "A40", "A43")
def test_the_kind_is_the_only_key() -> None:
    """Neither the registry nor a classification knows a flavor, a symbol or a domain."""
    assert list(inspect.signature(DescriptionBuilderRegistry.get_builders).parameters) == ["self", "kind"]
    assert not [name for name in Classification.__slots__ if "flavor" in name.lower()]
    orders = [[type(b) for b in default_registry().get_builders(kind)] for kind in SubtypeKind]
    assert orders == [[type(b) for b in default_registry().get_builders(kind)] for kind in SubtypeKind]


@pytest.mark.rule("A45")
def test_the_processor_knows_no_kind_and_no_flavor() -> None:
    """Adding either changes nothing there: its code names none."""
    tree = ast.parse(inspect.getsource(processor))
    names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    names |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert not {name for name in names if "flavor" in name.lower() or name == "SubtypeKind"}


@pytest.mark.rule("A44")
def test_a_kind_without_builders_is_not_indexed_and_no_error() -> None:
    made = processor_of(DescriptionBuilderRegistry())
    (found,) = made.describe_file(file_context("enum E { A }"), segmented("enum E { A }")).outcomes
    assert (found.outcome, found.description, found.messages) == (DescribeOutcome.NO_BUILDER, None, ())


@pytest.mark.parametrize("kind", ["", "my kind", "workflow", "Work-Flow"])
def test_what_cannot_name_a_kind_is_refused(kind: str) -> None:
    with pytest.raises(RegistryError, match=r"Touchy: .* cannot name a kind"):
        DescriptionBuilderRegistry().register(Touchy, kind)
