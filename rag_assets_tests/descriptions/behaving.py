"""What the tests of behaving kinds share: one description by type, the shop as a label, sections and points."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from rag_assets.contracts.description import RagPoint, SummaryFacts
from rag_assets.contracts.section import SummarySection
from rag_assets.descriptions.registry import SymbolTable
from rag_assets_tests.descriptions.samples import described_file, file_context, knowledge_of, processor, segmented
from rag_assets_tests.sections.windows import window

SHOP = Path(__file__).parents[2] / "examples" / "shop"
EXPECTED: dict[str, Any] = yaml.load((SHOP / "EXPECTED.yaml").read_bytes(), yaml.CSafeLoader)

D = TypeVar("D", bound=SummaryFacts)


def only(wanted: type[D], text: str, path: str = "src/Shop/Code.cs", knowledge: SymbolTable | None = None) -> D:
    """The one description of that type that the built-in builders make of a text."""
    found = [d for d in described_file(text, path, knowledge=knowledge).descriptions if type(d) is wanted]
    assert len(found) == 1, [type(d).__name__ for d in found]
    return found[0]


@cache
def shop() -> tuple[SummaryFacts, ...]:
    """The descriptions of the C# files of the shop that are indexed, each made with knowledge of all."""
    paths = [f["path"] for f in EXPECTED["files"] if f["outcome"] == "indexed" and f["path"].endswith(".cs")]
    files = [(path, (SHOP / path).read_text(encoding="utf-8-sig")) for path in paths]
    made = processor(knowledge=knowledge_of(*files))
    outcomes = (made.describe_file(file_context(text, path), segmented(text, path)) for path, text in files)
    return tuple(description for outcome in outcomes for description in outcome.descriptions)


def of_shop(wanted: type[D], symbol: str) -> D:
    """The description of a symbol of the shop; of a partial type that of its first part."""
    return next(d for d in shop() if type(d) is wanted and d.symbol == symbol)


def sections_of(description: SummaryFacts, tokens: int = 256) -> list[SummarySection]:
    return description.use_window(window(tokens)).build_summary_sections()


def snippets_of(description: SummaryFacts) -> dict[str, str]:
    """Section key → snippet; of several parts the first."""
    found: dict[str, str] = {}
    for section in sections_of(description):
        found.setdefault(section.section_key, section.section_normalized_text)
    return found


def keys_of(description: SummaryFacts) -> list[str]:
    return list(dict.fromkeys(section.section_key for section in sections_of(description)))


def points_of(description: SummaryFacts) -> list[RagPoint]:
    """The points of all sections; every one must be valid (B14, B16)."""
    sections = sections_of(description)
    for section in sections:
        section.vectors = [1.0]
    points = []
    for result in description.use_sections(sections).build_rag_points():
        assert result.successful and result.value is not None, result.errors
        points.append(result.value)
    assert len({point.payload.semantic_id for point in points}) == len(points)
    return points


def stored_and_read(description: D) -> D:
    """Through JSON and back, as between two stages."""
    return msgspec.json.decode(msgspec.json.encode(description), type=type(description))
