"""The numbered lines of a place: as they are indexed, at a commit, or in the work tree.

A place is a file (`src/A.cs`), lines of it (`src/A.cs:12-40`), a symbol (`Order.Refund`, `src/A.cs:Refund`) or a point,
each with `@commit` behind it or without. Whatever the version, a reader sees what the index would show: decoded,
redacted, up to the clearance, and nothing that the configuration leaves out.
"""

from __future__ import annotations

import difflib
import re
import shlex
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from rag_assets.contracts.evidence import as_place, lines_of
from rag_assets.contracts.identity import declared_names, document_uri, plain_symbol
from rag_assets.contracts.segment import MemberKind, Segment, leaves_of
from rag_assets.errors import FileSkipped, MissingCommit, PlaceError, QueryError, SourceError, WrongQuestion
from rag_assets.index.blobs import BlobError
from rag_assets.index.freshness import file_differs
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.index.vectors.filters import SearchFilters, SearchScope
from rag_assets.languages.detection import detect_language
from rag_assets.languages.treesitter.module_constants import module_constants
from rag_assets.printable import abridged
from rag_assets.search.ranking.penalties import demotion
from rag_assets.search.retrieve import OpenLabel
from rag_assets.serialization import from_json
from rag_assets.settings.config_file import config_of
from rag_assets.suggestions import near_paths

if TYPE_CHECKING:
    from rag_assets.index.layout import IndexHome
    from rag_assets.search.overlay import Overlay
    from rag_assets.settings import RepositorySettings, Settings

_WITH_COMMIT = re.compile(r"(?P<place>.+)@(?P<commit>[0-9a-fA-F]{4,64})", re.DOTALL)
_WITH_LINES = re.compile(r"(?P<path>.+):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?", re.DOTALL)
_FILES = frozenset({"config", "document", "file", "markup", "resource", "script", "transcript", "window"})
"""Kinds of segments whose symbol is the path of their file."""
_WITH_SYMBOL = re.compile(r"(?P<path>.{2,}?):(?P<symbol>[^:/\\]+)")  # the colon of `C:\repo\A.cs` is none of ours
_DECORATED = re.compile(r"[(<#|?\[]|::")
_LINE_END = re.compile(r"\r\n|\n|\r")
_ARITY = re.compile(r"`\d+")
_COMMIT_ID = re.compile("[0-9a-fA-F]{4,64}")
_DIGITS = 10  # of a commit
_NEAR = 3
_NEAR_NAMES = 0.8
_LISTED = 12
_OTHERS = 3
_LINES_NAMED = 4  # of a file
_FILES_NAMED = 40  # whose lines are told: reading 400 takes two seconds
_MOST_NAMING = 200  # sections whose files are looked through for a constant
_CONSTANT = "constant"  # of no type
_MEMBERS = frozenset({*MemberKind, _CONSTANT}) - {MemberKind.TYPE}
_NAMELESS = frozenset({MemberKind.WINDOW, MemberKind.CUE, MemberKind.STATEMENTS})
"""Members whose name is a place or a person, not a name that something declares."""


class TextVersion(StrEnum):
    """Which text of a file."""

    INDEXED = "indexed"
    COMMIT = "commit"
    WORK_TREE = "work tree"


