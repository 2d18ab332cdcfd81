"""RESX: entries with key, value and comment, and the texts of a label by (resource class, key, culture).

No XML parser is involved: an entity is never expanded beyond the five of XML and character references, a file
with errors keeps the entries that can be read, and every entry keeps its exact range.

A family is one resource class in one folder: its neutral file and the files of its cultures. Class names are unique
in a folder only, so whoever asks may say from where (`near`): the family of the nearest folder is meant, as the
namespaces of generated classes follow folders. A family without the key is not meant: code that compiles names the
one that has it. Collisions are reported, never merged silently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from rag_assets.contracts.result import InvokeResult, Message
from rag_assets.contracts.segment import LineIndex, Member, MemberKind, ParseHealth, Segment, SegmentedFile
from rag_assets.dependency_trace import tracked
from rag_assets.languages.detection import file_stem

_ENTRY_OR_COMMENT = re.compile(r"<!--|<!\[CDATA\[|<data(?=[\s/>])")
_END_OF_ENTRY = re.compile(r"</data\s*>|<!\[CDATA\[|<data(?=[\s/>])")
_TAG_END = re.compile(r"""(?:[^"'>]|"[^"]*+"|'[^']*+')*+>""")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_CHILD = re.compile(r"<(value|comment)(?:\s[^<>]*)?>")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_REFERENCE = re.compile(r"&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


def segment_resx(text: str, path: str, language: str) -> SegmentedFile:
    """One segment of kind `resource`; each `<data>` is a PROPERTY: name = key, value = text, doc = comment.

    The value of a file reference or a serialised object (an entry with `type` or `mimetype`) stays empty.
    """
    lines = LineIndex(text)
    members = []
    unclosed = 0
    for start, head, end, closed in _entries(text):
        unclosed += not closed
        members.append(_member(text, lines, start, head, end))
    name = file_stem(path)
    health = ParseHealth.PARTIAL if unclosed or not members else ParseHealth.OK
    segment = Segment(
        name=name,
        symbol=path or name,
        kind="resource",
        span=lines.span(0, len(text)),
        language=language,
        ordinal=0,
        members=tuple(members),
        health=health,
    )
    detail = f"{unclosed} unclosed entries" if unclosed else "" if members else "no <data> entries"
    return SegmentedFile((segment,), health, detail)


def _entries(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """(start, end of the start tag, end, closed) of each entry that is not inside a comment."""
    position = 0
    while found := _ENTRY_OR_COMMENT.search(text, position):
        if found[0] != "<data":
            end = text.find("-->" if found[0] == "<!--" else "]]>", found.end())
            if end == -1:
                return
            position = end
            continue
        head = _TAG_END.match(text, found.end())
        if head is None:
            return
        if text[head.end() - 2] == "/":
            position = head.end()
            yield found.start(), head.end(), position, True
            continue
        position, closed = _entry_end(text, head.end())
        yield found.start(), head.end(), position, closed


def _entry_end(text: str, position: int) -> tuple[int, bool]:
    while found := _END_OF_ENTRY.search(text, position):
        if found[0] == "<data":  # the entry before was never closed
            return found.start(), False
        if found[0] != "<![CDATA[":
            return found.end(), True
        end = text.find("]]>", found.end())
        if end == -1:
            break
        position = end
    return len(text), False


def _member(text: str, lines: LineIndex, start: int, head: int, end: int) -> Member:
    attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(text[start:head])}
    kind = _plain(attributes.get("type") or attributes.get("mimetype", ""))
    key = _plain(attributes.get("name", ""))
    children = dict(_children(text[head:end]))
    value = "" if kind else children.get("value", "")
    return Member(
        name=key,
        kind=MemberKind.PROPERTY,
        type=kind,
        signature=f"{key} = {' '.join(value.split())}" if value else key,
        span=lines.span(start, end),
        doc=children.get("comment", "").strip(),
        value=value,
    )


def _children(content: str) -> Iterator[tuple[str, str]]:
    position = 0
    while found := _CHILD.search(content, position):
        if found[0].endswith("/>"):
            position = found.end()
            continue
        end = content.find(f"</{found[1]}", found.end())
        if end == -1:
            end = len(content)
        yield found[1], _plain(content[found.end() : end])
        position = end


def _plain(raw: str) -> str:
    """Character data as text: CDATA taken out, the references of XML decoded once."""
    if "<![CDATA[" not in raw:
        return _REFERENCE.sub(_decoded, raw) if "&" in raw else raw
    parts = _CDATA.split(raw)  # outside, inside, outside, …
    return "".join(part if index % 2 else _REFERENCE.sub(_decoded, part) for index, part in enumerate(parts))


def _decoded(found: re.Match[str]) -> str:
    if found[3]:
        return _ENTITIES[found[3]]
    code = int(found[1]) if found[1] else int(found[2], 16)
    is_character = 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code) if is_character else found[0]


_CULTURE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Z]{2}|[0-9]{3}))?")
"""`de`, `de-DE`, `zh-Hans-CN`: the forms that .NET uses in file names."""


