"""Type expressions as facts: `IReadOnlyList<Order?>?` is a nullable collection of nullable `Order`.

Made for C#; the spellings of Java, TypeScript, Python and Go that mean the same parse to the same (`Order[]`,
`list[Order]`, `[]Order`, `Order | null`). What cannot be parsed gives a name, never an exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

ARRAY = "Array"
TUPLE = "ValueTuple"
UNION = "Union"

MAX_DEPTH = 24
"""Deepest nesting of type arguments that is read: real code stays below six, and no text overflows the stack."""

MAX_CHARS = 2_000
"""Longest expression that is parsed; what is longer is no type (an unclosed bracket took the rest of a file)."""


@dataclass(frozen=True, slots=True)
class TypeName:
    """A parsed type. `name` is simple (`List`), `qualifier` what stood before it (`System.Collections.Generic`).

    An array is `Array` with its element as the only argument and `array_rank` ≥ 1; a tuple is `ValueTuple` of its
    parts; alternatives (`A | B`) are a `Union`.
    """

    name: str
    arguments: tuple[TypeName, ...] = ()
    nullable: bool = False
    array_rank: int = 0
    qualifier: str = ""

    def __str__(self) -> str:
        """The type in C# spelling, without qualifiers."""
        inner = ", ".join(map(str, self.arguments))
        if self.array_rank:
            text = f"{inner}[{',' * (self.array_rank - 1)}]"
        elif self.name == TUPLE:
            text = f"({inner})"
        elif self.name == UNION:
            text = " | ".join(map(str, self.arguments))
        else:
            text = f"{self.name}<{inner}>" if inner else self.name
        return f"{text}?" if self.nullable else text


def parse_type(text: str) -> TypeName:
    """The type that `text` spells; `TypeName("")` for none. Never raises."""
    return _parsed(text.strip())


def unwrapped(found: TypeName) -> TypeName:
    """The type inside of `Task<>`, `ActionResult<>`, `Nullable<>` and their like; nullability adds up."""
    while found.name in _WRAPPERS and found.arguments:
        inner = found.arguments[0]
        optional = found.nullable or found.name in _OPTIONALS
        found = replace(inner, nullable=True) if optional else inner
    return found


def is_collection(found: TypeName) -> bool:
    """Whether values of the type hold any number of others. A `byte[]` is one piece of data, as a string is."""
    found = unwrapped(found)
    return (found.name in _COLLECTIONS or found.name in _MAPS) and not _is_bytes(found)


def element_type(found: TypeName) -> TypeName:
    """What a collection holds (of a map: its values), through wrappers and collections of collections;
    any other type itself."""
    found = unwrapped(found)
    while is_collection(found) and found.arguments:
        found = unwrapped(found.arguments[-1])
    return found


def is_scalar(found: TypeName) -> bool:
    """Whether the type is a plain value (numbers, text, dates, ids, bytes): no business entity of its own."""
    found = unwrapped(found)
    return found.name in _SCALARS or _is_bytes(found)


def _is_bytes(found: TypeName) -> bool:
    return found.name in _BUFFERS and len(found.arguments) == 1 and found.arguments[0].name in ("byte", "Byte")


@lru_cache(maxsize=16_384)  # the distinct types of a large repository
def _parsed(text: str) -> TypeName:
    if not text or len(text) > MAX_CHARS:
        return TypeName("")
    if text.isidentifier():  # most are
        return TypeName(text)
    return _Parser(_TOKEN.findall(text)).union(0)