@dataclass(frozen=True, slots=True)
class DeclaredLines:
    """Where a symbol is declared in a file: its lines with its comment and attributes, 1-based and inclusive. `kind` is
    that of the declaration: class, method, section …"""

    symbol: str
    kind: str
    signature: str
    start_line: int
    end_line: int

    @property
    def name(self) -> str:
        """The last part of the symbol; a heading whole."""
        return self.symbol if " " in self.symbol else self.symbol.rpartition(".")[2]

    def is_called(self, name: str) -> bool:
        """Whether a name in any case, qualified or not, is the one of this symbol."""
        own = self.symbol.replace(".prototype.", ".").casefold()
        wanted = _ARITY.sub("", name).replace(".prototype.", ".").strip().removesuffix("()").casefold()
        return own == wanted or own.endswith((f".{wanted}", f"/{wanted}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLines:
    """Lines `start_line` to `end_line` (1-based, inclusive) of a file of `line_count` lines; 0 and 0 of an empty file.

    `text` has them joined by line feeds; where a budget of tokens is too small for all of them the first `shown_lines`,
    or none, and `notes` say how to read on. `version` says which text it is and `commit_sha` of which commit, '' for
    the work tree. `around` is the smallest symbol that all lines are in, `declared` what is declared in them.
    `masked_secrets` counts those of the file. `differs` says of an indexed text whether the file of the work tree is
    another one now, None where nobody can say. `notes` say what a reader could take wrongly.
    """

    label: str
    path: str
    version: TextVersion
    commit_sha: str
    language: str
    start_line: int
    end_line: int
    line_count: int
    text: str
    shown_lines: int
    around: DeclaredLines | None = None
    declared: tuple[DeclaredLines, ...] = ()
    masked_secrets: int = 0
    differs: bool | None = None
    notes: tuple[str, ...] = ()

    @property
    def numbered(self) -> list[tuple[int, str]]:
        """Each line with its number."""
        return list(enumerate(self.text.split("\n"), self.start_line)) if self.shown_lines else []

    @property
    def place(self) -> str:
        return lines_of(self.path, self.start_line, self.end_line)

    def rendered(self) -> list[str]:
        """As a person or a model reads it: a head with the place, the numbered lines or, where a budget has no room for
        them, what they declare; then the notes."""
        inside = f"  in {self.around.symbol} ({self.around.start_line}-{self.around.end_line})" if self.around else ""
        text = f"at commit {self.commit_sha[:_DIGITS]}" if self.commit_sha else "in the work tree"
        head = f"{self.place}{inside}  {'as indexed ' * (self.version is TextVersion.INDEXED)}{text}"
        width = len(str(self.end_line))
        body = [f"{number:>{width}}  {line}".rstrip() for number, line in self.numbered]
        outline = [f"  {one.start_line}-{one.end_line}  {one.signature or one.symbol}" for one in self.declared]
        return [head, *(body or outline), *self.notes]

    def within(self, tokens: int) -> SourceLines:
        """The same in at most so many tokens, counted as byte-pair models count them: all lines; else what they
        declare; else as many whole lines as fit; else their number alone."""
        from rag_assets.models.openai_compat.token_counting import estimate_tokens

        def size(found: SourceLines) -> int:
            return estimate_tokens(["\n".join(found.rendered())])[0]

        whole = size(self)
        if whole <= tokens:
            return self
        count = self.shown_lines
        said = f"{count:,} line{'s are' if count != 1 else ' is'} about {whole:,} tokens"
        outline = replace(self, text="", shown_lines=0, notes=(*self.notes, f"{said}; read one of these"))
        if len(self.declared) > 1 and size(outline) <= tokens:
            return outline
        lines = self.text.split("\n")

        def first(number: int) -> SourceLines:
            rest = shlex.quote(f"{self.path}:{self.start_line + number}-{self.end_line}")
            notes = (*self.notes, f"{said}; read on at {rest}")
            return replace(self, text="\n".join(lines[:number]), shown_lines=number, declared=(), notes=notes)

        fits = bisect_right(range(1, count), tokens, key=lambda number: size(first(number)))
        return first(fits) if fits else replace(first(0), notes=(f"{said}; give more with --max-tokens",))


@dataclass(frozen=True)
class FileText:
    """One version of a file. `segments` are those of the index, None where the text has to be segmented."""

    path: str
    version: TextVersion
    commit_sha: str
    language: str
    text: str
    masked_secrets: int = 0
    blob_id: str = ""
    segments: tuple[Segment, ...] | None = field(default=None, repr=False)

    @cached_property
    def lines(self) -> list[str]:
        lines = _LINE_END.split(self.text)
        return lines[:-1] if lines[-1] == "" else lines

    @cached_property
    def declared(self) -> tuple[DeclaredLines, ...]:
        """All that the file declares, in text order, what is around before what is inside."""
        segments = self.segments
        if segments is None:
            from rag_assets.segmentation import segment_file  # start-up budget: only for a text that is not indexed

            segments = segment_file(self.text, self.path, self.language).segments
        return tuple(found for segment in segments for found in _declared(segment, self.text))

    def cut(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start - 1 : end])

    def around(self, start: int, end: int) -> DeclaredLines | None:
        """The smallest symbol that these lines are in."""
        holding = [one for one in self.declared if one.start_line <= start and end <= one.end_line]
        return min(holding, key=lambda one: (one.end_line - one.start_line, -one.start_line), default=None)


def _declared(segment: Segment, text: str) -> Iterator[DeclaredLines]:
    owner = _ARITY.sub("", plain_symbol(segment.symbol))
    is_module = segment.kind == "module"  # of Go and TypeScript called by its folder or file, as its types are
    is_file = segment.kind in _FILES or owner.rpartition(".")[2] == ""
    if not is_file and not (is_module and "/" in owner):
        span = segment.span
        yield DeclaredLines(owner, segment.kind, segment.signature, span.line_start, span.line_end)
    for leaf in leaves_of(segment.members):
        member = leaf.member
        if member.name and member.kind not in _NAMELESS:
            symbol = member.name if is_file else ".".join(filter(None, (owner, leaf.owner, member.name)))
            span = member.span
            yield DeclaredLines(symbol, member.kind.value, member.signature, span.line_start, span.line_end)
    for one in module_constants(segment, text):
        yield DeclaredLines(f"{owner}.{one.name}", _CONSTANT, one.declaration, one.line_start, one.line_end)


def meant_by(
    name: str, found: list[tuple[FileText, DeclaredLines]]
) -> tuple[list[tuple[FileText, DeclaredLines]], str]:
    """Of what is called so in any letter case that in the case of the name, if there is any, and of that the types,
    before members that are called like them; and a note that names what else there is."""
    last = _ARITY.sub("", name).strip().removesuffix("()").rpartition(":")[2].rpartition("/")[2].rpartition(".")[2]
    exact = [one for one in found if one[1].name == last] or found
    meant = [one for one in exact if one[1].kind not in _MEMBERS] or exact
    others = [one for one in found if one not in meant]
    listed = [f"{one.symbol} ({lines_of(file.path, one.start_line, one.end_line)})" for file, one in others[:_OTHERS]]
    more = f" and {len(others) - _OTHERS} more" if len(others) > _OTHERS else ""
    return meant, f"also called so: {', '.join(listed)}{more}" if others else ""


class ReadLabel(OpenLabel, Protocol):
    """An open index that places are read of (`search.index.LabelIndex`)."""

    @property
    def overlay(self) -> Overlay | None: ...

    def scope(self) -> SearchScope: ...

    def get(self, identifier: str) -> dict[str, Any]: ...

    def resolve(self, uri: str) -> str: ...


class SourceReader:
    """Reads places of one index; files that were read stay in memory, so make one for a piece of work."""

    def __init__(self, index: ReadLabel) -> None:
        self._index = index
        self._manifest = index.manifest
        self._files: dict[tuple[str, str, bool], FileText] = {}

    def read(self, place: str, *, commit: str = "", work_tree: bool = False) -> SourceLines:
        """The lines of a place. Raises PlaceError for a place that is not there, naming near ones, WrongQuestion for
        one that is written wrongly, ArtifactError for a file that is not indexed, SourceError for a commit or work
        tree that cannot be read."""
        written = place.strip()
        found = _WITH_COMMIT.fullmatch(written)
        if found is not None and not self._is_file(written):
            if work_tree or (commit and not _same_commit(commit, found["commit"])):
                raise WrongQuestion(f"{place} names a commit; leave it out, or the option that names another text")
            written, commit = found["place"], found["commit"]
        commit = commit_of(self._index, commit)
        if not written:
            raise WrongQuestion("the place is empty; name a file, lines of it, a symbol or a point")
        if commit and work_tree:
            raise WrongQuestion("a commit and the work tree are two texts; name one of them")
        return self._lines(written, commit, work_tree)

    def _lines(self, written: str, commit: str, work_tree: bool) -> SourceLines:
        written = written if self._is_file(written) else as_place(written)
        lines = _WITH_LINES.fullmatch(written)
        if lines is not None and ":" in lines["path"][2:]:  # a name with a colon, or no place with lines at all
            named = self._cleaned(lines["path"])
            lines = lines if named is not None and self._exists(named, commit, work_tree) else None
        path = self._cleaned(lines["path"] if lines else written)
        if lines is not None:
            file = self.file(self.path(path, written), commit=commit, work_tree=work_tree)
            return self._cut(file, int(lines["start"]), int(lines["end"] or lines["start"]))
        if path is not None and self._exists(path, commit, work_tree):
            file = self.file(path, commit=commit, work_tree=work_tree)
            return self._cut(file, 1, len(file.lines))
        within = _WITH_SYMBOL.fullmatch(written)
        owner = self._cleaned(within["path"]) if within else None
        if within is not None and owner is not None and self._exists(owner, commit, work_tree):
            file = self.file(owner, commit=commit, work_tree=work_tree)
            return self._symbol(written, [(file, one) for one in file.declared if one.is_called(within["symbol"])])
        declared = self.declaring(written)
        if declared:
            return self._symbol(written, self._in_version(written, declared, commit, work_tree))
        if path is not None and "/" in path:
            return self._whole(self.path(path, written), commit, work_tree)
        point = self._point(written)
        if point is not None:
            return self._of_point(point, commit, work_tree)
        return self._whole(self.path(path, written), commit, work_tree)

    def _whole(self, path: str, commit: str, work_tree: bool) -> SourceLines:
        file = self.file(path, commit=commit, work_tree=work_tree)
        return self._cut(file, 1, len(file.lines))

    def file(self, path: str, *, commit: str = "", work_tree: bool = False) -> FileText:
        """A version of a file, by its path in the repository. Raises as `read`."""
        key = (path, commit.lower(), work_tree)
        if key not in self._files:
            row = self._row(path)
            overlay = None if commit or work_tree else self._index.overlay
            if overlay is not None and path in overlay.masked:
                self._files[key] = self._laid_over(path, overlay)
                return self._files[key]
            if work_tree or (commit and not self._is_indexed_text(commit, row)):
                self._files[key] = self._other_version(path, commit)
            else:
                self._files[key] = self._indexed(path, row)
        return self._files[key]

    def declaring(self, name: str) -> list[tuple[FileText, DeclaredLines]]:
        """What declares a name, in files of the index; a type rather than its constructor. A key of the graph, and a
        name with type arguments or parameters, `Store<T>.Save(int)`, mean the same as without; of overloads those that
        have the parameters."""
        found = self._declaring(_ARITY.sub("", name).strip().removesuffix("()"))
        if found or not _DECORATED.search(name):
            return found
        bare, parameters = _undecorated(name)
        found = self._declaring(bare)
        return [known for known in found if _has_parameters(known[1], parameters)] or found

    def _declaring(self, bare: str) -> list[tuple[FileText, DeclaredLines]]:
        if not bare:
            return []
        scope = self._index.scope().narrowed(SearchFilters(symbols=(bare,)))
        shard = self._index.parts.shard()
        payloads = shard.retrieve(list(shard.ids(scope)), scope)
        if not payloads:
            payloads = self._naming(bare)
        paths = sorted({payload["Path"] for payload in payloads.values()})
        files = [self.file(path) for path in paths if self._index.may_read(path)]
        found = [(file, one) for file in files for one in file.declared if one.is_called(bare)]
        return [known for known in found if known[1].kind != MemberKind.CONSTRUCTOR] or found

    def _naming(self, name: str) -> dict[str, Any]:
        """The payloads of the likeliest sections that have the words of a name: constants outside of types are no
        declared names of a section."""
        from rag_assets.search.phrases import points_saying  # start-up budget: only for a name that no type has

        try:
            points = points_saying(name.rpartition(".")[2], self._index.parts, self._index.scope(), _MOST_NAMING).ids
        except (KeywordIndexError, BlobError):
            return {}
        return self._index.parts.shard().retrieve(sorted(points), self._index.scope())

    def differs(self, file: FileText) -> bool | None:
        """Whether the file of the work tree is another one than the index has; None where nobody can say."""
        return file_differs(self._index.parts.configuration[0], self._manifest, file.path, file.blob_id)

    def known_paths(self) -> tuple[str, ...]:
        """The files with a section that the reader may see."""
        return tuple(self._index.parts.shard().values("Path", self._index.scope()))

    def _cut(self, file: FileText, start: int, end: int, symbol: DeclaredLines | None = None) -> SourceLines:
        count, notes = len(file.lines), []
        if end < start or (start < 1 and count):
            raise WrongQuestion(f"lines {start}-{end} of {file.path} are none; lines begin at 1, the first one first")
        if start > count:
            said = f"{count:,} line{'s' * (count != 1)}"
            raise PlaceError(f"{file.path} has {said}, so there is no line {start}{_at(file)}; read: {file.path}")
        end = min(end, count)
        differs = self.differs(file) if file.version is TextVersion.INDEXED else None
        if differs:
            notes.append(
                f"{file.path} has changed since commit {file.commit_sha[:_DIGITS]}, and these are the lines of that "
                f"commit; read those of now with: rag-assets read {shlex.quote(file.path)} --work-tree"
            )
        around = symbol or file.around(start, end)
        return SourceLines(
            label=self._index.label,
            path=file.path,
            version=file.version,
            commit_sha=file.commit_sha,
            language=file.language,
            start_line=start if count else 0,
            end_line=end,
            line_count=count,
            text=file.cut(start, end),
            shown_lines=end - start + 1 if count else 0,
            around=around,
            declared=tuple(
                one for one in file.declared if start <= one.start_line and one.end_line <= end and one != around
            ),
            masked_secrets=file.masked_secrets,
            differs=differs,
            notes=tuple(notes),
        )

    def _symbol(self, written: str, found: list[tuple[FileText, DeclaredLines]]) -> SourceLines:
        if not found:
            raise self._unknown(written)
        meant, note = meant_by(written, found)
        places = {(file.path, one.start_line, one.end_line): (file, one) for file, one in meant}
        if len(places) > 1:
            listed = [
                f"  {lines_of(path, start, end)}  {one.signature or one.symbol}"
                for (path, start, end), (_, one) in sorted(places.items(), key=lambda known: known[0])
            ]
            more = [f"  … {len(listed) - _LISTED} more"] if len(listed) > _LISTED else []
            said = f"{written} is declared {len(listed)} times; read one of"
            raise QueryError("\n".join([said, *listed[:_LISTED], *more]))
        file, one = next(iter(places.values()))
        lines = self._cut(file, one.start_line, one.end_line, one)
        return replace(lines, notes=(*lines.notes, note)) if note else lines

    def _in_version(
        self, written: str, declared: list[tuple[FileText, DeclaredLines]], commit: str, work_tree: bool
    ) -> list[tuple[FileText, DeclaredLines]]:
        """The same symbols in another version of their files: never other lines because something moved."""
        if not commit and not work_tree:
            return declared
        found = []
        for path in dict.fromkeys(file.path for file, _ in declared):
            if self._exists(path, commit, work_tree):
                file = self.file(path, commit=commit, work_tree=work_tree)
                wanted = [one for known, one in declared if known.path == path]
                alike = [one for one in file.declared if one.symbol in {known.symbol for known in wanted}]
                same = [one for one in alike if one.signature in {known.signature for known in wanted}]
                found += [(file, one) for one in same or alike]
        if not found:
            file, one = declared[0]
            where = f"at commit {commit[:_DIGITS]}" if commit else "in the work tree"
            raise PlaceError(
                f"{written} is not declared {where}; the index has it at "
                f"{lines_of(file.path, one.start_line, one.end_line)}@{file.commit_sha[:_DIGITS]}"
            )
        return found

    def _of_point(self, payload: dict[str, Any], commit: str, work_tree: bool) -> SourceLines:
        file = self.file(payload["Path"])
        start, end = payload["StartLine"], payload["EndLine"]
        if commit or work_tree:
            other = self.file(payload["Path"], commit=commit, work_tree=work_tree)
            if other.text != file.text:
                around = file.around(start, end)
                if around is None:
                    raise PlaceError(
                        f"{lines_of(file.path, start, end)} is in no symbol, and {file.path} is another text there; "
                        f"read the lines of the index, or the whole file: {file.path}"
                    )
                found = self._in_version(around.symbol, [(file, around)], commit, work_tree)
                return self._symbol(around.symbol, found)
            file = other
        return self._cut(file, start, end)

    def _point(self, written: str) -> dict[str, Any] | None:
        try:
            return self._index.get(written)
        except WrongQuestion:
            return None
        except QueryError as error:
            if "beginning of" in str(error):
                raise
            return None

    def _exists(self, path: str, commit: str, work_tree: bool) -> bool:
        if not commit and not work_tree:
            return self._is_file(path)
        try:
            self.file(path, commit=commit, work_tree=work_tree)
        except PlaceError:
            return False
        return True

    def _cleaned(self, path: str) -> str | None:
        """As `_clean`; a name with a byte that is no text has a `\\` of its own (`caf\\xe9.cs`)."""
        return path if "\\" in path and self._is_file(path) else _clean(path)

    def _is_file(self, path: str) -> bool:
        """Of the index, or of the work tree over it."""
        overlay = self._index.overlay
        return self._row(path) is not None or (overlay is not None and path in overlay.files)

    def _laid_over(self, path: str, overlay: Overlay) -> FileText:
        """A file that the work tree has, or has no more."""
        found = overlay.files.get(path)
        if found is not None:
            return FileText(
                path,
                TextVersion.WORK_TREE,
                "",
                found.language,
                found.text,
                found.masked_secrets,
                segments=found.segments,
            )
        if self._row(path) is None:
            raise self._unknown(path)
        skipped = overlay.skipped.get(path)
        why = f"is skipped as {skipped.reason.value}" if skipped else "is not there"
        place = shlex.quote(f"{path}@{self._manifest.commit_sha[:_DIGITS]}")
        raise PlaceError(f"{path} {why} in the work tree; read it as it is indexed with: rag-assets read {place}")

    def path(self, path: str | None, written: str = "") -> str:
        """The path as the repository has it: what was written, or the only file whose path ends like that. A path that
        is not indexed stays: another version may have it."""
        if path is None:
            raise WrongQuestion(
                f"{written or path} leaves the repository; name a path inside it, such as src/Orders.cs:12"
            )
        if not self._is_file(path):
            ending = [known for known in self.known_paths() if known.endswith(f"/{path}")] or self._in_any_case(path)
            if len(ending) == 1:
                return ending[0]
            if len(ending) > 1:
                raise PlaceError(f"{path} can be {' or '.join(ending[:_NEAR])}; name one of them")
        return path

    def _in_any_case(self, path: str) -> list[str]:
        """The files of a path whose letter case is that of another system."""
        folded = path.casefold()
        known = [one for one in self.known_paths() if one.casefold() == folded]
        return known or [one for one in self.known_paths() if one.casefold().endswith(f"/{folded}")]

    def _row(self, path: str) -> dict[str, Any] | None:
        """What the index knows of a file; None of one that it does not have, and just so of one that the clearance does
        not reach for (E12)."""
        if not self._index.may_read(path):
            return None
        from rag_assets.index.parquet_parts import bucket_of, read_part, rows_with

        generation = self._index.generation
        columns = ["path", "outcome", "blob_id", "language", "commit_sha", "redacted_secrets"]
        bucket = bucket_of(path, self._manifest.bucket_count)
        found = rows_with(read_part(generation.directory, "discovered_files", bucket, columns), "path", path)
        return found[0] if found else None

    def _indexed(self, path: str, row: dict[str, Any] | None) -> FileText:
        from rag_assets.index.parquet_parts import bucket_of, read_part, rows_with

        if row is None:
            raise self._unknown(path)
        text = self._index.resolve(document_uri(self._index.label, path))
        bucket = bucket_of(path, self._manifest.bucket_count)
        table = read_part(self._index.generation.directory, "segments", bucket, ["path", "segment"])
        segments = tuple(from_json(known["segment"], Segment) for known in rows_with(table, "path", path))
        return FileText(
            path,
            TextVersion.INDEXED,
            self._manifest.commit_sha,
            row["language"],
            text,
            row["redacted_secrets"],
            row["blob_id"],
            segments,
        )

    def _is_indexed_text(self, commit: str, row: dict[str, Any] | None) -> bool:
        """Whether a commit has the file as it is indexed: the one of the index, or the one that gave it its text."""
        known = (self._manifest.commit_sha, row["commit_sha"] if row else "")
        return any(one and one.startswith(commit.lower()) for one in known)

    def _other_version(self, path: str, commit: str) -> FileText:
        """A file of a commit, or of the work tree where there is none."""
        from rag_assets.contracts.source_file import SkippedFile
        from rag_assets.sources.file_version import file_of_snapshot, file_of_work_tree
        from rag_assets.sources.ignore import ignore_policy
        from rag_assets.sources.open import open_snapshot

        home, settings, repository = configured_repository(self._index)
        policy = ignore_policy(settings, repository)
        may_read = self._index.may_read(path)
        if commit:
            try:
                with open_snapshot(
                    repository.location,
                    commit=commit,
                    mirrors=home.mirrors,
                    timeout=settings.sources.network_timeout_seconds,
                    policy=policy,
                ) as snapshot:
                    found = file_of_snapshot(snapshot, path, policy, detect_language) if may_read else None
                    sha = snapshot.info.commit_sha
            except MissingCommit as error:
                own, listed = self._manifest.commit_sha[:_DIGITS], f"git log -- {shlex.quote(path)}"
                raise MissingCommit(f"{error}; the index has commit {own}; list others with: {listed}") from error
            version, where = TextVersion.COMMIT, f"commit {sha[:_DIGITS]}"
        else:
            found = file_of_work_tree(repository.location, path, policy, detect_language) if may_read else None
            sha, version, where = "", TextVersion.WORK_TREE, "the work tree"
        if found is None:
            raise self._unknown(path, f" in {where}")
        if isinstance(found, SkippedFile):
            detail = f": {found.detail}" if found.detail else ""
            raise FileSkipped(
                f"{path} of {where} is skipped as {found.reason.value}{detail}; an index would not have it"
            )

        return FileText(path, version, sha, found.file.language, found.text, found.file.redacted_secrets)

    def _unknown(self, written: str, where: str = "") -> PlaceError:
        """What is not there, with the places that are most like it."""
        label, path = self._index.label, _clean(written) or written
        if where and self._is_file(path):
            return PlaceError(
                f"{path} is not there{where}; the index has it, of commit {self._manifest.commit_sha[:_DIGITS]}"
            )
        known = self.known_paths()
        folder = f"{path.rstrip('/')}/"
        inside = dict.fromkeys(_first_part(one[len(folder) :]) for one in known if one.startswith(folder))
        if inside and not where:
            return PlaceError(f"{written} is a folder; it has {abridged(list(inside), _LISTED)}")
        ending = dict.fromkeys(one[: at + len(folder) + 1] for one in known if (at := one.find(f"/{folder}")) >= 0)
        near = list(ending)[:_NEAR] or near_paths(path, known, _NEAR)
        if not near and "/" not in path:
            places = [] if where else self.lines_naming(path)
            if places:
                return PlaceError(f"{label} declares no {written}; it is written in {abridged(places, _NEAR)}")
            near = self._near_names(path)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"search for it with: rag-assets search --label {label} …"
        )
        return PlaceError(f"{written} is neither a file, a symbol nor a point of {label}{where}; {hint}")

    def lines_naming(self, name: str) -> list[str]:
        """The lines of each file that have a name as it is written (`src/a.js:3,7`), code of the product first; of a
        name that is everywhere the paths alone after some."""
        from rag_assets.search.phrases import points_with  # start-up budget: only for a name that nothing declares

        if not re.fullmatch(r"\w+(?:\.\w+)*", name):
            return []
        try:
            points = points_with((name,), self._index.parts, self._index.scope()).ids
        except (KeywordIndexError, BlobError):
            return []
        payloads = self._index.parts.shard().retrieve(sorted(points), self._index.scope()).values()
        laid_over = self._index.overlay.files if self._index.overlay is not None else {}
        having = {payload["Path"] for payload in payloads}.union(
            at for at, one in laid_over.items() if name in one.text
        )
        paths = sorted(having, key=lambda path: (-demotion(path, ()), path))
        written = re.compile(rf"\b{re.escape(name)}\b")
        found = []
        for path in paths[:_FILES_NAMED]:
            lines = [str(at) for at, line in enumerate(self.file(path).lines, 1) if written.search(line)]
            more = f" and {len(lines) - _LINES_NAMED} more" if len(lines) > _LINES_NAMED else ""
            found += [f"{path}:{','.join(lines[:_LINES_NAMED])}{more}"] if lines else []
        found += paths[_FILES_NAMED:]
        return found

    def _near_names(self, written: str) -> list[str]:
        """The declared names that are most like one; of a member with its type those that are most like both."""
        name = (declared_names(written)[-1:] or ("",))[0]
        names = [
            known
            for known in self._index.parts.shard().values("DeclaredNames", self._index.scope())
            if abs(len(known) - len(name)) <= _NEAR
        ]
        alike = difflib.get_close_matches(name, names, _NEAR, _NEAR_NAMES)
        if "." not in written:
            return list(dict.fromkeys(one.name for known in alike for _, one in self.declaring(known)[:1]))
        count = written.count(".") + 1
        symbols = (one.symbol for known in alike for _, one in self.declaring(known))
        members = dict.fromkeys(".".join(symbol.split(".")[-count:]) for symbol in symbols)
        return difflib.get_close_matches(written, members, _NEAR, 0.0)


