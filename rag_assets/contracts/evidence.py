"""The evidence of an answer: pieces of source with their origin. Pure nouns.

A citation id is the beginning of a point id. Every answer uses the same one, and `rag-assets show ID` opens it (R26).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag_assets.contracts.identity import GENERAL_DOMAIN
from rag_assets.contracts.outline import SectionMember, line_range
from rag_assets.identifiers import identifier_words

_SHORTEST_ID = 8
"""Digits of a point id: enough for `rag-assets show`, and for the few dozen points that one answer is made from."""

_COMMIT_DIGITS = 10
_BRACKET = re.compile(r"[(<]")
_DECORATION = re.compile(r"`\d+|~[0-9a-f]{8}$")
"""Arity, and the suffix that separates declarations of one name in several files (R1). People write neither."""

_WRITTEN_LINES = re.compile(
    r"(?P<path>.+\.[a-z][a-z0-9]{0,11})(?:[:#(]| (?:lines? )?)L?(?P<start>\d{1,9})"
    r"(?:-L?(?P<end>\d{1,9})|[:,]\d{1,9})?\)?"
)
"""The path ends with an extension: `Order.Refund(5)` is none."""
_FACT = re.compile(r"^(?:- )?(?P<fact>(?P<name>[A-Z][\w ]*): (?P<said>\S.*))$", re.MULTILINE)
_IN_THE_SOURCE = frozenset({"Artifact", "Kind", "Members", "Path", "Contents", "Inherits"})
"""Facts that say what a piece is called, or list what its source shows."""
_DECLARATIONS = frozenset({"class", "interface", "struct", "record", "enum", "delegate"})
_NO_DOMAIN = f"Domain: {GENERAL_DOMAIN}"
"""How a snippet begins where nothing names a domain."""


class Origin(StrEnum):
    """Why a piece of evidence is there."""

    HIT = "hit"  # found by the search
    DEFINITION = "definition"  # declares a name of the question
    GRAPH = "graph"  # a neighbour of a hit


class EvidenceForm(StrEnum):
    """How much of a piece of evidence a context holds."""

    WHOLE = "whole"  # its description, then its source
    DESCRIBED = "described"  # its description in brief; without one, the declarations without their bodies
    NAME = "name"  # where it is and what it declares


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A piece of one file. Lines are 1-based and inclusive. `text` is their source, `sha256` its hash at indexing.
    `point_ids` are the points of the piece, best first, `ids` their citation ids. `score` is the score of the best
    point. `via` names the graph edge that led to the piece. Documents with pages and
    recordings have a `title`, and `pages` or the `seconds` at which the piece begins. `description` is what was found
    out about the piece when it was indexed: facts, resolved texts, a summary; of a document, whose text it is, ''.
    `members` are the outline of the piece, `best_lines` those that the search says to read first, (0, 0) without."""

    point_ids: tuple[str, ...]
    ids: tuple[str, ...]
    label: str
    commit_sha: str
    path: str
    line_start: int
    line_end: int
    symbol: str
    kind: str
    language: str
    text: str
    sha256: str
    score: float
    origin: Origin = Origin.HIT
    node_keys: tuple[str, ...] = ()
    via: str = ""
    title: str = ""
    pages: tuple[int, ...] = ()
    seconds: int | None = None
    description: str = ""
    members: tuple[SectionMember, ...] = ()
    best_lines: tuple[int, int] = (0, 0)

    @property
    def id(self) -> str:
        """The id that a citation of this piece uses."""
        return self.ids[0]

    @property
    def place(self) -> str:
        """`src/A.cs:12-30`."""
        return lines_of(self.path, self.line_start, self.line_end)

    @property
    def cited(self) -> str:
        """The piece as a citation of all of it (`cited_place`)."""
        return cited_place(self, self.line_start, self.line_end)

    @property
    def facts(self) -> tuple[str, ...]:
        """The lines of the description that say something which the source does not: `Domain: Purchasing`."""
        source = "".join(self.text.split())
        return tuple(
            dict.fromkeys(
                found["fact"]
                for found in _FACT.finditer(self.description)
                if found["name"] not in _IN_THE_SOURCE
                and found["fact"] != _NO_DOMAIN
                and not (found["name"] == "Purpose" and self._says_its_name(found["said"]))
                and (" " not in found["said"] or "".join(found["said"].split()) not in source)
            )
        )

    def _says_its_name(self, purpose: str) -> bool:
        """Whether a purpose is only the name in words, as that of undocumented code: `order manager class`."""
        return set(purpose.split()) <= {word.lower() for word in identifier_words(self.name)} | _DECLARATIONS

    def holds(self, other: Evidence) -> bool:
        """Whether another piece is a part of this one."""
        is_inside = self.line_start <= other.line_start and other.line_end <= self.line_end
        return is_inside and (self.label, self.path) == (other.label, other.path) and other.text in self.text

    @property
    def plain_symbol(self) -> str:
        """The symbol as people write it: `Shop.Cache` of ``Shop.Cache`1``."""
        return _DECORATION.sub("", self.symbol)

    @property
    def name(self) -> str:
        """The symbol without its namespace; the file name if there is no symbol, or if the symbol is a path."""
        file = self.path.rpartition("/")[2]
        return file if self.symbol in (self.path, file) else short_name(self.symbol) or file


