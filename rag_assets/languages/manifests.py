"""Manifests: which packages a project of Python, JavaScript, Unity, Go, Java, Rust, Ruby, PHP, Elixir, Swift, Dart,
Haskell, C++ (vcpkg, CMake), Scala, Clojure, Julia, Zig or .NET Framework says that it uses itself.

Lock files, which also have the packages of packages, are none. What cannot be read is left out: a manifest that no
parser takes has what stands before the error, or nothing.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from xml.parsers import expat

from rag_assets.contracts.segment import LineIndex
from rag_assets.languages.detection import manifest_format

_MOST_CHARACTERS = 1 << 20  # a manifest of thousands of packages has a tenth of it
_MOST_OF_INI = 1 << 16  # its parser takes a minute for a million characters of errors
_LONGEST_NAME = 256

NPM, PYPI, GO, MAVEN = "npm", "pypi", "golang", "maven"
CARGO, GEM, COMPOSER, NUGET = "cargo", "gem", "composer", "nuget"
HEX, SWIFT, PUB, VCPKG, HACKAGE, CMAKE = "hex", "swift", "pub", "vcpkg", "hackage", "cmake"
JULIA, ZIG = "julia", "zig"
"""Where packages come from, as package URLs (ECMA-427) call it."""


@dataclass(frozen=True, slots=True)
class UsedPackage:
    """A package that a manifest names: `name` is the one of its ecosystem, `called` what people say for it, `version`
    what is asked for, as it is written; `line` is 1-based."""

    ecosystem: str
    name: str
    called: str
    version: str
    line: int


def packages_in(path: str, text: str) -> Iterator[UsedPackage]:
    """The packages of a manifest in the order of its text; nothing of any other file. Never raises for any text."""
    if (form := manifest_format(path)) and len(text) <= _MOST_CHARACTERS:
        with suppress(ValueError, RecursionError, configparser.Error, expat.ExpatError):
            words = dict[str, int]()
            for one in _READERS[form](text):
                if len(one.name) <= _LONGEST_NAME:
                    if not one.line and not words:  # written in a way that no pattern here knows
                        words = _first_lines(_WORD, text)
                    yield one if one.line else replace(one, line=words.get(one.called, 1))


_WORD = re.compile(r"([\w.-]+)")


_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"?|\'[^\'\n]*\'?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)


def _without_comments(text: str) -> str:
    """A text with blanks for the comments of C, which JSON and Gradle files have as well."""
    return _COMMENT_OR_STRING.sub(
        lambda found: re.sub(r"[^\r\n]", " ", found[0]) if found[0].startswith("/") else found[0], text
    )


_MEMBER = re.compile(r'[\s,{\ufeff]*"(?P<key>[^"\\]*)"\s*:\s*')
_NPM_SECTIONS = frozenset({"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"})
_NPM_NAME = re.compile(r"(?:@[\w.~-]+/)?[\w.~-]+", re.ASCII)
_NPM_LOCAL = ("workspace:", "file:", "link:", "portal:")  # other folders of the same repository
_OF_ENGINE = "com.unity.modules."  # parts of Unity itself, which manifests switch on


def _package_json(text: str) -> Iterator[UsedPackage]:
    lines, text = LineIndex(text), _without_comments(text)
    for key, _, at, value in _members(text, 0):
        if key in _NPM_SECTIONS and isinstance(value, dict):
            for name, start, _, version in _members(text, at):
                written = version if isinstance(version, str) else ""
                is_own = written.startswith(_NPM_LOCAL) or name.startswith(_OF_ENGINE)
                if _NPM_NAME.fullmatch(name) and not is_own:
                    yield UsedPackage(NPM, name, name, written, lines.line_of(start))


_COMPOSER_NAME = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)  # not `php` and `ext-json`, which come with the machine


def _composer(text: str) -> Iterator[UsedPackage]:
    lines = LineIndex(text)
    for key, _, at, value in _members(text, 0):
        if key in ("require", "require-dev") and isinstance(value, dict):
            for name, start, _, version in _members(text, at):
                if _COMPOSER_NAME.fullmatch(name):
                    vendor, _, package = name.partition("/")
                    called = package if vendor == package else name
                    written = version if isinstance(version, str) else ""
                    yield UsedPackage(COMPOSER, name, called, written, lines.line_of(start))


def _members(text: str, at: int) -> Iterator[tuple[str, int, int, Any]]:
    """(key, its offset, the offset of its value, value) of the JSON object at an offset. Raises ValueError."""
    decoder = json.JSONDecoder()
    while found := _MEMBER.match(text, at):
        value, at = decoder.raw_decode(text, found.end())
        yield found["key"], found.start("key"), found.end(), value


_REQUIREMENT = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)[ \t]*(?:\[[^\]\n]*\][ \t]*)?"
    r"(?:\(?(?P<version>[<>=!~][^;#\\)\n]*)|$|(?=[\r;@#]))",
    re.MULTILINE,
)
"""A requirement, as PEP 508 has it; paths, URLs and options are none."""
_COMPILED = re.compile(r"^#.*\bautogenerated by\b|--hash=", re.MULTILINE)
"""What `pip-compile` and `uv` write: a lock file."""


_OPTION = re.compile(r"--?[A-Za-z]|[./]|[A-Za-z+]++://")
"""What `pip` takes besides requirements: options, paths and URLs."""


def _is_prose(text: str) -> bool:
    """Whether `pip` could not read most of the lines that are no comment: a document about requirements."""
    written = [line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#")]
    unread = sum(
        _REQUIREMENT.match(line) is None and _OPTION.match(line) is None and not line.endswith("\\") for line in written
    )
    return unread * 2 > len(written)


def _requirements(text: str) -> Iterator[UsedPackage]:
    if not _COMPILED.search(text) and not _is_prose(text):
        lines = LineIndex(text)
        for found in _REQUIREMENT.finditer(text):
            yield _python(found["name"], found["version"], lines.line_of(found.start("name")))


def _required(requirement: str, line: int) -> Iterator[UsedPackage]:
    if found := _REQUIREMENT.match(requirement):
        yield _python(found["name"], found["version"], line)


def _python(name: str, version: str | None, line: int) -> UsedPackage:
    return UsedPackage(PYPI, _normalized(name), name, (version or "").strip(), line)


def _normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()  # PEP 503


def _setup_cfg(text: str) -> Iterator[UsedPackage]:
    if len(text) > _MOST_OF_INI:
        return
    read = configparser.RawConfigParser(strict=False)
    read.read_string(text)
    extras = read["options.extras_require"].values() if "options.extras_require" in read else ()
    lines = _first_lines(re.compile(r"^(?:install_requires[ \t]*=)?[ \t]*([^\s#].*?)\r?$", re.MULTILINE), text)
    for value in (read.get("options", "install_requires", fallback=""), *extras):
        for requirement in value.splitlines():
            yield from _required(requirement, lines.get(requirement, 0))


_TOML_STRING = re.compile(r"#[^\n]*|\"((?:[^\"\\\n]|\\.)*)\"?|'([^'\n]*)'?")
_TOML_KEY = re.compile(
    r"^[ \t]*(?:\[tool\.poetry\.[\w.-]*dependencies\.)?[\"']?([\w.-]+?)[\"']?[ \t]*[=.\]]", re.MULTILINE
)
_POETRY = re.compile(r"^[ \t]*\[tool\.poetry\.(?:[\w.-]+\.)?(?:dev-)?dependencies\b", re.MULTILINE)
_CATALOG = re.compile(r"^[ \t]*\[libraries\]", re.MULTILINE)


_TOO_DEEP = re.compile(r"(?<![\w-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){32}")
"""Memory and time of the parser grow with the square of the parts of a key: of a few thousand to gigabytes."""


def _toml(text: str) -> dict[str, Any]:
    if _TOO_DEEP.search(text):
        raise ValueError("a key of too many parts")
    return tomllib.loads(text)


def _pyproject(text: str) -> Iterator[UsedPackage]:
    read = _toml(text)
    project, poetry = _table(read, "project"), _table(_table(read, "tool"), "poetry")
    own = str(project.get("name"))
    listed = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lines = _first_lines(_TOML_STRING, text)
    for requirement in _texts(listed + list(_table(read, "dependency-groups").values())):
        for one in _required(requirement, lines.get(requirement, 0)):
            if one.name != _normalized(own):  # `all = ["shop[web,mail]"]`
                yield one
    lines = _first_lines(_TOML_KEY, text, _POETRY)
    groups = _table(poetry, "group")
    for group in (poetry, *(_table(groups, name) for name in groups)):
        for name, wanted in (_table(group, "dependencies") | _table(group, "dev-dependencies")).items():
            version = wanted.get("version") if isinstance(wanted, dict) else wanted
            if name != "python" and not (isinstance(wanted, dict) and "path" in wanted):
                yield _python(name, version if isinstance(version, str) else "", lines.get(name, 0))


def _catalog(text: str) -> Iterator[UsedPackage]:
    """What a version catalog of Gradle calls by aliases, which is all that build files then have."""
    read = _toml(text)
    versions, lines = _table(read, "versions"), _first_lines(_TOML_KEY, text, _CATALOG)
    for alias, wanted in _table(read, "libraries").items():
        entry = wanted if isinstance(wanted, dict) else {"module": wanted}
        group, _, named = str(entry.get("module") or f"{entry.get('group', '')}:{entry.get('name', '')}").partition(":")
        artifact, _, written = named.partition(":")
        version = entry.get("version", written)
        version = versions.get(str(version.get("ref"))) if isinstance(version, dict) else version
        yield from _maven(group, artifact, version if isinstance(version, str) else "", lines.get(alias, 0))


_OF_CARGO = re.compile(r"^[ \t]*\[[^\]\n]*dependencies\b", re.MULTILINE)
_CARGO_KEY = re.compile(
    r"^[ \t]*(?:\[[^\]\n]*dependencies[ \t]*\.[ \t]*)?[\"']?([\w-]++)[\"']?[ \t]*[=.\]]", re.MULTILINE | re.ASCII
)
_CARGO_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def _cargo(text: str) -> Iterator[UsedPackage]:
    """Of a package and of a workspace, without crates of the same repository, where this file says that they are."""
    read = _toml(text)
    targets = _table(read, "target")
    lines, told = _first_lines(_CARGO_KEY, text, _OF_CARGO), set[str]()
    for owner in (read, _table(read, "workspace"), *(_table(targets, name) for name in targets)):
        for table in _CARGO_TABLES:
            for alias, wanted in _table(owner, table).items():
                entry = wanted if isinstance(wanted, dict) else {"version": wanted}
                name, version = str(entry.get("package", alias)), entry.get("version", "")
                if "path" not in entry and name not in told:
                    told.add(name)
                    written = version if isinstance(version, str) else ""
                    yield UsedPackage(CARGO, name, name, written, lines.get(alias, 0))


_GEM = re.compile(
    r"^[ \t]*(?:gem|\w+\.add_(?:runtime_|development_)?dependency)[ \t(]+[\"'](?P<name>[\w.-]+)[\"'](?P<rest>.*)",
    re.MULTILINE | re.ASCII,
)
_GEM_VERSION = re.compile(r"[ \t]*,[ \t]*[\"'](?P<version>[^\"'\n]*)[\"']")
_GEM_LOCAL = re.compile(r"\bpath\b *(?::|=>)")


def _gems(text: str) -> Iterator[UsedPackage]:
    """The gems of a `Gemfile` or a `.gemspec`, as a line of their own names each."""
    lines = LineIndex(text)
    for found in _GEM.finditer(text):
        version = _GEM_VERSION.match(found["rest"])
        if not _GEM_LOCAL.search(found["rest"]):
            written = version["version"] if version is not None else ""
            yield UsedPackage(GEM, found["name"], found["name"], written, lines.line_of(found.start("name")))


def _table(parent: dict[str, Any], key: str) -> dict[str, Any]:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _texts(lists: list[Any]) -> Iterator[str]:
    for listed in lists:
        yield from (one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()


def _first_lines(pattern: re.Pattern[str], text: str, after: re.Pattern[str] | None = None) -> dict[str, int]:
    """What the groups of a pattern find in a text, behind another one, each with the line where it stands first."""
    lines, found = LineIndex(text), dict[str, int]()
    begin = after.search(text) if after is not None else None
    for one in pattern.finditer(text, begin.start() if begin else 0):
        if one.lastindex is not None:
            found.setdefault(one[one.lastindex], lines.line_of(one.start(one.lastindex)))
    return found


_GO_REQUIRE = re.compile(
    r"^require[ \t]*(?:\((?P<many>.*?)(?:^[ \t]*\)|\Z)|(?P<one>[^(\n]*))", re.MULTILINE | re.DOTALL
)
_GO_MODULE = re.compile(
    r"^[ \t]*(?:require[ \t]+)?\"?(?P<path>[\w.~/-]+)\"?[ \t]+(?P<version>v[^\s/]+)(?P<rest>.*)", re.MULTILINE
)
_GO_INDIRECT = re.compile(r"\s*//\s*indirect\b")
_GO_VERSION = re.compile(r"(?:/v\d+|\.v\d+)$")


def _go_mod(text: str) -> Iterator[UsedPackage]:
    lines = LineIndex(text)
    for block in _GO_REQUIRE.finditer(text):
        for found in _GO_MODULE.finditer(text, block.start("many") if block["many"] else block.start(), block.end()):
            if not _GO_INDIRECT.match(found["rest"]):
                called = _GO_VERSION.sub("", found["path"]).rpartition("/")[2]
                yield UsedPackage(GO, found["path"], called, found["version"], lines.line_of(found.start("path")))


_MAVEN_NAME = re.compile(r"[\w.-]+", re.ASCII)
_MAVEN_OWNERS = ("project", "profile")  # not plugins, nor what only says which version


def _pom(text: str) -> Iterator[UsedPackage]:
    """As far as it can be read; one with a document type, which may declare entities, has none."""
    parser = expat.ParserCreate()
    around, said, found = list[str](), dict[str, list[str]](), list[UsedPackage]()
    lines = dict[str, int]()

    def begin(tag: str, _: object) -> None:
        if tag == "dependency":
            said.clear()
        elif around[-1:] == ["dependency"]:
            lines[tag] = parser.CurrentLineNumber
        around.append(tag)

    def data(part: str) -> None:
        if around[-2:-1] == ["dependency"]:
            said.setdefault(around[-1], []).append(part)

    def end(tag: str) -> None:
        around.pop()
        if tag == "dependency" and around[-1:] == ["dependencies"] and around[-2] in _MAVEN_OWNERS:
            group, artifact, version = (
                "".join(said.get(key, ())).strip() for key in ("groupId", "artifactId", "version")
            )
            found.extend(_maven(group, artifact, version, lines.get("artifactId", 0)))

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, data
    if "<!DOCTYPE" not in text:
        with suppress(expat.ExpatError):
            parser.Parse(text, True)
    yield from found


def _maven(group: str, artifact: str, version: str, line: int) -> Iterator[UsedPackage]:
    if _MAVEN_NAME.fullmatch(group) and _MAVEN_NAME.fullmatch(artifact):  # else it has properties
        yield UsedPackage(MAVEN, f"{group}:{artifact}", artifact, version, line)


_GRADLE = re.compile(
    r"(?:^|[{;])[ \t]*\w*"
    r"(?:[iI]mplementation|[aA]pi|(?:[cC]ompile|[rR]untime|development)(?:Only)?|[pP]rocessor|kapt|ksp)"
    r"[ \t]*+(?:\([ \t]*+)?(?:(?:enforcedP|p)latform[ \t]*+\([ \t]*+)?"
    r"[\"'](?P<group>[^:\"'\n]+):(?P<artifact>[^:\"'\n]+)(?::(?P<version>[^:@\"'\n]*))?",
    re.MULTILINE,
)


def _gradle(text: str) -> Iterator[UsedPackage]:
    lines = LineIndex(text)
    for found in _GRADLE.finditer(_without_comments(text)):
        line = lines.line_of(found.start("group"))
        yield from _maven(found["group"], found["artifact"], found["version"] or "", line)


_MIX = re.compile(
    r"^[^#\n]{0,200}?\{[ \t]*:(?P<name>\w+)[ \t]*,[ \t]*(?:\"(?P<version>[~<>=! ]*\d[^\"\n]*)\"|(?:git|github|hex):)",
    re.MULTILINE | re.ASCII,
)


def _mix(text: str) -> Iterator[UsedPackage]:
    """`{:ecto, "~> 3.0"}` of a `mix.exs`, one a line; those of the same repository have a path instead."""
    lines = LineIndex(text)
    for found in _MIX.finditer(text):
        yield UsedPackage(HEX, found["name"], found["name"], found["version"] or "", lines.line_of(found.start("name")))


_SWIFT = re.compile(
    r"\.package\s*\((?:\s*name:\s*\"[^\"\n]*\",)?\s*url:\s*\"(?:\w+://|git@)(?P<name>[^\"\s|]+?)(?:\.git)?/?\""
    r"(?:,\s*(?:[.\w]+\(\s*)?(?:from|exact|branch|revision)?:?\s*\"(?P<version>[^\"\n]*)\")?"
)


def _swift(text: str) -> Iterator[UsedPackage]:
    """The packages of a `Package.swift` by their addresses, called by the last word of those."""
    lines = LineIndex(text)
    for found in _SWIFT.finditer(_without_comments(text)):
        name = found["name"].replace(":", "/")
        called = name.rpartition("/")[2]
        yield UsedPackage(SWIFT, name, called, found["version"] or "", lines.line_of(found.start("name")))


_PUB_LINE = re.compile(r"^(?P<indent> *)(?P<name>\w+):[ \t]*(?P<value>[^\n#]*)", re.MULTILINE | re.ASCII)
_PUB_SECTIONS = ("dependencies", "dev_dependencies")
_PUB_LOCAL = ("sdk", "path")


def _pubspec(text: str) -> Iterator[UsedPackage]:
    """The packages of a `pubspec.yaml`, but those of the SDK and of other folders."""
    lines = LineIndex(text)
    told: dict[str, UsedPackage] = {}
    section = last = ""
    depth = 0
    for found in _PUB_LINE.finditer(text):
        name, indent, value = found["name"], len(found["indent"]), found["value"].strip(" \t\r\"'")
        if not indent:
            section, depth = name, 0
        elif section not in _PUB_SECTIONS:
            continue
        elif indent <= (depth or indent):
            depth, last = indent, name
            told[name] = UsedPackage(PUB, name, name, value, lines.line_of(found.start("name")))
        elif name in _PUB_LOCAL:
            told.pop(last, None)
    yield from told.values()


_CABAL_LIST = re.compile(
    r"^(?P<indent>[ \t]*)build-depends:(?P<list>.*(?:\n(?:[ \t]*,.*|(?P=indent)[ \t]+(?![\w-]+:).*|(?=\n)))*)",
    re.MULTILINE | re.IGNORECASE,
)
_CABAL_COMMENT = re.compile(r"^[ \t]*--.*", re.MULTILINE)
_CABAL_NAME = re.compile(r"(?:^|,)\s*(?P<name>[A-Za-z][\w-]*)[ \t]*(?P<version>[<>=^][^,\n]*)?", re.ASCII)


def _cabal(text: str) -> Iterator[UsedPackage]:
    """What the parts of a `.cabal` depend on, each package once, but those that it makes itself."""
    lines = LineIndex(text)
    told = {found[1].lower() for found in re.finditer(r"(?mi)^(?:name:|library)[ \t]*([\w-]*)", text)}
    for listed in _CABAL_LIST.finditer(_CABAL_COMMENT.sub(lambda found: " " * len(found[0]), text)):
        for found in _CABAL_NAME.finditer(listed["list"]):
            name = found["name"]
            if name.lower() not in told:
                told.add(name.lower())
                line = lines.line_of(listed.start("list") + found.start("name"))
                yield UsedPackage(HACKAGE, name, name, (found["version"] or "").strip(), line)


def _vcpkg(text: str) -> Iterator[UsedPackage]:
    read = json.loads(text)
    wanted = read.get("dependencies") if isinstance(read, dict) else None
    for one in wanted if isinstance(wanted, list) else ():
        name = one.get("name") if isinstance(one, dict) else one
        version = one.get("version>=", "") if isinstance(one, dict) else ""
        if isinstance(name, str) and _NPM_NAME.fullmatch(name):
            yield UsedPackage(VCPKG, name, name, version if isinstance(version, str) else "", 0)


_CMAKE = re.compile(
    r"^[ \t]*(?:find_package|FetchContent_Declare)[ \t]*\(\s*(?P<name>[A-Za-z][\w.+-]*)"
    r"(?:[ \t]+(?P<version>\d[\d.]*))?",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
_CMAKE_OWN = re.compile(r"^[ \t]*project[ \t]*\(\s*([\w.+-]+)", re.MULTILINE | re.IGNORECASE)
_OF_CMAKE = frozenset({"pkgconfig", "threads"})
"""What comes with it, or with the system."""


def _cmake(text: str) -> Iterator[UsedPackage]:
    """What a `CMakeLists.txt` looks for or fetches, each once, but the project itself, which its examples look for."""
    lines, own = LineIndex(text), sorted({name.lower() for name in _CMAKE_OWN.findall(text)})
    told = set(_OF_CMAKE)
    for found in _CMAKE.finditer(text):
        name = found["name"]
        called = name.lower()
        at = bisect_left(own, called)  # what begins so stands there
        if called not in told and not any(one.startswith(called) for one in own[at : at + 1]):
            told.add(called)
            yield UsedPackage(CMAKE, name, name, found["version"] or "", lines.line_of(found.start("name")))


_SBT = re.compile(
    r"\"(?P<group>[\w.-]+)\"\s*%{1,3}\s*\"(?P<artifact>[\w.-]+)\"(?:\s*%\s*\"(?P<version>[^\"\n]*)\")?"
    r"|\b(?:ivy|mvn)\"(?P<group2>[\w.-]+):{1,3}(?P<artifact2>[\w.-]+):{1,2}(?P<version2>[^:\"\n]*)"
)


def _sbt(text: str) -> Iterator[UsedPackage]:
    """`"org" %% "name" % "1.0"` of sbt, and `ivy"org::name:1.0"` of Mill."""
    lines = LineIndex(text)
    for found in _SBT.finditer(_without_comments(text)):
        group, artifact, version = (found[one] or found[f"{one}2"] or "" for one in ("group", "artifact", "version"))
        yield from _maven(group, artifact, version, lines.line_of(found.start()))


_CLOJURE = re.compile(
    r"(?<![\w.:/-])(?P<name>[A-Za-z][\w.-]*(?:/[\w.-]+)?)\s++"
    r"(?:\{\s*:(?:mvn/version|git/(?:tag|sha|url)|sha)\s*)?\"(?P<version>[^\"\n]*)\"",
    re.ASCII,
)
_OF_LISP = re.compile(r"\"(?:[^\"\\]|\\.)*\"?|;[^\n]*", re.DOTALL)


def _clojure(text: str) -> Iterator[UsedPackage]:
    """`org/name {:mvn/version "1.0"}` of a `deps.edn` and `[org/name "1.0"]` of a `project.clj`, each once."""
    lines, told = LineIndex(text), set[str]()
    text = _OF_LISP.sub(lambda found: " " * len(found[0]) if found[0][0] == ";" else found[0], text)
    for found in _CLOJURE.finditer(text):
        group, _, artifact = found["name"].partition("/")
        is_named = text[found.start() - 1 : found.start()] == "[" or "{" in found[0]
        if is_named and found["name"] not in told:
            told.add(found["name"])
            yield from _maven(group, artifact or group, found["version"], lines.line_of(found.start("name")))


_JULIA_DEPS = re.compile(r"^[ \t]*\[(?:weak)?deps\]", re.MULTILINE)


def _julia(text: str) -> Iterator[UsedPackage]:
    """The packages of a `Project.toml`, also those that come with Julia."""
    read = _toml(text)
    compat, lines = _table(read, "compat"), _first_lines(_TOML_KEY, text, _JULIA_DEPS)
    for name in _table(read, "deps") | _table(read, "weakdeps"):
        yield UsedPackage(JULIA, name, name, str(compat.get(name, "")), lines.get(name, 0))


_ZON = re.compile(
    r"\.(?:@\"(?P<quoted>[^\"\n]*)\"|(?P<name>\w+))\s*=\s*(?P<opens>\.\{)?|\"(?:[^\"\\\n]|\\.)*\"?|[{}]", re.ASCII
)


def _zon(text: str) -> Iterator[UsedPackage]:
    """The dependencies of a `build.zig.zon`, but other folders."""
    lines, around, told = LineIndex(text), list[str](), dict[str, int]()
    for found in _ZON.finditer(_without_comments(text)):
        name = found["quoted"] or found["name"] or ""
        is_of_one = around[1:2] == ["dependencies"]
        if found["opens"] or found[0] == "{":
            if is_of_one and len(around) == 2:
                told[name] = lines.line_of(found.start())
            around.append(name)
        elif found[0] == "}":
            around = around[:-1]
        elif is_of_one and name == "path":
            told.pop(around[-1], None)
    yield from (UsedPackage(ZIG, name, name, "", line) for name, line in told.items() if name)


_NUGET = re.compile(r"<!--.*?(?:-->|\Z)|<package\s(?P<attributes>[^<>]*)>", re.DOTALL)
_NUGET_ATTRIBUTE = re.compile(r"\b(id|version)\s*=\s*[\"']([^\"']+)")


def _packages_config(text: str) -> Iterator[UsedPackage]:
    lines = LineIndex(text)
    for found in _NUGET.finditer(text):
        said = dict(_NUGET_ATTRIBUTE.findall(found["attributes"] or ""))
        if "id" in said:
            yield UsedPackage(NUGET, said["id"], said["id"], said.get("version", ""), lines.line_of(found.start()))


_READERS: Mapping[str, Callable[[str], Iterator[UsedPackage]]] = {
    "cargo": _cargo,
    "composer": _composer,
    "gems": _gems,
    "cabal": _cabal,
    "cmake": _cmake,
    "mix": _mix,
    "pubspec": _pubspec,
    "swift": _swift,
    "vcpkg": _vcpkg,
    "package_json": _package_json,
    "packages_config": _packages_config,
    "pyproject": _pyproject,
    "setup_cfg": _setup_cfg,
    "go_mod": _go_mod,
    "pom": _pom,
    "gradle": _gradle,
    "catalog": _catalog,
    "requirements": _requirements,
    "sbt": _sbt,
    "clojure": _clojure,
    "julia": _julia,
    "zon": _zon,
}
