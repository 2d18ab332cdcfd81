"""Where code uses the texts of resource files: one pass with one compiled pattern over each text.

Read as usages are `Class.Key`, `Class.Names.Key` (also inside `nameof`) and, where only one family of the label has
such a key, the string of `Localizer["Key"]` and `GetString("Key")`. A key that is put together at run time is not seen.
Of several families of one class name the nearest that has the key is meant, as in the dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_assets.contracts.segment import LineIndex
from rag_assets.dependency_trace import tracked
from rag_assets.languages.documents.resx import (
    StaticResourceDictionary,
    family_of,
    nearest_families,
    resource_class_of,
)

_NO_IDENTIFIER = re.compile(r"\W")
_BY_STRING = re.compile(r'(?<!\w)(\w++)\s*+([\[(])\s*+@?"([^"\\\r\n]++)"')
_LOCALIZER = re.compile(r"[Ll]ocali[sz]er")
_SHORT_LOCALIZERS = frozenset({"L", "_L", "T", "_T"})
_METHODS = frozenset({"GetString", "GetLocalizedString", "GetText"})
_LOCALIZER_OF = re.compile(r"\bI(?:String|Html|View)Locali[sz]er\s*<\s*(?:\w+\s*\.\s*)*(\w+)\s*>")
_MANAGER_OF = re.compile(r"(?<!\w)(\w{1,100})\s*\.\s*ResourceManager\s*\.\s*\Z")
_HINTS = ("ocalizer", "ocaliser", "GetString", "GetLocalizedString", "GetText", "L[", "T[")
"""One of these stands in every text that `_BY_STRING` can match: cheaper to look for than the pattern."""
_COMMENT_STARTS = ("//", "*", "/*")


@dataclass(frozen=True, slots=True, order=True)
class ResourceUse:
    """A line of code that uses a key of a family (see `family_of`)."""

    family: str
    key: str
    path: str
    line: int


class ResourceUsages:
    """The usages of all keys of a label. Picklable, mergeable, independent of order."""

    def __init__(self, usages: Iterable[ResourceUse] = ()) -> None:
        self._found: dict[tuple[str, str], set[tuple[str, int]]] = {}
        self.merge(usages)

    def merge(self, usages: Iterable[ResourceUse]) -> None:
        for usage in usages:
            self._found.setdefault((usage.family, usage.key), set()).add((usage.path, usage.line))

    @tracked("resources.usages")
    def of(self, family: str, key: str) -> tuple[str, ...]:
        """`path:line` of every line that uses the key, sorted."""
        return tuple(f"{path}:{line}" for path, line in sorted(self._found.get((family, key), ())))

    def __len__(self) -> int:
        return sum(map(len, self._found.values()))


class UsageScanner:
    """Finds the usages of the keys of a dictionary that has all its files."""

    def __init__(self, resources: StaticResourceDictionary) -> None:
        self._families = {name: frozenset(found) for name, found in resources.families.items()}
        self._classes = tuple(sorted(resources.families, key=lambda name: (-len(name), name)))
        names = "|".join(map(re.escape, self._classes))
        self._member = re.compile(rf"(?<!\w)({names})\s*+\.\s*+(?:Names\s*+\.\s*+)?@?(\w++)") if names else None
        families = [family for found in resources.families.values() for family in found]
        self._keys = {family: _identifiers(resources, family) for family in families}
        self._having: dict[str, list[str]] = {}
        for family in sorted(families):
            for key in resources.keys_of(family):
                self._having.setdefault(key, []).append(family)

    def scan(self, path: str, text: str) -> tuple[ResourceUse, ...]:
        """The usages in one text, sorted. Pure; linear in the length of the text."""
        lines: LineIndex | None = None
        found: set[ResourceUse] = set()
        for offset, family, key in (*self._members(path, text), *self._strings(path, text)):
            if not _is_comment(text, offset):
                lines = lines or LineIndex(text)
                found.add(ResourceUse(family, key, path, lines.line_of(offset)))
        return tuple(sorted(found))

    def _members(self, path: str, text: str) -> Iterator[tuple[int, str, str]]:
        if self._member is None or not any(name in text for name in self._classes):
            return
        meant: dict[tuple[str, str], str] = {}
        for match in self._member.finditer(text):
            name, identifier = match.groups()
            if (name, identifier) not in meant:
                having = [family for family in sorted(self._families[name]) if identifier in self._keys[family]]
                meant[name, identifier] = _only_nearest(having, path)
            family = meant[name, identifier]
            key = self._keys[family][identifier] if family else ""
            if key:
                yield match.start(), family, key

    def _strings(self, path: str, text: str) -> Iterator[tuple[int, str, str]]:
        if not self._having or not any(hint in text for hint in _HINTS):
            return
        named = {found[1] for found in _LOCALIZER_OF.finditer(text)}
        for match in _BY_STRING.finditer(text):
            name, bracket, key = match.groups()
            families = self._having.get(key, [])
            if not families or not _looks_up_a_text(name, bracket):
                continue
            manager = _MANAGER_OF.search(text, max(0, match.start() - 200), match.start())
            if len(families) > 1:
                classes = {manager[1]} if manager else named
                families = sorted({self._nearest_of(name, families, path) for name in classes} - {""})
            if len(families) == 1:
                yield match.start(), families[0], key

    def _nearest_of(self, name: str, having: list[str], path: str) -> str:
        own = self._families.get(name, frozenset())
        return _only_nearest([family for family in having if family in own], path)


def usages_of(texts: Iterable[tuple[str, str]], resources: StaticResourceDictionary) -> ResourceUsages:
    """The usages in all texts (path, text): what a small label needs."""
    scanner = UsageScanner(resources)
    usages = ResourceUsages()
    for path, text in texts:
        usages.merge(scanner.scan(path, text))
    return usages


def _identifiers(resources: StaticResourceDictionary, family: str) -> dict[str, str]:
    """Property of the generated class → key; '' for a property that is no text."""
    found = {_identifier(key): "" for key in resources.not_texts_of(family)}
    return found | {_identifier(key): key for key in sorted(resources.keys_of(family))}


def _only_nearest(families: list[str], path: str) -> str:
    """The one nearest family; '' when there is none or no telling."""
    nearest = nearest_families(families, path)
    return nearest[0] if len(nearest) == 1 else ""


def _looks_up_a_text(name: str, bracket: str) -> bool:
    if bracket == "(":
        return name in _METHODS
    return name in _SHORT_LOCALIZERS or _LOCALIZER.search(name) is not None


def _identifier(key: str) -> str:
    """The name of the property that the generator makes of a key."""
    name = _NO_IDENTIFIER.sub("_", key)
    return f"_{name}" if name[:1].isdigit() else name


def _is_comment(text: str, offset: int) -> bool:
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    return text[start:offset].lstrip().startswith(_COMMENT_STARTS)


class ResourceSymbols:
    """Answers which texts of the label's resource files some lines of code use. Picklable."""

    def __init__(self, resources: StaticResourceDictionary) -> None:
        self._resources = resources
        self._scanner: UsageScanner | None = None

    def __getstate__(self) -> StaticResourceDictionary:
        return self._resources

    def __setstate__(self, state: StaticResourceDictionary) -> None:
        self._resources = state
        self._scanner = None

    @tracked("resources.classes")
    def classes(self) -> tuple[str, ...]:
        """The simple names of all resource classes, sorted."""
        return tuple(sorted(self._resources.families))

    @tracked("resources.used")
    def used(self, path: str, lines: tuple[str, ...]) -> tuple[tuple[int, str, str], ...]:
        """(index of the line, path of the resource file, key) of every text that `lines` of a file use, sorted."""
        if self._scanner is None:
            self._scanner = UsageScanner(self._resources)
        found = self._scanner.scan(path, "\n".join(lines))
        return tuple(sorted((usage.line - 1, self._file_of(usage.family), usage.key) for usage in found))

    @tracked("resources.neutral")
    def neutral(self, path: str) -> str:
        """The path of the neutral file beside a localized one, '' for none and for the neutral file itself."""
        family = family_of(path)
        is_localized = bool(resource_class_of(path)[1]) and "" in self._resources.cultures_of(family)
        return f"{family}{'.resx'}" if is_localized else ""

    @tracked("resources.neutral_keys")
    def neutral_keys(self, path: str) -> frozenset[str]:
        """The keys of the neutral file of a family."""
        return self._resources.keys_of(family_of(path), "")

    def _file_of(self, family: str) -> str:
        """The neutral file of a family, else that of its first culture."""
        culture = next(iter(self._resources.cultures_of(family)), "")
        return f"{family}.{culture}{'.resx'}" if culture else f"{family}{'.resx'}"