def cited_place(known: Evidence, start: int, end: int) -> str:
    """How a citation of lines is rendered: `src/A.cs:12-30@1a2b3c4d5e` (R26); `docs/guide.pdf@1a2b3c4d5e [source:
    guide, page 3]` and `talks/intro.vtt@1a2b3c4d5e [source: Intro, t=12:34]` for files without lines to open (E19)."""
    commit = known.commit_sha[:_COMMIT_DIGITS]
    if known.pages:
        return f"{known.path}@{commit} [source: {known.title}, page {_ranges(known.pages)}]"
    if known.seconds is not None:
        return f"{known.path}@{commit} [source: {known.title}, t={clock(known.seconds)}]"
    return f"{lines_of(known.path, start, end)}@{commit}"


def lines_of(path: str, start: int, end: int) -> str:
    """`src/A.cs:12-30`, `src/A.cs:12` for one line."""
    return f"{path}:{line_range(start, end)}"


def as_place(written: str) -> str:
    """`src/A.cs#L12-L40`, `src/A.cs(12,5)`, `src/A.cs:12:5` and `src/A.cs 12-40`, as editors, compilers and agents
    write lines of a file, as `src/A.cs:12-40`; other texts as they are."""
    found = _WRITTEN_LINES.fullmatch(written)
    return f"{found['path']}:{found['start']}{f'-{end}' if (end := found['end']) else ''}" if found else written


def clock(seconds: int) -> str:
    """`12:34`; `1:02:03` from an hour on."""
    minutes = f"{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{seconds // 3600}:{minutes}" if seconds >= 3600 else minutes


def _ranges(pages: Sequence[int]) -> str:
    """`3`, `3-5`, `3, 7-8`."""
    runs: list[list[int]] = []
    for page in sorted(set(pages)):
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def short_name(symbol: str) -> str:
    """`Shop.Orders.Cache`1` → `Cache`, as people write it; a heading stays as it is. A dot between brackets ends no
    name: `Api.MapPost(/<Routes.Base>/orders)` → `MapPost(/<Routes.Base>/orders)`."""
    if " " in symbol:
        return symbol
    bracket = _BRACKET.search(symbol)
    named = symbol[: bracket.start()] if bracket else symbol
    return _DECORATION.sub("", named.rpartition(".")[2] + symbol[len(named) :])


def owner_name(symbol: str) -> str:
    """The type that a symbol is, or of an action that is written with its parameters the one that has it."""
    before, bracket, _ = symbol.partition("(")
    return short_name(before.rpartition(".")[0] if bracket else symbol)


def citation_ids(point_ids: Iterable[str]) -> dict[str, str]:
    """point id → its shortest unique prefix of at least eight digits. Depends on the set of ids, never on their
    order."""
    known = sorted(set(point_ids))
    return {identifier: _shortest(identifier, known) for identifier in known}


def _shortest(identifier: str, known: Sequence[str]) -> str:
    length = _SHORTEST_ID
    while length < len(identifier) and any(
        other != identifier and other.startswith(identifier[:length]) for other in known
    ):
        length += 1
    return identifier[:length].rstrip("-") or identifier
