"""The filter every search carries: what it refuses, and what its globs mean."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from rag_assets.index.vectors.filters import (
    NO_FILTERS,
    Period,
    PeriodError,
    ScopeError,
    SearchFilters,
    SearchScope,
    glob_matcher,
    matching_paths,
    moment,
)


@pytest.mark.rule("B02", "R17")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("org_id", ""),
        ("org_id", "  "),
        ("org_id", None),
        ("project_id", ""),
        ("project_id", "\n"),
        ("project_id", None),
        ("names", ("",)),
        ("clearance", "public"),
    ],
)
def test_a_blank_tenant_or_condition_is_refused(field: str, value: Any) -> None:
    """B02, R17: fail closed; an empty value never means "everything"."""
    with pytest.raises(ScopeError):
        SearchScope(**{"org_id": "acme", "project_id": "shop", field: value})


@pytest.mark.rule("R17")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("paths", ("src", "")),
        ("paths", ("./",)),
        ("paths", ""),
        ("kinds", (" ",)),
        ("languages", (None,)),
        ("symbols", [""]),
    ],
)
def test_an_empty_filter_is_refused(field: str, value: Any) -> None:
    with pytest.raises(ScopeError):
        SearchFilters(**{field: value})


def test_filters_may_be_written_as_lists_texts_and_dates() -> None:
    written = SearchFilters(paths="./src", kinds=["Test"], since="2026-01", before=date(2026, 2, 1))  # type: ignore[arg-type]
    assert written == SearchFilters(
        paths=("src",), kinds=("Test",), since=moment("2026-01-01"), before=moment("2026-02-01")
    )
    assert not SearchFilters(paths=[]) and SearchFilters() == NO_FILTERS  # type: ignore[arg-type]
    with pytest.raises(PeriodError):
        SearchFilters(since="2026", before="2025")


def test_filters_of_a_scope_must_have_a_moment_in_common() -> None:
    scope = SearchScope(org_id="acme", project_id="shop", required=(SearchFilters(since="2026"),))
    with pytest.raises(PeriodError):
        scope.narrowed(SearchFilters(before="2025"))
    assert scope.narrowed(SearchFilters(before="2027")).changed == Period(since=moment("2026"), before=moment("2027"))


def test_org_and_project_are_required() -> None:
    with pytest.raises(TypeError, match="org_id"):
        SearchScope(project_id="shop")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("./src/Api", "src/Api"), ("src\\Api\\*.cs", "src/Api/*.cs"), ("/src/", "src/"), (" a b.cs ", "a b.cs")],
    ids=["current folder", "windows", "absolute", "blanks"],
)
def test_paths_are_brought_to_the_form_of_the_repository(typed: str, meant: str) -> None:
    assert SearchFilters(paths=(typed,)).paths == (meant,)


PATHS = (
    "Program.cs",
    "src/Program.cs",
    "src/Api/OrderService.cs",
    "src/Api/V1/OrderService.cs",
    "src/Api/V1/[draft].md",
    "src/Größe/注文.cs",
    "docs/a+b (1).md",
    "srcs/x.cs",
)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("**", PATHS),
        ("*.md", ("src/Api/V1/[draft].md", "docs/a+b (1).md")),
        ("Program.cs", ("Program.cs", "src/Program.cs")),
        ("src/*.cs", ("src/Program.cs",)),
        ("src/**/*Service.cs", ("src/Api/OrderService.cs", "src/Api/V1/OrderService.cs")),
        ("src/**", tuple(path for path in PATHS if path.startswith("src/"))),
        ("src/", tuple(path for path in PATHS if path.startswith("src/"))),
        ("**/V?/*", ("src/Api/V1/OrderService.cs", "src/Api/V1/[draft].md")),
        ("src/Api/V1/[[]draft].md", ("src/Api/V1/[draft].md",)),
        ("src/[!A]*/*.cs", ("src/Größe/注文.cs",)),
        ("docs/a+b (1).md", ("docs/a+b (1).md",)),
        ("src/Api/[", ()),
        ("src/api/*.cs", ()),
        ("*/注*", ()),
        ("**/注*", ("src/Größe/注文.cs",)),
    ],
)
def test_globs(pattern: str, expected: tuple[str, ...]) -> None:
    assert matching_paths(pattern, PATHS) == expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 30 + "b", "a" * 400),
        ("**/" * 30 + "b", "/".join("a" * 200)),
        ("[" * 500, "["),
        ("**/*a" * 20, "a/" * 99),
    ],
    ids=["stars", "double stars", "brackets", "both"],
)
def test_no_glob_is_slow(pattern: str, path: str) -> None:
    """A backtracking matcher does not return from these."""
    assert not glob_matcher(pattern)(path)
