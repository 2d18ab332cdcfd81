"""The pattern languages of packs and settings."""

from __future__ import annotations

import pytest

from rag_assets.classification.rule_packs import PatternError, name_test, path_matches
from rag_assets.languages.csharp.binder.type_syntax import attribute_name, simple_name

NAMES = [
    ("exact", ["Route"], "Route", True),
    ("exact-is-whole", ["Route"], "Routes", False),
    ("case-counts", ["Route"], "route", False),
    ("suffix", ["*Tests"], "OrderTests", True),
    ("suffix-alone", ["*Tests"], "Tests", True),
    ("suffix-not-inside", ["*Tests"], "TestsOfOrder", False),
    ("prefix", ["Test*"], "TestOrder", True),
    ("middle", ["I*Manager"], "IOrderManager", True),
    ("middle-empty", ["I*Manager"], "IManager", True),
    ("middle-must-not-overlap", ["aba*aba"], "aba", False),
    ("any-of", ["A", "*B", "C*D"], "CxD", True),
    ("none-of", ["A", "*B", "C*D"], "Cx", False),
]


@pytest.mark.parametrize(("patterns", "name", "expected"), [r[1:] for r in NAMES], ids=[r[0] for r in NAMES])
def test_name_patterns(patterns: list[str], name: str, expected: bool) -> None:
    assert bool(name_test(patterns)(name)) is expected


@pytest.mark.parametrize("pattern", ["", "*A*", "**"])
def test_bad_name_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="at most one"):
        name_test([pattern])


GLOBS = [
    ("name-anywhere", "*.resx", "a/b/S.resx", True),
    ("name-at-root", "*.resx", "S.resx", True),
    ("star-stays-in-folder", "src/*.cs", "src/a/b.cs", False),
    ("double-star", "src/**/*.cs", "src/a/b/c.cs", True),
    ("double-star-none", "src/**/*.cs", "src/c.cs", True),
    ("folder", "ddrs/", "ddrs/a/b.md", True),
    ("folder-is-anchored", "/ddrs/", "docs/ddrs/a.md", False),
    ("everything-below", "**/gen/**", "a/gen/b/c.cs", True),
    ("question-mark", "a?.cs", "ab.cs", True),
    ("question-mark-is-one", "a?.cs", "abc.cs", False),
    ("case-does-not-count", "DOCS/*.MD", "docs/a.md", True),
    ("dot-is-a-dot", "a.cs", "axcs", False),
    ("brackets-are-text", "a[1].cs", "a[1].cs", True),
]


@pytest.mark.parametrize(("glob", "path", "expected"), [row[1:] for row in GLOBS], ids=[row[0] for row in GLOBS])
def test_path_globs(glob: str, path: str, expected: bool) -> None:
    assert path_matches(glob, path) is expected


@pytest.mark.parametrize("glob", ["", "/", "//"])
def test_empty_globs_are_refused(glob: str) -> None:
    with pytest.raises(PatternError, match="expected a path"):
        path_matches(glob, "a.cs")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Order", "Order"),
        ("Acme.Repo<Order, int>", "Repo"),
        ("global::System.Exception", "Exception"),
        ("Base(x, y)", "Base"),
        ("Generic[T]", "Generic"),
        ("Order where T : class", "Order"),
    ],
)
def test_type_names_without_qualification(written: str, name: str) -> None:
    assert simple_name(written) == name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Fact", "Fact"),
        ('Xunit.FactAttribute(Skip = "a.b")', "Fact"),
        ("return: NotNull", "NotNull"),
        ("Generic<int>(1)", "Generic"),
        ("global::A.B", "B"),
        ("Attribute", "Attribute"),
    ],
)
def test_attribute_names_without_qualification(written: str, name: str) -> None:
    assert attribute_name(written) == name
