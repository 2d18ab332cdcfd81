"""Globs as conditions that every engine knows: by the paths that match, or by the others where these are fewer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_assets.index.vectors.conditions import Absent, AllOf, AnyOf, Condition, Not, OneOf, conditions_of
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.index.vectors.vector_api import StoredPoint, VectorReader
from rag_assets_tests.index.sample_points import payload, point_id, scope, terms, unit_rows
from rag_assets_tests.index.store_kinds import KINDS, opened_store

PATHS = ("README.md", "src/A.cs", "src/B.cs", "src/a.ts", "test/ATests.cs")

CASES: dict[str, tuple[str, Condition]] = {
    "few match": ("*.ts", OneOf("Path", ("src/a.ts",))),
    "most match": ("*.cs", AllOf((Not(Absent("Path")), Not(OneOf("Path", ("README.md", "src/a.ts")))))),
    "all match": ("**", AllOf((Not(Absent("Path")), Not(OneOf("Path", ()))))),
    "none matches": ("*.py", OneOf("Path", ())),
}


@pytest.mark.parametrize(("glob", "expected"), CASES.values(), ids=CASES)
def test_a_glob_names_the_fewer_paths(glob: str, expected: Condition) -> None:
    asked = SearchScope(org_id="acme", project_id="shop", required=(SearchFilters(paths=(glob,)),))
    assert conditions_of(asked, lambda key: PATHS)[-1] == AnyOf((expected,))


@pytest.fixture(scope="module", params=[kind for kind in KINDS if kind != "server"])
def reader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorReader]:
    """A point for each path, one of another tenant whose path nobody else has, and one that has none."""
    owners = [*PATHS, "secret/S.cs", ""]
    rows = unit_rows(len(owners))
    points = []
    for number, path in enumerate(owners):
        made = payload(0) | {"Path": path} | ({"OrgId": "globex"} if path.startswith("secret") else {})
        if not path:
            del made["Path"]
        points.append(StoredPoint(point_id(number), rows[number], terms(number), made))
    with opened_store(request.param, tmp_path_factory.mktemp(request.param)) as store:
        yield store.written("main", points)


SCOPES: dict[str, tuple[SearchScope, set[str]]] = {
    "few": (scope(paths=("*.ts",)), {"src/a.ts"}),
    "most": (scope(paths=("*.cs",)), {"src/A.cs", "src/B.cs", "test/ATests.cs"}),
    "all": (scope(paths=("**",)), set(PATHS)),
    "most are excluded": (scope(excluded=SearchFilters(paths=("*.cs",))), {"README.md", "src/a.ts", ""}),
    "all are excluded": (scope(excluded=SearchFilters(paths=("**",))), {""}),
    "most, or one": (scope(paths=("*.cs", "README.md")), set(PATHS) - {"src/a.ts"}),
    "most of a view": (scope(paths=("*.cs",)).narrowed(SearchFilters(paths=("src/**/*",))), {"src/A.cs", "src/B.cs"}),
}


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize(("asked", "expected"), SCOPES.values(), ids=SCOPES)
def test_what_matches_is_found_and_nothing_else(reader: VectorReader, asked: SearchScope, expected: set[str]) -> None:
    """B02, R17: in every store, with what has no path at all and what is somebody else's."""
    everything = [point_id(number) for number in range(len(PATHS) + 2)]
    assert {found.get("Path", "") for found in reader.retrieve(everything, asked).values()} == expected
    assert reader.count(asked) == len(reader.sparse([5], [1.0], asked, 50)) == len(expected)
    assert {found.id for found in reader.dense(unit_rows(1, seed=3)[0], asked, 50)} == set(reader.ids(asked))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "server"])
@pytest.mark.parametrize("ending", ["first", "last"])
def test_a_pattern_is_matched_with_all_names_of_many_a_point(tmp_path: Path, kind: str, ending: str) -> None:
    """A section declares more names than there are sections; those that most have, and those that one has, count."""
    rows, points = unit_rows(4), []
    for number in range(4):
        names = [f"many{name}" for name in range(60)] + [f"only{number}{name}" for name in ("First", "Last")]
        made = payload(0) | {"DeclaredNames": [name.lower() for name in names]}
        points.append(StoredPoint(point_id(number), rows[number], terms(number), made))
    with opened_store(kind, tmp_path) as store:
        found = store.written("main", points)
        assert len(found.values("DeclaredNames", scope())) == 68
        assert set(found.ids(scope(symbols=(f"*2{ending}",)))) == {point_id(2)}
        assert found.count(scope(symbols=("*y59",))) == len(points)


def test_threads_share_the_filter_of_a_scope(tmp_path: Path) -> None:
    with opened_store("embedded", tmp_path) as store, ThreadPoolExecutor(8) as pool:
        opened = store.written("main", [StoredPoint(point_id(0), unit_rows(1)[0], terms(0), payload(0))])
        asked = scope(paths=("*.cs",))
        assert set(pool.map(lambda _: opened.count(asked), range(64))) == {opened.count(asked)}
