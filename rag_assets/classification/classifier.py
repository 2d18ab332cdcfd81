"""`Classifier`: the kind of a segment by ordered, first-match rules; the only place where kinds are decided (A09)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

from rag_assets.classification.compiled_rules import CompiledRule, Test, compile_rule
from rag_assets.classification.rule_packs import built_in_fingerprint, merged_packs, require_kind
from rag_assets.classification.segment_facts import FileFacts, SegmentFacts
from rag_assets.contracts.kinds import Classification, Kind, SubtypeKind
from rag_assets.contracts.patterns import glob_pattern
from rag_assets.contracts.segment import Segment

DEFAULT_PACKS = ("generic",)
OVERRIDE_RULE = "configured-kind"
OVERRIDE_PACK = "configuration"

_RULES_VERSION = 1
"""Raise it when compiled rules decide differently with unchanged packs."""

CLASSIFIER_VERSION = f"{_RULES_VERSION}.{built_in_fingerprint()}"
"""Changes with the code above and with every edit of a built-in pack."""


class Classifier:
    """The merged rules of some packs, and the configured kinds of paths, which beat every rule.

    `packs` are names or paths of `.yaml` files; `kinds` maps path globs to kinds, built in or declared by one of the
    packs, first match wins. Raises PackError for packs and kinds and PatternError for globs that cannot be used.
    """

    def __init__(self, packs: tuple[str, ...] = DEFAULT_PACKS, kinds: Mapping[str, Kind] | None = None) -> None:
        merged = merged_packs(packs)
        for glob, kind in (kinds or {}).items():
            require_kind(kind, merged.kinds, f"kinds: {glob!r}")
        self._rules = merged.rules
        self._overrides = tuple((glob, glob_pattern(glob), kind) for glob, kind in (kinds or {}).items())
        self._compiled: dict[tuple[str, str], tuple[tuple[Test, CompiledRule], ...]] = {}

    @property
    def fingerprint(self) -> str:
        """12 hex digits over everything that can change a decision: rules of the selected packs, configured kinds."""
        digest = hashlib.sha256(CLASSIFIER_VERSION.encode())
        for pack, rule in self._rules:
            digest.update(f"{pack.name}\0{rule.model_dump_json()}\0".encode())
        for glob, _, kind in self._overrides:
            digest.update(f"{glob}\0{kind}\0".encode())
        return digest.hexdigest()[:12]

    def classify(self, segment: Segment, file: FileFacts) -> Classification:
        """The kind of one segment with reason and evidence; `Other` without a matching rule. Pure, and never fails."""
        for glob, pattern, kind in self._overrides:
            if pattern.fullmatch(file.path):
                evidence = (f"path glob: {glob}",)
                return Classification(kind, "set by the configuration", evidence, OVERRIDE_RULE, OVERRIDE_PACK)
        facts = SegmentFacts(segment, file)
        for first, alternative in self._alternatives(file.language, segment.kind):
            holds = first(facts)
            if holds:
                found = alternative.classification(facts, holds)
                if found is not None:
                    return found
        return Classification(SubtypeKind.OTHER, "no rule matches", (f"declaration: {segment.kind}",))

    def _alternatives(self, language: str, declaration: str) -> tuple[tuple[Test, CompiledRule], ...]:
        """The rules that a segment of this language and declaration can match, in order, each after its first test."""
        key = (language, declaration)
        found = self._compiled.get(key)
        if found is None:
            compiled = [compile_rule(pack, rule, language, declaration) for pack, rule in self._rules]
            found = self._compiled[key] = tuple((made.first, made) for rule in compiled for made in rule)
        return found


@cache
def _generic() -> Classifier:
    return Classifier()


def classify(segment: Segment, file: FileFacts) -> Classification:
    """The kind of one segment by the generic pack (see `Classifier` for other packs and configured kinds)."""
    return _generic().classify(segment, file)
