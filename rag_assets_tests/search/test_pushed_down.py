"""Searches with filters in the engine's query against the slow, obvious way: score everything, then filter (R17).

The obvious way is a reader of its own that knows no engine filter: it ranks all points there are and asks Python, point
by point, whether each may be found.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from rag_assets import Index, SearchResult
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.contracts.retrieval import Fusion, Mode, SearchPolicy
from rag_assets.index.generations import active_generation
from rag_assets.index.layout import IndexHome
from rag_assets.index.vectors.filters import Period, SearchFilters, SearchScope, glob_matcher
from rag_assets.index.vectors.vector_api import FileRef, ScoredPoint, StoredPoint
from rag_assets.search.index import IndexResources
from rag_assets_tests.search.small_index import FOREIGN, LABEL, SHOP, Section, build, points_of
from rag_assets_tests.search.tenants import HashedWords

LEVELS = ("public", "internal", "confidential", "restricted")
FOLDERS = ("src/Orders", "src/Mail", "tests", "docs")
KINDS = ("Service", "Model", "Test", "Interface")
WORDS = ["order", "mail", "customer", "parcel", "refund", "line", "table", "server", "letter", "money"]


def sections() -> list[Section]:
    """Of several tenants, kinds, folders, levels and dates; many share their words."""
    chance = random.Random(5)
    made = []
    for number in range(240):
        name = f"{chance.choice(WORDS).title()}{chance.choice(WORDS).title()}{number}"
        section = Section(
            f"{chance.choice(FOLDERS)}/{name}.cs",
            f"Shop.{chance.choice(('Orders', 'Mail'))}.{name}",
            chance.choice(KINDS),
            " ".join(chance.choices(WORDS, k=6)),
            language=chance.choice(("csharp", "sql")),
            level=chance.choice(LEVELS),
            changed=chance.choice(("", "2024-05-01T00:00:00.0000000Z", "2026-01-01T00:00:00.0000000Z")),
        )
        made.append(section)
    return [*SHOP, *FOREIGN, *made]


class ScanReader:
    """Ranks every point there is, then leaves out what the scope does not allow, then takes the best."""

    def __init__(self, points: Sequence[StoredPoint]) -> None:
        self._points = {point.id: point for point in points}

    def dense(self, vector: np.ndarray, scope: SearchScope, limit: int) -> list[ScoredPoint]:
        scores = {p.id: float(p.dense @ vector) for p in self._points.values() if p.dense is not None}
        return self._best(scores, scope, limit)

    def sparse(
        self, indices: Sequence[int], values: Sequence[float], scope: SearchScope, limit: int
    ) -> list[ScoredPoint]:
        asked = dict(zip(indices, values, strict=True))
        scores = {}
        for point in self._points.values():
            weights = {int(index): float(value) for index, value in zip(*point.sparse, strict=True)}
            if asked.keys() & weights.keys():
                scores[point.id] = sum(asked[term] * weights[term] for term in asked.keys() & weights.keys())
        return self._best(scores, scope, limit)

    def retrieve(self, ids: Sequence[str], scope: SearchScope) -> dict[str, dict[str, Any]]:
        return {known: self._points[known].payload for known in ids if self._may(known, scope)}

    def places(self, ids: Sequence[str], scope: SearchScope) -> dict[str, FileRef]:
        return {known: FileRef.of(payload) for known, payload in self.retrieve(ids, scope).items()}

    def count(self, scope: SearchScope | None = None) -> int:
        return len(self.ids(scope))

    def ids(self, scope: SearchScope | None = None) -> dict[str, str]:
        return {known: "" for known in self._points if scope is None or self._may(known, scope)}

    def values(self, key: str, scope: SearchScope) -> dict[str, int]:
        found: dict[str, int] = {}
        for known in self.ids(scope):
            value = self._points[known].payload.get(key, "")
            for one in value if isinstance(value, list) else [value]:
                found[one] = found.get(one, 0) + 1
        return dict(sorted(found.items()))

    def _best(self, scores: dict[str, float], scope: SearchScope, limit: int) -> list[ScoredPoint]:
        order = sorted(scores, key=lambda known: (-scores[known], known))
        return [ScoredPoint(known, scores[known]) for known in order if self._may(known, scope)][:limit]

    def _may(self, known: str, scope: SearchScope) -> bool:
        if known not in self._points:
            return False
        payload = self._points[known].payload
        return (
            (payload["OrgId"], payload["ProjectId"], payload["IndexLabel"])
            == (scope.org_id, scope.project_id, scope.label)
            and payload["Confidentiality"] in LEVELS[: LEVELS.index(scope.clearance) + 1]
            and (scope.ids is None or known in scope.ids)
            and _was_changed(payload.get("UpdatedUtc"), scope.changed)
            and all(fulfilled for filters in scope.required for fulfilled in _fulfilled(filters, payload))
            and not any(_fulfilled(scope.excluded, payload))
        )


def _was_changed(date: str | None, period: Period) -> bool:
    if not period:
        return True
    day = (date or "")[:10]  # all dates of this test are whole days
    since, before = (f"{moment:%Y-%m-%d}" if moment else "" for moment in (period.since, period.before))
    return bool(day) and day >= since and (not before or day < before)


def _fulfilled(wanted: SearchFilters, payload: dict[str, Any]) -> Iterator[bool]:
    if wanted.kinds:
        yield payload["Kind"] in wanted.kinds
    if wanted.languages:
        yield payload["CodeLanguage"] in wanted.languages
    if wanted.paths:
        path = payload["Path"]
        yield any(path.startswith(f"{one.rstrip('/')}/") or glob_matcher(one)(path) for one in wanted.paths)
    if wanted.symbols:
        yield any(glob_matcher(name.lower())(known) for name in wanted.symbols for known in payload["DeclaredNames"])


class ScannedParts:
    """The parts of an index with the other reader; all else is the real one."""

    def __init__(self, parts: IndexResources, reader: ScanReader) -> None:
        self._parts, self._reader = parts, reader

    def shard(self) -> ScanReader:
        return self._reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parts, name)


class ScannedIndex(Index):
    reader: ScanReader

    @property
    def parts(self) -> Any:
        return ScannedParts(self._parts, self.reader)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> IndexHome:
    found = IndexHome(tmp_path_factory.mktemp("pushed"))
    build(found, sections(), embedder=HashedWords())
    return found


@pytest.fixture(scope="module")
def reader() -> ScanReader:
    return ScanReader(points_of(sections(), HashedWords()))


def asked(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A question with any filters, some written into it, some as options."""
    words = [*chance.sample(WORDS, chance.randint(1, 4)), *chance.choices(["OrderMail", "symbol:*Order*", ""], k=1)]
    written = [
        *chance.choices(["", "", "kind:Service", "-kind:Test", "kind:model kind:test"], k=1),
        *chance.choices(["", "", "path:src/", "-path:docs", "path:src/**/Order*.cs", "path:*Mail*"], k=1),
        *chance.choices(["", "", "lang:sql", "-lang:csharp"], k=1),
        *chance.choices(["", "", "", "since:2025", "before:2025-01", "since:2024-05-01 before:2026"], k=1),
    ]
    filters: dict[str, Any] = {}
    limit = chance.choice([1, 7, 60])
    for name, values in (
        ("paths", ["src", ["tests/", "docs"], "**/*1*.cs"]),
        ("kinds", [["Service", "Model"], ["Test"]]),
        ("languages", [["csharp"]]),
        ("since", ["2024-05-02"]),
    ):
        if chance.random() < 0.25:
            filters[name] = chance.choice(values)
    options = {"limit": limit, "filters": SearchFilters(**filters)}
    return " ".join(filter(None, [*words, *written])), options


