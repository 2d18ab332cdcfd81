"""`.gitignore` semantics, proven against `git check-ignore` (the slow, obvious reference)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from rag_assets.sources.ignore import IgnorePolicy, PathRules
from rag_assets.sources.ignore.gitignore import last_match, parse_pattern, parse_patterns
from rag_assets_tests.effort import ends_within
from rag_assets_tests.sources.conftest import Repository

PATHS = [
    "a.cs", "b.txt", "foo", "Foo.cs", "a b.cs", "a ", "#x", "!x", "[x]", "x-y", "*",
    "foo/a.cs", "foo/b.txt", "foo/bar/a.cs", "foo/bar/baz/a.cs", "bar/foo/a.cs", "bar/b.cs", "build/out/a.cs",
    "doc/a/b/c.txt", "doc/a.md", "src/gen/x.g.cs", "src/gen/keep.cs", "src/x/gen/y.cs",
]  # fmt: skip

FILES = [
    "*.cs", "foo", "foo/", "/foo", "/foo/", "foo/*", "foo/**", "**/foo", "**/foo/", "foo/bar", "/foo/bar/", "*",
    "*\n!*/\n!*.cs", "foo/*\n!foo/bar/", "foo\n!foo/", "foo/\n!foo/a.cs", "!foo", "# comment\n*.txt", "\\#x", "\\!x",
    "a\\ ", "a ", "a\\\n", "b.txt  ", "[ab].*", "[!ab].*", "[^a].cs", "[a-c].cs", "[]x]*", "\\[x\\]", "[[:alpha:]].cs",
    "[[:bogus:]].cs", "[x", "?.cs", "??.cs", "doc/**/c.txt", "doc/**", "doc/**/**/c.txt", "**", "/**", "**/", "a**s",
    "**/gen/", "gen/*\n!gen/keep.cs", "src/gen/*\n!src/gen/keep.cs", "/", "!", "//", "x-[a-z]", "\\*", "\ufefffoo",
    "*.cs\r\n!a.cs\r", "foo\\/bar", "src/*/y.cs", "src/*/*/y.cs", "**/*.cs", "foo/**/a.cs", "***/a.cs", "f*o", "*/a.cs",
    "doc/a/b\n!doc/a/b/c.txt", "[a-]-y", "x[-]y", "[\\]x]*", "*o/b*",
]  # fmt: skip


def ignored_by_us(ignore_files: dict[str, str], paths: list[str]) -> set[str]:
    rules = PathRules(IgnorePolicy())
    for directory, text in ignore_files.items():
        rules.add_ignore_file(directory, ".gitignore", text.encode())
    found = ((path, rules.refused_path(path)) for path in paths)
    return {path for path, refusal in found if refusal is not None and ".gitignore:" in refusal[1]}


def ignored_by_git(repository: Repository, ignore_files: dict[str, str], paths: list[str]) -> set[str]:
    for directory, text in ignore_files.items():
        path = repository.path / directory / ".gitignore"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    try:
        # A non-matching sentinel keeps the exit code at 0; --no-index asks about the patterns alone.
        repository.path.joinpath(".git/info").mkdir(exist_ok=True)
        repository.path.joinpath(".git/info/exclude").write_text("/sentinel\n", encoding="utf-8")
        asked = "\0".join([*paths, "sentinel"]).encode()
        answer = repository.git("check-ignore", "-z", "--no-index", "--stdin", input_bytes=asked)
    finally:
        for directory in ignore_files:
            (repository.path / directory / ".gitignore").unlink()
    return set(answer.split("\0")) - {"", "sentinel"}


@pytest.fixture
def tree(make_repository: Callable[..., Repository]) -> Repository:
    repository = make_repository()
    for path in PATHS:
        if not path.startswith("foo") or "/" in path:  # `foo` itself cannot be a file and a directory
            target = repository.path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("x", encoding="utf-8")
    return repository


PATHS_ON_DISK = [path for path in PATHS if path != "foo"]


def test_every_kind_of_pattern_ignores_what_git_ignores(tree: Repository) -> None:
    differences = {}
    for text in FILES:
        ours, gits = ignored_by_us({"": text}, PATHS_ON_DISK), ignored_by_git(tree, {"": text}, PATHS_ON_DISK)
        if ours != gits:
            differences[text] = ours ^ gits
    assert differences == {}


def test_random_lists_of_patterns_at_several_levels_ignore_what_git_ignores(tree: Repository) -> None:
    drawn = random.Random(20240506)
    differences = {}
    for _ in range(60):
        files = {
            directory: "\n".join(drawn.choices(FILES, k=3))
            for directory in drawn.sample(["", "foo", "foo/bar", "src", "doc/a"], k=2)
        }
        ours, gits = ignored_by_us(files, PATHS_ON_DISK), ignored_by_git(tree, files, PATHS_ON_DISK)
        if ours != gits:
            differences[str(files)] = ours ^ gits
    assert differences == {}


def test_random_globs_match_what_git_matches(tree: Repository) -> None:
    drawn = random.Random(7)
    pieces = ["a", "b", "o", "*", "**", "?", "/", "[ab]", "[!a]", ".", "cs", "foo", "bar"]
    globs = ["".join(drawn.choices(pieces, k=drawn.randint(1, 5))) for _ in range(80)]
    differences = {}
    for glob in globs:
        ours, gits = ignored_by_us({"": glob}, PATHS_ON_DISK), ignored_by_git(tree, {"": glob}, PATHS_ON_DISK)
        if ours != gits:
            differences[glob] = ours ^ gits
    assert differences == {}


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "**/a/" * 40 + "b", "a*" * 60 + "/b", "[a-z]*" * 30 + "!"])
def test_a_hostile_pattern_takes_no_time(pattern: str) -> None:
    parsed = parse_pattern(pattern)
    assert parsed is not None
    with ends_within(30):
        for parts in (["a" * 4000], ["a"] * 1000, ["a" * 50] * 50):
            assert not parsed.matches(parts, False)


def test_the_last_matching_line_decides_and_is_named() -> None:
    patterns = parse_patterns("*.cs\n\n# not this one\n!keep.cs\n")
    found = last_match(patterns, ["keep.cs"], False)
    assert found is not None
    assert (found.line, found.text, found.negated) == (4, "!keep.cs", True)


@pytest.mark.parametrize("pattern", ["?.cs", "[\u00e9].cs", "*\u00e9*", "\u00e9.*"])
def test_a_wildcard_stands_for_a_character_where_git_counts_bytes(pattern: str) -> None:
    parsed = parse_pattern(pattern)
    assert parsed is not None
    assert parsed.matches(["\u00e9.cs"], False)


def test_lines_that_match_nothing_are_left_out() -> None:
    assert parse_patterns("\n".join(["", "   ", "# c", "/", "!", "[x", "a\\"])) == ()


def test_parsing_a_pattern_never_fails() -> None:
    for length in range(1, 4):
        for characters in itertools.product("a*?[]!\\/- #:^.", repeat=length):
            parsed = parse_pattern("".join(characters))
            if parsed is not None:
                parsed.matches(["a", "b"], True)