def _first_part(path: str) -> str:
    """`Orders/` of `Orders/Order.cs`."""
    name, slash, _ = path.partition("/")
    return name + slash


def _at(file: FileText) -> str:
    if file.version is TextVersion.WORK_TREE:
        return " in the work tree"
    return f" at commit {file.commit_sha[:_DIGITS]}"


def _same_commit(one: str, other: str) -> bool:
    return one.lower().startswith(other.lower()) or other.lower().startswith(one.lower())


def _undecorated(name: str) -> tuple[str, list[str] | None]:
    """`csharp:Shop.Store`1.Save(int)|METHOD`, `Store<T>.Save(int id)` and `Store::Save(int)` → `Store.Save` and the
    types of its parameters, None where no list is written."""
    from rag_assets.graph.lookup import parameter_types, readings  # start-up budget: few names are written so

    first = next(iter(readings(name.replace("#", "."))), None)
    if first is None:
        return "", None
    parameters = None if first.parameters is None else parameter_types(name[name.index("(") + 1 : name.rindex(")")])
    return ".".join(part.rstrip("[]?") for part in first.segments), parameters


def _has_parameters(declared: DeclaredLines, wanted: list[str] | None) -> bool:
    from rag_assets.graph.lookup import parameter_types  # start-up budget: few names are written so

    if wanted is None:
        return True
    begin = declared.signature.find("(", declared.signature.find(declared.name))
    end = declared.signature.rfind(")")
    own = parameter_types(declared.signature[begin + 1 : end]) if 0 <= begin < end else []
    return len(own) == len(wanted) and all(one.endswith(typed) for one, typed in zip(own, wanted, strict=True))