@dataclass(frozen=True, slots=True)
class Collision:
    """One (class, key, culture) with different values: `kept` was there first, `refused` came from `path`."""

    resource_class: str
    key: str
    culture: str
    kept: str
    refused: str
    path: str


class StaticResourceDictionary:
    """`IResourceDictionary` over resource files that were read before; the caller adds them in path order."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], dict[str, str]] = {}  # (family, culture) → key → text
        self._not_texts: set[tuple[str, str]] = set()  # (family, key) of file references and serialised objects
        self._families: dict[str, list[str]] = {}  # simple class name → families, in the order they came
        self._cultures: dict[str, set[str]] = {}
        self.collisions: list[Collision] = []

    @tracked("resources.text")
    def text(self, resource_class: str, key: str, culture: str = "") -> str | None:
        """The text of exactly this culture ('' is the neutral one), or None. Where several folders have such a class
        the first that was added has it; see `resolve`."""
        for family in self._families.get(_simple(resource_class), ()):
            found = self._texts.get((family, culture), {}).get(key)
            if found is not None:
                return found
        return None

    @tracked("resources.resolve")
    def resolve(self, resource_class: str, key: str, culture: str = "", near: str = "") -> InvokeResult[str]:
        """The text of a key as .NET finds it (`de-DE`, `de`, neutral), or the key itself with a warning.

        `resource_class` may be qualified; `near` is the path of the file that asks. Always successful.
        """
        families = self._nearest(resource_class, near, key)
        if not families:
            return _without(key, "RESX.unknown-class", f"no resource file of class {resource_class} for key {key}")
        found = [known for family in families if (known := self._text_of(family, key, culture)) is not None]
        if not found:
            if any((family, key) in self._not_texts for family in families):
                return _without(key, "RESX.not-text", f"{resource_class}.{key} is a file or an object, not a text")
            return _without(key, "RESX.missing-key", f"{families[0]}.resx has no key {key}")
        warnings = []
        if len({text for text, _ in found}) > 1:
            several = ", ".join(f"{family}.resx" for family in families)
            warnings.append(
                Message("RESX.ambiguous", f"{resource_class}.{key} differs in {several}; the first is used")
            )
        text, used = found[0]
        if used != culture:
            missing = f"{families[0]}.resx has no {culture} text for {key}; {used or 'the neutral culture'} is used"
            warnings.append(Message("RESX.missing-culture", missing))
        return InvokeResult.create(text, warnings)

    def add(self, resource_class: str, key: str, value: str, culture: str = "", path: str = "") -> None:
        """The first value of a key stays; a different one later is a Collision, in another folder too."""
        family = family_of(path) if path else resource_class
        self._register(resource_class, family, culture)
        kept = self.text(resource_class, key, culture)
        if kept is not None and kept != value:
            self.collisions.append(Collision(resource_class, key, culture, kept, value, path))
        self._texts.setdefault((family, culture), {}).setdefault(key, value)

    def add_file(self, path: str, segments: Iterable[Segment]) -> None:
        """The entries of a segmented resource file; what is no text is known by its key only."""
        resource_class, culture = resource_class_of(path)
        family = family_of(path)
        self._register(resource_class, family, culture)
        for segment in segments:
            for member in segment.members:
                if member.kind is not MemberKind.PROPERTY or not member.name:
                    continue
                if member.type:
                    self._not_texts.add((family, member.name))
                else:
                    self.add(resource_class, member.name, member.value, culture, path)

    @property
    def families(self) -> dict[str, tuple[str, ...]]:
        """Simple class name → its families (paths without culture and extension)."""
        return {name: tuple(found) for name, found in self._families.items()}

    @tracked("resources.keys_of")
    def keys_of(self, family: str, culture: str | None = None) -> frozenset[str]:
        """The keys of a family with a text in one culture, or in any."""
        cultures = self.cultures_of(family) if culture is None else (culture,)
        return frozenset(key for c in cultures for key in self._texts.get((family, c), ()))

    @tracked("resources.cultures_of")
    def cultures_of(self, family: str) -> tuple[str, ...]:
        """The cultures of a family, sorted; '' is the neutral one."""
        return tuple(sorted(self._cultures.get(family, ())))

    @tracked("resources.not_texts_of")
    def not_texts_of(self, family: str) -> frozenset[str]:
        """The keys of a family that are file references or serialised objects."""
        return frozenset(key for owner, key in self._not_texts if owner == family)

    def _register(self, resource_class: str, family: str, culture: str) -> None:
        self._cultures.setdefault(family, set()).add(culture)
        known = self._families.setdefault(_simple(resource_class), [])
        if family not in known:
            known.append(family)

    def _nearest(self, resource_class: str, near: str, key: str) -> list[str]:
        """The families of a class that are equally near: by the namespace it is written with, then by folder among
        those that have the key; where none has it, among all."""
        families = self._families.get(_simple(resource_class), [])
        if len(families) < 2:
            return families
        if "." in resource_class:
            families = _best(families, [_same_end(family, resource_class) for family in families])
        families = [family for family in families if self._has(family, key)] or families
        return nearest_families(families, near) if near else families

    def _has(self, family: str, key: str) -> bool:
        if (family, key) in self._not_texts:
            return True
        return any(key in self._texts.get((family, culture), ()) for culture in self._cultures.get(family, ()))

    def _text_of(self, family: str, key: str, culture: str) -> tuple[str, str] | None:
        """(text, culture that has it) of a key, looked for as .NET does."""
        while True:
            found = self._texts.get((family, culture), {}).get(key)
            if found is not None:
                return found, culture
            if not culture:
                return None
            culture = culture.rpartition("-")[0]


def resource_class_of(path: str) -> tuple[str, str]:
    """(resource class, culture) of a file: `Resources/Orders.de-DE.resx` → (`Orders`, `de-DE`)."""
    stem = path.rsplit("/", 1)[-1].rpartition(".")[0]
    name, dot, culture = stem.rpartition(".")
    return (name, culture) if dot and _CULTURE.fullmatch(culture) else (stem, "")


@lru_cache(maxsize=1_024)
def family_of(path: str) -> str:
    """The path of a resource file without culture and extension: what its cultures have in common."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{resource_class_of(path)[0]}"


def nearest_families(families: list[str], near: str) -> list[str]:
    """Those of the families whose folders have most in common with that of the file `near`."""
    return _best(families, [_same_start(family, near) for family in families]) if len(families) > 1 else families


def _simple(resource_class: str) -> str:
    return resource_class.rpartition(".")[2]


def _without(key: str, code: str, text: str) -> InvokeResult[str]:
    return InvokeResult.create(key, [Message(code, text)])


def _best(families: list[str], scores: list[int]) -> list[str]:
    best = max(scores)
    return [family for family, score in zip(families, scores, strict=True) if score == best]


def _same_start(family: str, path: str) -> int:
    """How many folders two paths have in common."""
    return _same_first(family.split("/")[:-1], path.split("/")[:-1])


def _same_end(family: str, qualified: str) -> int:
    """How many parts of a qualified name the path of a family ends with."""
    return _same_first(family.replace("/", ".").split(".")[::-1], qualified.split(".")[::-1])


def _same_first(ones: list[str], others: list[str]) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(ones, others, strict=False))
    return sum(1 for _ in same)