class _Parser:
    """A cursor over the tokens of one expression. Every step moves forward or ends, so any input ends."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def union(self, depth: int) -> TypeName:
        parts = [self._type(depth)]
        while self._take("|"):
            parts.append(self._type(depth))
        kept = [part for part in parts if part.name not in _NOTHING]
        missing = len(kept) < len(parts) and len(parts) > 1
        if not kept:
            return parts[0]
        found = kept[0] if len(kept) == 1 else TypeName(UNION, tuple(kept))
        return replace(found, nullable=True) if missing else found

    def _type(self, depth: int) -> TypeName:
        arrays = self._prefixes()
        found = self._tuple(depth) if self._take("(") else self._named(depth)
        found = self._suffixes(found)
        for _ in range(arrays):
            found = TypeName(ARRAY, (found,), array_rank=1)
        return found

    def _prefixes(self) -> int:
        """Skips modifiers and pointers before the name; the number of Go's `[]`."""
        arrays = 0
        while (token := self._peek()) is not None:
            is_modifier = token in _MODIFIERS and (self._peek(1) or ",")[0] not in _AFTER_NAME
            if is_modifier or token in "*&":
                self._at += 1
            elif token == "[":
                self._skip_brackets()
                arrays += 1
            else:
                break
        return arrays

    def _tuple(self, depth: int) -> TypeName:
        parts = self._list(")", depth)
        if len(parts) == 1:
            return parts[0]
        return TypeName(TUPLE, tuple(parts))

    def _named(self, depth: int) -> TypeName:
        qualifiers: list[str] = []
        name = ""
        arguments: tuple[TypeName, ...] = ()
        while (token := self._peek()) is not None:
            if _is_word(token) and not name:
                name, arguments = token.lstrip("@"), ()
                self._at += 1
            elif token in (".", "::") and name:
                qualifiers.append(name)
                name, arguments = "", ()
                self._at += 1
            elif token == "<" and name:
                self._at += 1
                arguments = tuple(self._list(">", depth))
            elif token == "[" and name and _is_word(self._peek(1) or ""):
                self._at += 1
                arguments = tuple(self._list("]", depth))
            else:
                break
        known = [part for part in qualifiers if part != "global"]
        if not name and known:
            name = known.pop()
        found = TypeName(name, arguments, qualifier=".".join(known))
        if name in _OPTIONALS and len(arguments) == 1:
            return replace(arguments[0], nullable=True)
        return found

    def _suffixes(self, found: TypeName) -> TypeName:
        while (token := self._peek()) is not None:
            if token == "?":
                found = replace(found, nullable=True)
                self._at += 1
            elif token == "[":
                found = TypeName(ARRAY, (found,), array_rank=self._skip_brackets())
            elif token in "*&!":
                self._at += 1
            else:
                break
        return found

    def _list(self, closer: str, depth: int) -> list[TypeName]:
        """Types up to `closer`, which is taken; what follows a type before the comma (a tuple name) is skipped."""
        parts: list[TypeName] = []
        open_brackets = 0
        while (token := self._peek()) is not None:
            if not open_brackets and token == closer:
                self._at += 1
                break
            before = self._at
            if not open_brackets and depth < MAX_DEPTH:
                part = self.union(depth + 1)
                if part.name:
                    parts.append(part)
            while (token := self._peek()) is not None and (open_brackets or token not in (",", closer)):
                open_brackets += (token in _OPENERS) - (token in _CLOSERS and open_brackets > 0)
                self._at += 1
            self._take(",")
            if self._at == before and self._peek() != closer:
                self._at += 1
        return parts

    def _skip_brackets(self) -> int:
        """Skips a balanced `[…]`; one more than the commas in it."""
        level, rank = 0, 1
        while (token := self._peek()) is not None:
            self._at += 1
            level += (token == "[") - (token == "]")
            rank += token == ","
            if level == 0:
                break
        return rank

    def _peek(self, ahead: int = 0) -> str | None:
        index = self._at + ahead
        return self._tokens[index] if index < len(self._tokens) else None

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True


def _is_word(token: str) -> bool:
    return bool(token) and (token[0].isalnum() or token[0] in "_@$")


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_TOKEN = re.compile(r"[@\w$]+|::|[^\s\w]")
_OPENERS = frozenset("<[({")
_CLOSERS = frozenset(">])}")
_AFTER_NAME = frozenset("<>[](),.?:|*&!")
_MODIFIERS = _words("ref out in params scoped readonly this const final")
_NOTHING = _words("null None undefined")
_OPTIONALS = _words("Nullable Optional Option")
_WRAPPERS = _OPTIONALS | _words(
    "Task ValueTask ActionResult Lazy InvokeResult Promise Awaitable Coroutine CompletableFuture Future Mono"
)
_BUFFERS = frozenset((ARRAY, "Memory", "ReadOnlyMemory", "Span", "ReadOnlySpan"))
_COLLECTIONS = _words(
    f"{ARRAY} List IList ICollection IReadOnlyList IReadOnlyCollection IEnumerable IAsyncEnumerable IQueryable "
    "HashSet ISet IReadOnlySet SortedSet FrozenSet Queue Stack LinkedList PriorityQueue ArrayList ArraySegment "
    "Collection ObservableCollection ReadOnlyCollection ReadOnlyObservableCollection BindingList BlockingCollection "
    "ConcurrentBag ConcurrentQueue ConcurrentStack IProducerConsumerCollection IOrderedEnumerable IOrderedQueryable "
    "ImmutableArray ImmutableList ImmutableHashSet ImmutableSortedSet ImmutableQueue ImmutableStack "
    "IImmutableList IImmutableSet EnumerableQuery DbSet IDbSet Memory ReadOnlyMemory Span ReadOnlySpan "
    "ListResponse PagedList IPagedList PaginatedList "
    "list set frozenset deque Sequence Iterable Iterator Set MutableSequence Flux Vec "
    "IEnumerator IAsyncEnumerator AsyncIterator AsyncIterable ReadonlyArray"
)
_MAPS = _words(
    "Dictionary IDictionary IReadOnlyDictionary ConcurrentDictionary SortedDictionary SortedList FrozenDictionary "
    "ImmutableDictionary ImmutableSortedDictionary IImmutableDictionary ReadOnlyDictionary OrderedDictionary ILookup "
    "Lookup KeyedCollection dict Mapping MutableMapping defaultdict Map HashMap TreeMap LinkedHashMap Record"
)
_SCALARS = _words(
    "bool byte sbyte char decimal double float short ushort int uint long ulong nint nuint string object dynamic void "
    "Boolean Byte SByte Char Decimal Double Single Half Int16 UInt16 Int32 UInt32 Int64 UInt64 Int128 UInt128 IntPtr "
    "UIntPtr BigInteger String Object Void DateTime DateTimeOffset DateOnly TimeOnly TimeSpan Guid Uri Version Type "
    "CultureInfo CancellationToken Stream JsonElement JsonNode JToken JObject JsonDocument XElement XDocument "
    "IPAddress str bytes Any None datetime date time timedelta UUID boolean number bigint any unknown never Date "
    "Integer Long Float Short Character Number Instant LocalDate LocalDateTime OffsetDateTime Duration BigDecimal "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 rune error null undefined"
)
