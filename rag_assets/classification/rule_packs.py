"""Rule packs: classification rules as data, validated by one typed model, selected and extended by name.

A pack is a YAML file. `extends` names the packs it builds on; a rule with the name of an inherited rule
replaces it; the rules of all selected packs are merged by `order`, later packs first where orders are equal.
`kinds` declares kinds beyond the built-in ones. Installed packages offer packs by name through an entry point.

The two small pattern languages of rule packs and settings: names with one `*`, and path globs.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from rag_assets.contracts.kinds import Kind, checked_kind, known_kind
from rag_assets.entry_points import offered
from rag_assets.errors import RagAssetsError
from rag_assets.languages.detection import SourceType
from rag_assets.settings.base import Strict
from rag_assets.settings.validation_messages import Location, kind_of
from rag_assets.settings.yaml_loader import InvalidFileError, Node, load_model, parse_yaml
from rag_assets.suggestions import nearest


class PatternError(RagAssetsError, ValueError):
    """A pattern nobody can mean; the text quotes it."""


NameTest = Callable[[str], bool]


def name_test(patterns: Iterable[str]) -> NameTest:
    """Whether a name matches any of `Exact`, `*Suffix`, `Prefix*`, `I*Manager`: case-sensitive, at most one `*`.

    Raises PatternError for an empty pattern or more than one `*`.
    """
    found = tuple(patterns)
    for pattern in found:
        if not pattern or pattern.count("*") > 1:
            raise PatternError(f"name pattern {pattern!r}: expected a name with at most one '*'")
    exact = frozenset(pattern for pattern in found if "*" not in pattern)
    wild = [pattern.split("*") for pattern in found if "*" in pattern]
    suffixes = tuple(suffix for prefix, suffix in wild if not prefix)
    affixes = tuple((prefix, suffix, len(prefix) + len(suffix)) for prefix, suffix in wild if prefix)
    # Every segment runs through dozens of these tests, so the two common shapes need no loop.
    if not wild:
        return exact.__contains__
    if not affixes and not exact:
        return lambda name: name.endswith(suffixes)

    def test(name: str) -> bool:
        if name in exact or name.endswith(suffixes):
            return True
        for prefix, suffix, shortest in affixes:
            if name.startswith(prefix) and name.endswith(suffix) and len(name) >= shortest:
                return True
        return False

    return test


@lru_cache(maxsize=1024)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """A path glob as a compiled pattern for `fullmatch`, case-insensitive as repository paths are on most desktops.

    `*` and `?` stay inside one folder, `**` spans folders, a trailing `/` means everything below. A glob
    without `/` matches the file name in any folder, as in `.gitignore`. Raises PatternError when empty.
    """
    if not glob.strip("/"):
        raise PatternError(f"path glob {glob!r}: expected a path or a file name")
    anchored = glob.lstrip("/")
    if anchored.endswith("/"):
        anchored += "**"
    if "/" not in glob:
        anchored = f"**/{anchored}"
    parts: list[str] = []
    position = 0
    while position < len(anchored):
        if anchored.startswith("**/", position):
            parts.append("(?:.*/)?")
            position += 3
        elif anchored.startswith("**", position):
            parts.append(".*")
            position += 2
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(anchored[position]) or re.escape(anchored[position]))
            position += 1
    return re.compile("".join(parts), re.IGNORECASE | re.DOTALL)


def path_matches(glob: str, path: str) -> bool:
    """Whether a '/'-separated repository path matches a glob (see `glob_pattern`)."""
    return glob_pattern(glob).fullmatch(path) is not None


PACK_SUFFIX = ".yaml"
ENTRY_POINT_GROUP = "rag_assets.rule_packs"
"""A package offers a rule pack under the name of an entry point of this group, which refers to the YAML file:
`PACK = importlib.resources.files(__package__) / "acme.yaml"`."""

_FOLDER = resources.files("rag_assets.classification") / "packs"


class PackError(RagAssetsError):
    """A rule pack that cannot be used; the text names the pack, the place and what is wrong."""


def _name_patterns(values: tuple[str, ...]) -> tuple[str, ...]:
    name_test(values)
    return values


def _globs(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        glob_pattern(value)
    return values


def _expression(value: str) -> str:
    try:
        re.compile(value, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return value


Text = Annotated[str, Field(min_length=1)]
Words = Annotated[tuple[Text, ...], Field(min_length=1)]
Names = Annotated[Words, AfterValidator(_name_patterns)]
KindName = Annotated[Kind, AfterValidator(checked_kind)]
Globs = Annotated[Words, AfterValidator(_globs)]


class Condition(Strict):
    """Tests that must all hold. Names are compared without qualification, arguments, generics and `Attribute`."""

    language_in: Words | None = None
    source_type_in: tuple[SourceType, ...] | None = None
    declaration_in: Words | None = Field(default=None, description="class, interface, enum, record, program …")
    name_matches: Names | None = None
    namespace_matches: Names | None = Field(default=None, description="the whole namespace")
    namespace_part_matches: Names | None = Field(default=None, description="any dotted part of the namespace")
    folder_matches: Names | None = Field(default=None, description="the name of any folder of the path")
    path_matches: Globs | None = None
    attribute_matches: Names | None = Field(default=None, description="on the type")
    attribute_any: Names | None = Field(default=None, description="on the type or a member")
    base_matches: Names | None = Field(default=None, description="base type, by name; interfaces do not count")
    implements_matches: Names | None = Field(default=None, description="entries of the base list named I…")
    has_property_of_type: Names | None = Field(default=None, description="a property that others may read")
    calls_any: Words | None = Field(default=None, description="methods called as `.Name(` in the segment's text")
    head_matches: Annotated[Text, AfterValidator(_expression)] | None = Field(
        default=None, description="regular expression over the first lines of the file"
    )
    static_with_this_parameters: bool | None = None
    only_data_members: bool | None = None
    persisted: bool | None = Field(default=None, description="another type of the label says how it is stored")
    implements_own_interface: bool | None = Field(default=None, description="IOrderMailer of OrderMailer")
    shares_role_of_interface: bool | None = Field(default=None, description="ends in the last word of an interface")
    identity_property: bool | None = Field(default=None, description="a property Id or OrderId that can be set")
    unless: Condition | None = None

    @model_validator(mode="after")
    def _tests_something(self) -> Condition:
        if all(getattr(self, name) is None for name in type(self).model_fields if name != "unless"):
            raise ValueError("a condition needs at least one test besides `unless`")
        return self


class Rule(Strict):
    """A kind and its conditions; any one of them is enough."""

    name: Text
    order: int
    kind: KindName
    reason: Text
    any: Annotated[tuple[Condition, ...], Field(min_length=1)]


class RulePack(Strict):
    name: Text
    description: Text
    extends: tuple[Text, ...] = ()
    kinds: tuple[KindName, ...] = Field(default=(), description="kinds that this pack adds to the built-in ones")
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _rule_names_are_unique(self) -> RulePack:
        names = [rule.name for rule in self.rules]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"rule names used twice: {', '.join(repeated)}")
        return self


def built_in_packs() -> tuple[str, ...]:
    """The names of the packs that come with rag_assets."""
    return tuple(sorted(e.name.removesuffix(PACK_SUFFIX) for e in _FOLDER.iterdir() if e.name.endswith(PACK_SUFFIX)))


def built_in_fingerprint() -> str:
    """12 hex digits over the built-in packs: part of the classifier's version."""
    digest = hashlib.sha256()
    for name in built_in_packs():
        text = (_FOLDER / f"{name}{PACK_SUFFIX}").read_text(encoding="utf-8")  # text: line endings do not count
        digest.update(f"{name}\n{text}\0".encode())
    return digest.hexdigest()[:12]


