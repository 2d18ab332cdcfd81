"""The one policy that decides, for every kind of source, which files are indexed, with a reason for each other one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.contracts.source_file import SkippedFile, SkipReason
from rag_assets.settings.config_file import ConfigError
from rag_assets.sources import default_ignores
from rag_assets.sources.extraction import extraction_of, is_document
from rag_assets.sources.ignore.gitignore import Pattern, last_match, parse_pattern, parse_patterns
from rag_assets.sources.snapshot import EntryKind, TreeEntry

if TYPE_CHECKING:
    from rag_assets.settings import RepositorySettings, Settings

IGNORE_FILE = ".rag_assets_ignore"
GITIGNORE_FILE = ".gitignore"

DEFAULT_MAX_FILE_BYTES = 1024 * 1024
"""The largest hand-written C# file of five real repositories has 0.2 MB. Files above 1 MiB are data."""
DEFAULT_MAX_DOCUMENT_BYTES = 50 * 1024 * 1024
"""Of a document most bytes are pictures and fonts: books and slides have up to some tens of MB."""
DEFAULT_MAX_LINE_LENGTH = 20_000
"""Hand-written C# has string literals of 10,130 characters on a line (JSON in tests); lines from
70,000 on are base64 payloads and one-line data files. Prose is exempt."""

Refusal = tuple[SkipReason, str]


