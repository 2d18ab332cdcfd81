"""The keys of RoslynIndexer's graph in ours: its C# keys are simple or have no parameters, its SQL keys imply `dbo`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rag_assets.contracts.graph import NodeType, sql_key, symbol_key
from rag_assets.graph.imports.label_symbols import LabelSymbols, overload
from rag_assets.graph.imports.roslyn_chunks import CSHARP
from rag_assets.graph.imports.vocabulary_map import DATABASE_KINDS, node_kind

_CSHARP_PREFIX = "csharp:"
_SQL_PREFIX = "sql:"
_UNKNOWN = "unknown"
"""How a reference is marked whose target no script declares (`SYNONYM … FOR`, `TRIGGER … ON`)."""


@dataclass(frozen=True, slots=True)
class Translated:
    """`is_sure`: the key is that of a declaration, ours or the import's. `kind` is the one that `key` ends with."""

    key: str
    kind: NodeType
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Hint:
    """What `sql_bodies.jsonl` adds to a key: the qualified type, and where a method with inline SQL stands."""

    kind: str = ""
    name: str = ""
    type_name: str = ""
    path: str = ""
    line: int = 0
    row: int = 0


def inline_sql_key(key: str, kind: str) -> str:
    """The key in the graph of a body: inline SQL has the bare name of its method there, `csharp:…|METHOD` here."""
    is_bare = kind.lower() == "inlinesql" and not _suffix(key)
    return f"{_CSHARP_PREFIX}{key}|{NodeType.METHOD.value}" if is_bare else key


class Keys:
    """Translates keys; each once."""

    def __init__(self, known: LabelSymbols, hints: Mapping[str, Hint], declared: Mapping[str, str]) -> None:
        """`declared`: written key → kind as `nodes.csv` has them."""
        self._known = known
        self._hints = hints
        self._declared = declared
        self._kinds: dict[str, NodeType] = {}  # database objects that the import declares, by name in small letters
        for key, word in declared.items():
            kind = node_kind(word)
            if kind in DATABASE_KINDS and kind is not NodeType.TABLE_OR_VIEW:
                self._kinds.setdefault(_bare(key).lower(), kind)
        self._done: dict[tuple[str, str], Translated | None] = {}

    def declares(self, written: str) -> bool:
        return written in self._declared

    def translate(self, written: str, kind_word: str = "") -> Translated | None:
        """None for a key whose kind nothing tells, or that is empty but for its kind."""
        if (written, kind_word) not in self._done:
            self._done[(written, kind_word)] = self._translate(written, kind_word)
        return self._done[(written, kind_word)]

    def _translate(self, written: str, kind_word: str) -> Translated | None:
        hint = self._hints.get(written, Hint())
        bare, word = _bare(written), _suffix(written) or kind_word or self._declared.get(written, "") or hint.kind
        kind = node_kind(word)
        if not bare.strip(". "):
            return None
        if self._known.places(written) and kind is not None:
            return Translated(written, kind, True)
        if written.startswith(_CSHARP_PREFIX) or (kind is NodeType.METHOD and hint.kind):
            return self._program(bare, kind, hint) if kind is not None else None
        if kind is None and word.lower() != _UNKNOWN:
            return None
        return self._database(written, bare, kind)

    def _program(self, bare: str, kind: NodeType, hint: Hint) -> Translated:
        qualified = hint.type_name if kind is NodeType.ENTITY and hint.type_name else bare
        if kind is NodeType.METHOD and hint.path and hint.line:
            placed = self._known.at(hint.path, hint.line, bare.rpartition(".")[2], kind)
            if placed is not None:
                return Translated(placed, kind, True)
        owner, _, name = qualified.rpartition(".")
        found = overload(self._known.symbols(kind, name), None, owner)
        if found is not None:  # the only one of that name
            return Translated(found[0].node.key, kind, True)
        return Translated(symbol_key(CSHARP, qualified, kind), kind, True)

    def _database(self, written: str, bare: str, kind: NodeType | None) -> Translated | None:
        if kind is None or kind is NodeType.TABLE_OR_VIEW:
            kind = self._kinds.get(bare.lower(), kind)
        if kind is not None and kind not in DATABASE_KINDS:
            return None
        schema, _, name = bare.rpartition(".")
        key = self._known.database_object(schema, name, kind)
        if key is not None:
            return Translated(key, NodeType(key.rpartition("|")[2]), True)
        kind = kind or NodeType.TABLE_OR_VIEW
        return Translated(
            sql_key(schema, name, kind), kind, written in self._declared and kind is not NodeType.TABLE_OR_VIEW
        )


def _suffix(written: str) -> str:
    """The word for a kind that a key ends with, '' without one."""
    word = written.rpartition("|")[2] if "|" in written else ""
    return word if node_kind(word) is not None or word.lower() == _UNKNOWN else ""


def _bare(written: str) -> str:
    """The name without prefix and kind."""
    body = written.rpartition("|")[0] if _suffix(written) else written
    for prefix in (_CSHARP_PREFIX, _SQL_PREFIX):
        if body[: len(prefix)].lower() == prefix:
            return body[len(prefix) :]
    return body