def load_pack(reference: str) -> RulePack:
    """A pack by name, built in or installed, or by the path of a `.yaml` file of the user. Raises PackError."""
    if not reference.endswith(PACK_SUFFIX):
        return _load_built_in(reference) if reference in built_in_packs() else _load_installed(reference)
    try:
        text = Path(reference).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PackError(f"rule pack {reference}: {error}") from error
    return parse_pack(text, reference)


@cache
def _load_built_in(name: str) -> RulePack:
    return parse_pack((_FOLDER / f"{name}{PACK_SUFFIX}").read_text(encoding="utf-8"), name)


@cache
def _load_installed(name: str) -> RulePack:
    installed = {point.name: point for point in offered(ENTRY_POINT_GROUP)}
    if name not in installed:
        known = (*built_in_packs(), *sorted(installed))
        raise PackError(
            f"no rule pack {name!r}{nearest(name, known, 'there are')}; a pack of your own is named by its .yaml path"
        )
    origin = f"{name} ({ENTRY_POINT_GROUP}: {installed[name].value})"
    try:
        text = installed[name].load().read_text(encoding="utf-8")
    except (ImportError, AttributeError, OSError, TypeError, UnicodeDecodeError) as error:
        raise PackError(f"rule pack {origin}: {error}") from error
    pack = parse_pack(text, origin)
    if pack.name != name:
        raise PackError(f"rule pack {origin}: its name is {pack.name!r}; give the entry point the same name")
    return pack


