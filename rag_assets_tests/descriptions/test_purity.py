"""Builders, descriptions, sections and points work on what they are given (A03, A16, A20, A26, A39).

Every registered builder is found by walking the registry and is fed with every segment of every example, whatever its
kind: a configured path may route any segment to any kind. A builder or description type that no example reaches fails
here, so that a new one cannot be impure unnoticed.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import random
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.classification.classifier import Classifier, FileFacts
from rag_assets.classification.rule_packs import built_in_packs
from rag_assets.contracts.description import DescriptionBuilder, SummaryFacts
from rag_assets.contracts.kinds import Kind, RagContentType, SubtypeKind
from rag_assets.contracts.payload import RagVectorPayload
from rag_assets.contracts.segment import SegmentedFile, SymbolText
from rag_assets.contracts.source_file import IndexFileContext
from rag_assets.descriptions.domain_catalog import ConfiguredDomainCatalog
from rag_assets.descriptions.file_metadata import detected_language
from rag_assets.descriptions.kinds import default_registry
from rag_assets.descriptions.kinds.ef_context import MIGRATION
from rag_assets.descriptions.processor import SourceFileProcessor
from rag_assets.languages.detection import detect_language
from rag_assets.languages.documents.resx import StaticResourceDictionary
from rag_assets_tests import outside_world
from rag_assets_tests.descriptions.samples import DOMAINS, described_file, file_context, segmented
from rag_assets_tests.descriptions.test_general import EVERY_SHAPE
from rag_assets_tests.sections.windows import window

SHOP = Path(__file__).parents[2] / "examples" / "shop"
DEEP = 25
"""Of each builder so many descriptions are followed to their points when it is fed with everything: enough to reach
every branch, few enough to be fast. On the real path all are."""

Input = tuple[IndexFileContext, SegmentedFile]


def shop_files() -> list[Input]:
    entries = yaml.safe_load((SHOP / "EXPECTED.yaml").read_text(encoding="utf-8"))["files"]
    paths = [entry["path"] for entry in entries if entry["outcome"] == "indexed"]
    texts = [((SHOP / path).read_text(encoding="utf-8-sig", errors="replace"), path) for path in paths]
    return [(file_context(text, path), segmented(text, path)) for text, path in texts]


@pytest.fixture(scope="module")
def inputs() -> list[Input]:
    shapes = [(file_context(text, path), segmented(text, path)) for _, path, text in EVERY_SHAPE]
    return [*shop_files(), *shapes]


@pytest.fixture(scope="module")
def resources(inputs: list[Input]) -> StaticResourceDictionary:
    made = StaticResourceDictionary()
    for context, file in inputs:
        if context.relative_path.endswith(".resx"):
            made.add_file(context.relative_path, file.segments)
    return made


def every_builder() -> dict[DescriptionBuilder, Kind]:
    """Each registered builder with one of its kinds."""
    registry = default_registry()
    found: dict[DescriptionBuilder, Kind] = dict.fromkeys(registry.fallbacks, SubtypeKind.OTHER)
    for kind in (*SubtypeKind, MIGRATION):
        found |= {builder: kind for builder in registry.get_builders(kind) if builder not in found}
    return found


def points_of(description: SummaryFacts) -> int:
    """Through sections to points, without a clock, a file or a service."""
    sections = description.use_window(window(64)).build_summary_sections()
    for section in sections:
        section.vectors = [1.0]
        section.embedding_model = "test-model"
    return len(description.use_sections(sections).build_rag_points())


@pytest.mark.rule("A03", "A16", "A20", "A26", "A39")
def test_the_path_of_every_kind_is_pure(inputs: list[Input], resources: StaticResourceDictionary) -> None:
    """From segments to points with all built-in rule packs; the files of the contexts do not exist at all (A03)."""
    classifier = Classifier(built_in_packs())
    processor = SourceFileProcessor(classifier, default_registry(), ConfiguredDomainCatalog(DOMAINS), resources)
    described = points = 0
    assert detected_language("Das Modell der Sprachen wird in einem Prozess nur einmal gelesen. " * 50) == "de"
    with outside_world.forbidden():
        for context, file in inputs:
            for description in processor.describe_file(context, file).descriptions:
                described += 1
                points += points_of(description)
    assert described >= len(inputs)
    assert points >= described
    assert not Path(inputs[0][0].full_path).exists()


@pytest.mark.rule("A03", "A13", "A16", "A20", "A26", "A39")
def test_every_builder_is_pure_whatever_it_is_given(inputs: list[Input], resources: StaticResourceDictionary) -> None:
    """A03, A16, A20; A13: a result for everything. Each builder and each description type is reached at least once."""
    catalog = ConfiguredDomainCatalog(DOMAINS)
    seen: set[type[SummaryFacts]] = set()
    idle: list[str] = []
    for builder, kind in every_builder().items():
        made = 0
        with outside_world.forbidden():
            for context, file in inputs:
                for segment in file.segments:
                    text = SymbolText(segment.span.slice(context.contents), segment)
                    result = builder.build(context, text, catalog, resources)
                    if result.value is not None:
                        made += 1
                        result.value.kind = str(kind)
                        seen.add(type(result.value))
                        if made <= DEEP:
                            points_of(result.value)
        if not made:
            idle.append(builder.name)
    assert idle == [], "builders that describe nothing of examples/shop and EVERY_SHAPE: add an example there"
    assert description_types() - seen == set(), "description types that no example reaches: add one there"


def description_types() -> set[type[SummaryFacts]]:
    """The description types of the package that no other one of it extends."""
    leaves: set[type[SummaryFacts]] = set()
    pending = own_subclasses(SummaryFacts)
    while pending:
        found = pending.pop()
        extended_by = own_subclasses(found)
        pending += extended_by
        if not extended_by:
            leaves.add(found)
    return leaves


def own_subclasses(base: type) -> list[type[SummaryFacts]]:
    children: Sequence[type[SummaryFacts]] = base.__subclasses__()
    return [child for child in children if child.__module__.startswith("rag_assets.")]


NAMES = st.sampled_from(["Order", "OrderService", "IOrderRepository", "OrdersController", "ShopContext", "A"])
TYPES = st.sampled_from(
    ["int", "string?", "List<Order>", "DbSet<Order>", "Task<ActionResult<Order>>", "void", "ILogger"]
)
ATTRIBUTES = st.sampled_from(
    ["", "[Fact]", "[Key]", '[HttpGet("{id:int}")]', "[Required, MaxLength(5)]", "[Route]", "[EntityDescription()]"]
)
MEMBERS = st.builds(
    "{} {} {} {} {}".format,
    ATTRIBUTES,
    st.sampled_from(["public", "private", "public static", "public override", ""]),
    TYPES,
    NAMES,
    st.sampled_from(
        ["{ get; set; }", "(int id, [FromBody] Order o) { }", "() => null;", ";", "= 1;", "{", "(this A a) {}"]
    ),
)
DECLARATIONS = st.builds(
    "{} public {} {}{} {{\n{}\n}}\n".format,
    ATTRIBUTES,
    st.sampled_from(["class", "interface", "enum", "record", "struct", "static class", "partial class"]),
    NAMES,
    st.sampled_from(["", " : Base", " : DbContext", " : ControllerBase, IA", "<T> : IHandler<T>", "(int X)"]),
    st.lists(MEMBERS, max_size=6).map("\n".join),
)  # fmt: skip
PATHS = st.sampled_from(
    ["src/A.cs", "ddrs/A.cs", "Program.cs", "A.Tests/B.cs", "Resources/A.resx", "docs/a.md", "a.sql"]
)


@pytest.mark.rule("A03", "A13", "A16", "A26", "A39")
@settings(max_examples=60)
@given(PATHS, st.lists(DECLARATIONS, max_size=3).map("\n".join))
def test_every_builder_is_pure_on_generated_code(path: str, text: str) -> None:
    """A03, A13, A16, A26, A39: half-broken declarations, through every builder to points."""
    context, file = file_context(text, path), segmented(text, path)
    builders = every_builder()
    catalog, resources = ConfiguredDomainCatalog(()), StaticResourceDictionary()
    with outside_world.forbidden():
        for segment in file.segments:
            symbol_text = SymbolText(segment.span.slice(text), segment)
            for builder, kind in builders.items():
                description = builder.build(context, symbol_text, catalog, resources).value
                if description is not None:
                    description.kind = str(kind)
                    points_of(description)


@pytest.mark.rule("A07", "A09")
def test_segmentation_and_classification_are_pure() -> None:
    """A07, A09: the same guard over the two stages before the builders."""
    texts = [(context.relative_path, context.contents) for context, _ in shop_files()]
    texts += [(path, text) for _, path, text in EVERY_SHAPE]
    classifier = Classifier(built_in_packs())
    with outside_world.forbidden():
        for path, text in texts:
            facts = FileFacts(path, detect_language(path), text)
            for segment in segmented(text, path).segments:
                classifier.classify(segment, facts)


LEAKS: list[tuple[str, Callable[[], object]]] = [
    ("open", lambda: open(__file__, encoding="utf-8")),  # noqa: PTH123, SIM115 - what is tested
    ("os.open", lambda: os.open(__file__, os.O_RDONLY)),
    ("path", lambda: Path(__file__).read_bytes()),
    ("listdir", lambda: list(Path().iterdir())),
    ("exists", lambda: Path(__file__).exists()),
    ("socket", lambda: socket.create_connection(("127.0.0.1", 9))),
    ("process", lambda: subprocess.run([sys.executable, "-V"], check=True)),
    ("time", lambda: time.time()),
    ("clock", lambda: time.perf_counter_ns()),
    ("random", lambda: random.random()),
    ("random-object", lambda: random.Random()),
    ("uuid4", lambda: uuid.uuid4()),
    ("urandom", lambda: os.urandom(4)),
    ("environment", lambda: os.environ["PATH"]),
    ("getenv", lambda: os.getenv("PATH")),
]  # fmt: skip


@pytest.mark.parametrize("leak", [leak for _, leak in LEAKS], ids=[name for name, _ in LEAKS])
def test_the_guard_notices(leak: Callable[[], object]) -> None:
    """What the tests above rely on."""
    with pytest.raises(outside_world.Impure), outside_world.forbidden():
        leak()


def test_the_guard_notices_what_is_swallowed() -> None:
    with pytest.raises(outside_world.Impure, match="open"), outside_world.forbidden(), contextlib.suppress(Exception):
        Path(__file__).read_bytes()


def test_the_guard_reaches_names_bound_before() -> None:
    """`from datetime import datetime` at the top of a module of the package."""
    payload = RagVectorPayload(org_id="o", project_id="p", doc_id="d", content_type_id=RagContentType.SPEC)
    with pytest.raises(outside_world.Impure, match=r"datetime\.now"), outside_world.forbidden():
        payload.validate_for_index()
    assert payload.validate_for_index(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)).successful


def digest_of_every_shape() -> str:
    digest = hashlib.sha256()
    for _, path, text in EVERY_SHAPE:
        for found in described_file(text, path).descriptions:
            digest.update(msgspec.json.encode(found))
            for section in found.use_window(window(64)).build_summary_sections():
                digest.update(msgspec.json.encode(section))
    return digest.hexdigest()


@pytest.mark.rule("A26")
def test_the_same_bytes_whatever_the_hash_seed() -> None:
    """A26: another process with a PYTHONHASHSEED of its own writes the same descriptions and sections."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", f"from {__name__} import digest_of_every_shape as digest; print(digest())"],
        cwd=root,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest_of_every_shape()