@dataclass(frozen=True, slots=True)
class IgnorePolicy:
    """The file settings of the configuration. Patterns have `.gitignore` syntax, from the root of the source.

    `include`: if given, only these files. `exclude`: never these; it beats every `.rag_assets_ignore`. A `!pattern` in
    `exclude` or in an ignore file re-includes files that a convention refuses (`!vendor/` for first-party code of that
    name, `!*_gen.go` for code that says a tool wrote it).
    Raises ValueError for a pattern that matches nothing.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = DEFAULT_MAX_FILE_BYTES
    max_document_bytes: int = DEFAULT_MAX_DOCUMENT_BYTES
    max_line_length: int = DEFAULT_MAX_LINE_LENGTH

    def __post_init__(self) -> None:
        if any(pattern.startswith("!") for pattern in self.include):
            raise ValueError("include: a pattern must not start with '!'; write what to leave out under exclude")
        _configured("include", self.include)
        _configured("exclude", self.exclude)


def ignore_policy(settings: Settings, repository: RepositorySettings) -> IgnorePolicy:
    """What the configuration says about the files of a repository. Raises ConfigError for an unusable pattern."""
    try:
        return IgnorePolicy(
            include=repository.include,
            exclude=repository.exclude,
            max_file_bytes=settings.sources.max_file_bytes,
            max_document_bytes=settings.sources.max_document_bytes,
            max_line_length=settings.sources.max_line_length,
        )
    except ValueError as error:
        raise ConfigError(f"repository {repository.id!r}: {error}") from error


class PathRules:
    """The policy for one tree: settings, the tree's own ignore files and the conventions, applied path by path.

    Every directory is checked once. Everything below a refused directory is refused too, as in git.
    """

    def __init__(self, policy: IgnorePolicy) -> None:
        self._policy = policy
        self._include = _configured("include", policy.include)
        self._exclude = _configured("exclude", policy.exclude)
        self._files: dict[str, list[tuple[str, tuple[Pattern, ...]]]] = {}
        self._directories: dict[str, Refusal | None] = {"": None}
        self._conventional: dict[str, tuple[str, ...]] = {}
        self._templates: set[str] = set()

    def add_ignore_file(self, directory: str, name: str, content: bytes) -> None:
        """Adds an ignore file of `directory` (empty for the root). Later ones beat earlier ones there."""
        patterns = parse_patterns(content.decode("utf-8", "replace"))
        path = f"{directory}/{name}" if directory else name
        self._files.setdefault(directory, []).append((path, patterns))

    def add_templates(self, paths: Iterable[str]) -> None:
        """Adds those of some paths that are T4 templates: what they write lies beside them under their name."""
        ending = default_ignores.TEMPLATE
        self._templates.update(path[: -len(ending)] for path in paths if path.lower().endswith(ending))

    def refused_directory(self, directory: str) -> Refusal | None:
        """The reason to leave out everything below `directory`."""
        if directory in self._directories:
            return self._directories[directory]
        parent, _, name = directory.rpartition("/")
        refusal = self.refused_directory(parent)
        if refusal is None:
            verdict = self._verdict(directory, is_directory=True)
            if verdict is None:
                refusal = default_ignores.refused_directory(tuple(parent.split("/")) if parent else (), name)
            elif verdict.ignored:
                refusal = (SkipReason.IGNORED, verdict.source)
        self._directories[directory] = refusal
        return refusal

    def refused_path(self, path: str) -> Refusal | None:
        """The reason to leave out a file by its path alone."""
        return self._judged(path)[0]

    def _judged(self, path: str) -> tuple[Refusal | None, bool]:
        """With whether a rule with `!` takes it."""
        parent, _, name = path.rpartition("/")
        refusal = self.refused_directory(parent)
        if refusal is not None:
            return refusal, False
        verdict = self._verdict(path, is_directory=False)
        if verdict is not None and verdict.ignored:
            return (SkipReason.IGNORED, verdict.source), False
        if name in (IGNORE_FILE, GITIGNORE_FILE):
            return (SkipReason.IGNORED, "list of ignored files"), False
        if self._include and not self._is_included(path):
            return (SkipReason.IGNORED, "matches no include pattern"), False
        if verdict is None:
            refusal = default_ignores.refused_name(self._by_convention(parent), name)
            if path.lower().endswith(default_ignores.OF_TEMPLATES) and path.rpartition(".")[0] in self._templates:
                refusal = SkipReason.GENERATED, f"written by {name.rpartition('.')[0]}{default_ignores.TEMPLATE}"
        refusal = refusal or (default_ignores.refused_format(name) if extraction_of(name) is None else None)
        return refusal, verdict is not None

    def _by_convention(self, directory: str) -> tuple[str, ...]:
        """The folders of a path but those that a rule with `!` takes."""
        if directory not in self._conventional:
            parent, _, name = directory.rpartition("/")
            own = (name,) if directory and self._verdict(directory, is_directory=True) is None else ()
            self._conventional[directory] = (self._by_convention(parent) if directory else ()) + own
        return self._conventional[directory]

    def admitted(self, entry: TreeEntry) -> TreeEntry | SkippedFile:
        """The entry, if its content decides, or the reason not to read it."""
        if entry.refused is not None:
            return entry.skipped(entry.refused, entry.detail)
        if entry.kind is EntryKind.SYMLINK:
            return entry.skipped(SkipReason.SYMLINK, "links are not followed")
        if entry.kind is EntryKind.SUBMODULE:
            return entry.skipped(SkipReason.SUBMODULE, "index the submodule as a repository of its own")
        refusal, taken = self._judged(entry.path)
        if refusal is not None:
            return entry.skipped(*refusal)
        limit = self._policy.max_document_bytes if is_document(entry.path) else self._policy.max_file_bytes
        if entry.size > limit:
            return entry.skipped(SkipReason.TOO_LARGE, f"{entry.size:,} bytes, limit {limit:,}")
        if entry.size == 0:
            return entry.skipped(SkipReason.EMPTY, "0 bytes")
        return replace(entry, taken=True) if taken else entry

    def _verdict(self, path: str, *, is_directory: bool) -> _Verdict | None:
        """The verdict of the settings, else of the deepest ignore file with a matching line, on `path` itself."""
        parts = path.split("/")
        if self._exclude:
            found = last_match(self._exclude, parts, is_directory)
            if found is not None:
                return _Verdict(not found.negated, f"exclude: {found.text}")
        if not self._files:
            return None
        for depth in range(len(parts) - 1, -1, -1):
            for source, patterns in reversed(self._files.get("/".join(parts[:depth]), ())):
                found = last_match(patterns, parts[depth:], is_directory)
                if found is not None:
                    return _Verdict(not found.negated, f"{source}:{found.line}: {found.text}")
        return None

    def _is_included(self, path: str) -> bool:
        """True if an include pattern matches the file or a directory above it."""
        parts = path.split("/")
        return any(
            last_match(self._include, parts[:depth], depth < len(parts)) is not None
            for depth in range(len(parts), 0, -1)
        )


@dataclass(frozen=True, slots=True)
class _Verdict:
    ignored: bool
    source: str


def ignore_files(entries: Iterable[TreeEntry], *, with_gitignore: bool) -> list[TreeEntry]:
    """The entries that are ignore files, in the order in which they must be added."""
    names = (GITIGNORE_FILE, IGNORE_FILE) if with_gitignore else (IGNORE_FILE,)
    found = [
        entry
        for entry in entries
        if entry.kind is EntryKind.FILE and entry.refused is None and entry.path.rpartition("/")[2] in names
    ]
    return sorted(found, key=lambda entry: (names.index(entry.path.rpartition("/")[2]), entry.path))


def _configured(setting: str, patterns: tuple[str, ...]) -> tuple[Pattern, ...]:
    made = []
    for text in patterns:
        pattern = parse_pattern(text)
        if pattern is None:
            raise ValueError(f"{setting}: {text!r} matches nothing; write a pattern of .gitignore syntax, as 'docs/'")
        made.append(pattern)
    return tuple(made)