def shape(result: SearchResult) -> tuple[Any, ...]:
    return result.mode, [hit.point_id for hit in result], result.candidates, result.warnings


@pytest.mark.rule("R17", "B02", "E12")
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("mode", "fusion"),
    [(mode, "blend") for mode in Mode] + [(Mode.HYBRID, "rrf")],
    ids=lambda value: str(value),
)
def test_a_search_is_that_of_a_filter_after_a_full_scan(
    home: IndexHome, reader: ScanReader, mode: Mode, fusion: Fusion, seed: int
) -> None:
    """Every mode, every clearance, any filters: the same hits in the same order with the same warnings."""
    chance = random.Random(f"{mode} {fusion} {seed}")
    generation, found = active_generation(home, LABEL), 0
    for clearance in Confidentiality:
        options: dict[str, Any] = {"embedder": HashedWords(), "clearance": clearance}
        policy = SearchPolicy(fusion=fusion, dense_candidates=20, keyword_candidates=20)
        with Index(home, generation, policy=policy, **options) as pushed:
            scanned = ScannedIndex(home, generation, policy=policy, **options)
            scanned.reader = reader
            for _ in range(6):
                query, conditions = asked(chance)
                results = [index.search(query, mode=mode, explain=True, **conditions) for index in (pushed, scanned)]
                assert shape(results[0]) == shape(results[1]), (query, conditions)
                scores = [[hit.score for hit in result] for result in results]
                assert scores[0] == pytest.approx(scores[1], rel=1e-4, abs=1e-6), (query, conditions)
                found += len(results[0])
            scanned.close()
    assert found > 25, "the filters leave something"