def parse_pack(text: str, origin: str) -> RulePack:
    """The pack in a YAML text. Raises PackError naming `origin`, the line, the rule and the key of each problem."""
    try:
        root = parse_yaml(text, f"rule pack {origin}")
        if not root.is_mapping:
            raise PackError(f"{root.mark}: expected a mapping at the top, found {kind_of(root.plain)}")
        return load_model(RulePack, root.plain, root, named=lambda location: _rule_name(location, root))
    except InvalidFileError as error:
        raise PackError(str(error)) from error


def _rule_name(location: Location, root: Node) -> str:
    """`rule 'test-name': ` for a problem inside a rule that has a name."""
    if len(location) < 2 or location[0] != "rules":
        return ""
    rule = root.at(location[:2])
    name = rule.value.get("name") if rule.is_mapping else None
    return f"rule {name.value!r}: " if name is not None and "rules" in root.value else ""


@dataclass(frozen=True, slots=True)
class MergedPacks:
    """The rules of several packs, each with its pack, in the order they are tried, and the kinds the packs declare."""

    rules: tuple[tuple[RulePack, Rule], ...]
    kinds: tuple[Kind, ...]


def merged_packs(references: tuple[str, ...]) -> MergedPacks:
    """The selected packs and what they extend.

    Raises PackError for an unknown pack, a cycle of `extends`, a rule for a kind nobody declares, or no pack at all.
    """
    if not references:
        raise PackError("no rule pack selected; `rule_packs: [generic]` is the default")
    packs: dict[str, RulePack] = {}
    for reference in references:
        _collect(reference, packs, ())
    position = {name: index for index, name in enumerate(packs)}
    winners: dict[str, tuple[RulePack, Rule, int]] = {}
    for pack in packs.values():
        for index, rule in enumerate(pack.rules):
            winners[rule.name] = (pack, rule, index)
    ordered = sorted(winners.values(), key=lambda found: (found[1].order, -position[found[0].name], found[2]))
    kinds = tuple(dict.fromkeys(kind for pack in packs.values() for kind in pack.kinds))
    for pack, rule, _ in ordered:
        require_kind(rule.kind, kinds, f"rule pack {pack.name}: rule {rule.name!r}")
    return MergedPacks(tuple((pack, rule) for pack, rule, _ in ordered), kinds)


def require_kind(kind: Kind, declared: tuple[Kind, ...], where: str) -> None:
    """Raises PackError, starting with `where`, for a kind that is neither built in nor declared, case included."""
    try:
        spelled = known_kind(kind, declared)
    except ValueError as error:
        raise PackError(f"{where}: {error}; a kind of your own is declared under `kinds:` of a rule pack") from error
    if spelled != kind:
        raise PackError(f"{where}: unknown kind {kind!r}; did you mean {spelled}?")


def _collect(reference: str, packs: dict[str, RulePack], path: tuple[str, ...]) -> None:
    """Adds a pack after everything it extends."""
    pack = load_pack(reference)
    if pack.name in path:
        raise PackError(f"rule packs extend each other in a circle: {' → '.join((*path, pack.name))}")
    for parent in pack.extends:
        _collect(parent, packs, (*path, pack.name))
    known = packs.setdefault(pack.name, pack)
    if known != pack:
        raise PackError(f"two different rule packs are named {pack.name!r}; rename the one in {reference}")
