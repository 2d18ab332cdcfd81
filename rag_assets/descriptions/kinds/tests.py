"""`TestDescription`: what a test class tests and its cases."""

from __future__ import annotations

from dataclasses import dataclass

from rag_assets.descriptions.facts.test_cases import SubjectEvidence, TestCase
from rag_assets.descriptions.symbol import SymbolDescription
from rag_assets.sections.snippet import path_words

SHOWN_TYPES = 8
"""Of the types that a test touches, in its snippet: those it uses most."""


@dataclass(kw_only=True)
class TestDescription(SymbolDescription):
    """A test class or module; also what stands beside tests (fixtures, object mothers), then without cases.

    `tested_type` is what it tests, the primary entity where a declared type is known;
    `covers` are the other declared types it makes or calls.
    """

    __test__ = False  # for pytest, which collects what is called Test

    tested_type: str = ""
    tested_symbol: str = ""
    subject_evidence: SubjectEvidence = SubjectEvidence.NONE
    cases: tuple[TestCase, ...] = ()
    covers: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    mocked: tuple[str, ...] = ()

    @property
    def subtype_flavor(self) -> str:
        """`Support` for what only helps tests (A10)."""
        return "" if self.cases else "Support"

    def finder_facts(self) -> list[tuple[str, str]]:
        titles = [case.title for case in self.cases if case.title]
        return [
            ("Inherits", ", ".join(self.base_types)),
            ("Covers", ", ".join(self.covers[:SHOWN_TYPES])),
            ("Titles", "; ".join(titles)),
            ("Path", path_words(self.path, self.fqn)),
        ]

    def listed_facts(self) -> list[tuple[str, tuple[str, ...]]]:
        evidence = f" ({self.subject_evidence})" if self.subject_evidence else ""
        subject = (f"{self.tested_symbol or self.tested_type}{evidence}",) if self.tested_type else ()
        return [
            ("Tests", subject),
            ("Cases", tuple(_case_text(case) for case in self.cases)),
            ("Covers", self.covers),
            ("Fixtures", self.fixtures),
            ("Replaces", self.mocked),
            *super().listed_facts(),
        ]


def _case_text(case: TestCase) -> str:
    rows = f" × {case.data_rows}" if case.data_rows else ""
    sources = f" from {', '.join(case.data_sources)}" if case.data_sources else ""
    title = f" ({case.title})" if case.title else ""
    return f"{case.name}{rows}{sources}{title}"