def _clean(path: str) -> str | None:
    """A path of the repository with `/`; None for one that leaves it."""
    from rag_assets.sources.urls import safe_path

    written = path.replace("\\", "/")
    while written.startswith("./"):
        written = written[2:]
    written = written.rstrip("/") or written
    return None if safe_path(written.encode("utf-8", "surrogateescape"))[1] else written


def commit_of(index: ReadLabel, named: str) -> str:
    """The commit that a branch, a tag or `HEAD~1` names; an id as it is, and all where the repository is not here.
    Raises SourceError for what names none."""
    if not named or _COMMIT_ID.fullmatch(named):
        return named
    # Start-up budget: only for a name.
    from rag_assets.sources.git.git_refs import commit_named
    from rag_assets.sources.open import local_history

    home, _, repository = configured_repository(index)
    try:
        history = local_history(repository.location, home.mirrors)
    except SourceError:
        return named
    return commit_named(history.git_dir, history.where, named)


def configured_repository(index: ReadLabel) -> tuple[IndexHome, Settings, RepositorySettings]:
    """The home of an index, its settings, and the repository that it is of. Raises ConfigError."""
    # Start-up budget: few places are read in another text than that of the index.
    from rag_assets.index.labels import repository_of
    from rag_assets.settings import load_settings

    home, config = index.parts.configuration
    settings = load_settings(config_of(home.root, config))
    return home, settings, repository_of(home, settings, index.label)
