"""The everyday plan: what manifests, images, scripts and documents say of the project itself, line by line.

Everything is told with its line, of files that the reader may see. Where a category of technologies is asked for and no
package, image or line of code is of one, that is said, and nothing else is taken for an answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.answer.asked import Asked, Planned, answered, declaring, together
from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at, seen_of
from rag_assets.answer.passages import indent_of
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    code_of,
    from_the_root,
    lines_of,
)
from rag_assets.answer.plans.documents import release
from rag_assets.answer.plans.listing import places_of
from rag_assets.answer.plans.steps import DOCUMENT, configuring, steps
from rag_assets.answer.plans.technologies import (
    CODE,
    INSIDE,
    TECHNOLOGIES,
    WHOLE,
    all_parts,
    fit,
    is_of_another,
    parts_of,
    technologies_called,
    technologies_of,
)
from rag_assets.answer.question_analysis import Intent, roots_of
from rag_assets.answer.whole_project import CALLED, KINDS_OF_TESTS, LOGIN, MIGRATE, Everyday, EverydayQuestion
from rag_assets.contracts.graph import NodeType, Relation, key_kind
from rag_assets.graph.csr_graph import IN, KINDS, Graph
from rag_assets.identifiers import word_set
from rag_assets.index.blobs import BlobError
from rag_assets.index.keyword.vocabulary import KeywordIndexError
from rag_assets.search.line_references import meant, sections_of
from rag_assets.search.phrases import points_saying
from rag_assets.search.ranking.penalties import non_product_code
from rag_assets.search.section_source import section_source

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex, Searchable

    Place = tuple[str, str, int]  # of a package, an image or a file: its name, path and line

_MOST_OF_ONE, _MOST_TOLD = 3, 12  # places of one technology, and of an answer
_PROGRAMS = "Programming languages"
_MOST_READ = 60  # sections that are looked through for a line of code
_OF_OTHERS = word_set(
    "eslint plugin prettier stubs types typings mock mocks testcontainers validator capture dashboard logger image"
)
"""What packages that only help others with a technology are called."""
_DECLARED = (NodeType.TYPE, NodeType.METHOD)
_OF_TESTS = frozenset({"Test framework", "Mocking"})
_FRONTEND = frozenset({"frontend", "front-end", "client", "ui", "web"})
COMPOSE_NAME = r"(?:docker-)?compose[^/]*\.ya?ml"
COMPOSE_FILE = re.compile(rf"(?:.*/)?{COMPOSE_NAME}", re.IGNORECASE)
_IMAGE = re.compile(
    r"^(?:[^#{]*\{(?:[^#}]*,)?)?\s*[\"']?image[\"']?\s*:\s*(?:&[\w-]+\s+)?[\"']?(?P<image>(?:\$\{[^}]*\}|[\w./:@-])+)"
)
_DEFAULT = re.compile(r"\$\{\w+(?::?-(?P<value>[^}]*))?\}")
"""A variable of a compose file, with what it is where nobody sets it."""
_SHOWN_BY_FILES = frozenset({"Containers", "Continuous integration"})
_PROJECTS = ".csproj .fsproj .vbproj .props"
_PYTHON, _GRADLE, _DOCKER = (
    "pyproject.toml setup.cfg setup.py",
    "build.gradle build.gradle.kts",
    "dockerfile .dockerfile",
)
_TARGETED = ("<targetframework", "targets>net", "frameworks>net", "tfms>net")
"""What says in project files what they target: a property too, which they name, as `<ModernTargets>net8.0;net9.0`."""
_PLATFORM = re.compile(r"-(?:android|browser|ios|mac(?:catalyst|os)|tizen|tvos|windows)", re.IGNORECASE)
_Told = Sequence[tuple[str, Sequence[str]]]
"""(names of files, or their endings with a dot, what a line of it has, in lower case) …"""
_RUNTIME: Mapping[str, _Told] = {
    "android": (
        (".gradle .kts .toml", ["minsdk"]),
        ("androidmanifest.xml", ["minsdkversion"]),
        (_PROJECTS, ["'android'\">", "-android"]),
    ),
    "ios": (
        ("package.swift", [".ios("]),
        ("podfile", ["platform :ios"]),
        (".pbxproj", ["iphoneos_deployment_target"]),
        (_PROJECTS, ["'ios'\">", "-ios"]),
    ),
    "go": (("go.mod", ["go 1."]), (_DOCKER, ["from golang", "/golang:"])),
    "godot": (
        (".csproj .fsproj global.json", ["godot.net.sdk"]),
        ("project.godot", ["config/features"]),
    ),
    "unity": (("projectversion.txt", ["m_editorversion:"]),),
    "java": (
        ("pom.xml", ["<java.version", "<maven.compiler.", "<release>"]),
        (_GRADLE, ["sourcecompatibility", "javalanguageversion", "jvmtoolchain"]),
        (_DOCKER, ["jdk", "jre", "from java", "temurin"]),
    ),
    "cpp": (
        ("cmakelists.txt .cmake", ["cmake_cxx_standard", "cxx_std_"]),
        ("meson.build", ["cpp_std"]),
        (".vcxproj", ["<languagestandard"]),
    ),
    "clojure": (("deps.edn project.clj", ["org.clojure/clojure "]),),
    "dart": (("pubspec.yaml", ["sdk:"]), (_DOCKER, ["from dart", "/dart:"])),
    "elixir": (("mix.exs", ["elixir:"]),),
    "flutter": (("pubspec.yaml", ["flutter:"]),),
    "julia": (("project.toml juliaproject.toml", ["julia ="]),),
    "kotlin": (
        (".versions.toml", ["kotlin ="]),
        (_GRADLE, ["kotlin_version =", 'jvm") version', 'multiplatform") version', "kotlin.jvm' version"]),
        ("pom.xml gradle.properties", ["<kotlin.version>", "kotlin.version", "kotlinversion"]),
    ),
    "powershell": ((".psd1", ["powershellversion"]), (".ps1 .psm1", ["#requires -version"])),
    "terraform": ((".tf", ["required_version"]),),
    "php": (("composer.json", ['"php":']), (_DOCKER, ["from php", "/php:"])),
    "ruby": (
        (".gemspec", ["required_ruby_version"]),
        ("gemfile", ['ruby "', "ruby '"]),
        (".ruby-version", [""]),
        (_DOCKER, ["from ruby", "/ruby:"]),
    ),
    "rust": (
        ("cargo.toml", ["rust-version"]),
        ("rust-toolchain rust-toolchain.toml", ["channel", "1."]),
        (_DOCKER, ["from rust", "/rust:"]),
    ),
    "scala": (("build.sbt .mill", ["scalaversion"]),),
    "swift": (("package.swift", ["swift-tools-version"]), (".swift-version", [""])),
    "zig": (("build.zig.zon", ["minimum_zig_version"]), (".zigversion .zig-version", [""])),
    "net": (("global.json", ['"version"']), (_PROJECTS, _TARGETED)),
    "node": (("package.json", ['"node":']), (".nvmrc .node-version", [""]), (_DOCKER, ["from node", "/node:"])),
    "platform": (("package.swift", [".ios(", ".macos("]), (_PROJECTS, _TARGETED)),
    "python": (
        (_PYTHON, ["requires-python", "python_requires", "python ="]),
        (".python-version runtime.txt", [""]),
        (_DOCKER, ["from python", "/python:"]),
    ),
}
_ENGINES = frozenset({"godot", "unity"})
"""Libraries are called so too."""
_VERSION: _Told = (
    ("package.json composer.json", ['"version":']),
    ("pom.xml", ["<version>"]),
    ("cargo.toml version.rb .gemspec mix.exs", ["version =", "version:"]),
    ("gradle.properties", ["version_name=", "version="]),
    (_PROJECTS, ["<version>", "<versionprefix>", "<packageversion>"]),
    (_PYTHON, ["version =", "version="]),
    ("__init__.py version.py __about__.py", ["__version__ =", "version ="]),
    (_GRADLE, ["version =", "version '"]),
    ("version version.txt", [""]),
    ("changelog.md changes.md changelog.rst", [""]),
)
_SAYS_VERSION = re.compile(
    r"\s*(?:(?:setup\(.*)?[\"']?(?:__)?version(?:__|_name)?[\"']?\s*[:='\"]|<|#+\s*(?:version\s+)?\[?v?\d+\.\d)"
    r"|v?\d+(?:\.\d[\w.+-]*)?(?:\s*\(.*\))?\s*$",
    re.IGNORECASE,
)
"""A line of a version itself: not of `target-version`, nor of what a release says of `v1`."""
_LICENCE: _Told = (
    ("package.json", ['"license":']),
    (_PYTHON, ["license =", "license=", "license ::"]),
    (_PROJECTS, ["<packagelicenseexpression"]),
)
_TITLES: Mapping[str, str] = {
    "gnu affero general public license": "GNU Affero General Public License",
    "gnu lesser general public license": "GNU Lesser General Public License",
    "gnu library general public license": "GNU Library General Public License",
    "gnu general public license": "GNU General Public License",
    "gnu free documentation license": "GNU Free Documentation License",
    "apache license": "Apache License",
    "mozilla public license": "Mozilla Public License",
    "eclipse public license": "Eclipse Public License",
    "business source license": "Business Source License",
    "server side public license": "Server Side Public License",
    "elastic license": "Elastic License",
    "polyform": "PolyForm licence",
    "creative commons": "Creative Commons licence",
    "cc0": "Creative Commons licence",
}
"""Licences by their titles, which other texts name too, after their own."""
_BODIES: Mapping[str, str] = {
    "redistribution and use in source and binary forms": "BSD licence",
    "permission to use, copy, modify, and/or distribute this software": "ISC License",
    "permission is hereby granted, free of charge": "MIT License",
    "this is free and unencumbered software": "Unlicense",
}
"""Licences by how they begin below a title and the lines of those who hold the rights."""
_TITLE_CHARS, _BODY_CHARS = 200, 1000
_OF_THIRD = re.compile(r"third|3rd", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:either|dual|dually)\b")
_LICENCE_FILE = re.compile(r"(?:licen[cs]e|copying|unlicense)(?:[-.][\w.-]+)?", re.IGNORECASE)
_DEMANDS = re.compile(r">=|≥|\b(?:at least|minimum|requires?|or (?:above|higher|later|newer))\b|\d\+", re.IGNORECASE)
_OF_WHOLES = frozenset({Everyday.LICENCE, Everyday.VERSION, Everyday.TECHNOLOGY, Everyday.SIZE})
_IS_USED = re.compile(r"\b(?:depend|us(?:e[ds]?|ing)\b)", re.IGNORECASE)


def everyday_plan(asked: Asked, question: EverydayQuestion, text: str) -> Planned | None:
    """What a question asks that many ask of any project, in its own `text` or with `it` for the name of the project."""
    written = asked.question.asking
    if question.about is Everyday.VERSION and text != written and _IS_USED.search(written):
        return None  # of a package that is called as the repository
    if question.about in _OF_WHOLES and _names_declared(text, asked.target):
        return None
    if question.about is Everyday.STEPS:
        return _steps_told(asked, question)
    if question.about is Everyday.RELEASE:
        return _release_told(asked, question)
    if question.about in (Everyday.COMMITS, Everyday.CHANGE, Everyday.CHANGES, Everyday.AUTHORS):
        return _changed(asked, question)
    if question.about is Everyday.TECHNOLOGY:
        found = [technology_facts(index, graph, question) for index, graph in asked.graphs]
    elif question.about is Everyday.UNTESTED:
        from rag_assets.answer.plans.history import tested_or_not

        tested, sort = bool(question.words), "".join(question.within)
        found = [tested_or_not(index, graph, sort, tested=tested) for index, graph in asked.graphs]
    elif question.about is Everyday.EXPORTS:
        found = [exports(index, graph, *question.words) for index, graph in asked.graphs]
    else:
        graphs = {index.label: graph for index, graph in asked.graphs}
        members = asked.target.members.values()
        found = [project_facts(index, question, graphs.get(index.label)) for index in members]
    known = answered(asked, Intent.LIST, together((facts, at) for facts, at, _ in found))
    if known and question.is_beside:
        return None
    absent = "; ".join(dict.fromkeys(absent for *_, absent in found if absent))
    return known or (Planned(asked.wish, absent=absent) if absent else None)


def _steps_told(asked: Asked, question: EverydayQuestion) -> Planned | None:
    (action,) = question.words
    told = [steps(index, action, *question.within) for index in asked.target.members.values()]
    lead = tuple(point for *_, points in told for point in points)
    facts, at = together((facts, at) for facts, at, _ in told)
    if at or lead:
        wish = replace(asked.wish, intent=Intent.STEPS, action=action)
        return Planned(wish, facts, at, decides=True, lead=lead)
    is_shown = not KINDS_OF_TESTS.issuperset(question.within) or action.startswith(MIGRATE)  # by code, maybe
    if asked.wish.intent is Intent.OVERVIEW or is_shown:
        return None
    if action == "configure":
        files = together(configuring(index) for index in asked.target.members.values())
        if known := answered(asked, Intent.LIST, files):
            return known
    asks = action.replace(" ", " with ")
    return Planned(asked.wish, absent=f"no document, script or workflow says the steps to {asks}")


def _release_told(asked: Asked, question: EverydayQuestion) -> Planned | None:
    version, *dated = question.words
    told_of = [release(index, version, dated=bool(dated)) for index in asked.target.members.values()]
    if lead := tuple(point for points, _ in told_of for point in points):
        return Planned(replace(asked.wish, intent=Intent.RELEASE, action=version), decides=True, lead=lead)
    is_told = re.fullmatch(r"[\w-]*\.[\w.-]*", version) is not None and any(
        has_changelog for _, has_changelog in told_of
    )
    dates = " with a date" if dated else ""
    return Planned(asked.wish, absent=f"no changelog has a heading of {version}{dates}") if is_told else None


def _changed(asked: Asked, question: EverydayQuestion) -> Planned | None:
    """Which commits were the last, of all files or of those that a question names."""
    from rag_assets.answer.plans.history import (
        NO_COMMITS,
        ONE_COMMIT,
        all_changes,
        authors_absent,
        last_change,
        last_commits,
        paths_of,
    )

    indexes = [index for index in asked.target.members.values() if index.manifest.is_git]
    if not indexes:
        return Planned(asked.wish, absent=NO_COMMITS)
    if question.about is Everyday.COMMITS:
        known = [last_commits(index, is_only=len(indexes) == 1) for index in indexes]
        return answered(asked, Intent.LIST, together(known)) or Planned(asked.wish, absent=ONE_COMMIT)
    (thing,) = question.words
    points = declaring(thing, asked.target)
    paths = {index.label: paths_of(index, thing, points) for index in indexes}
    if question.about is Everyday.AUTHORS:
        told = [path for known in paths.values() for path in known]
        return Planned(asked.wish, absent=authors_absent(told)) if told else None
    told_of = all_changes if question.about is Everyday.CHANGES else last_change
    changes = together(told_of(index, paths[index.label]) for index in indexes if paths[index.label])
    return answered(asked, Intent.LIST, changes)


def _names_declared(text: str, target: Searchable) -> bool:
    """Whether a word with a capital, as names have them, is declared: `what is Version` asks about that class."""
    words = re.findall(r"\w+", text)[1:]
    return any(declaring(word, target) for word in words if not word.islower() and not word.isdigit())


def technology_facts(index: LabelIndex, graph: Graph, asked: EverydayQuestion) -> FactsOrAbsent:
    """The packages, images, files or lines of code of a technology, or of all of a category, each technology with its
    best places; and what to say where there are none."""
    called = " ".join(asked.words)
    category = CALLED.get(called) or (called if called in TECHNOLOGIES else "")
    only = [] if category else technologies_called(asked.words)
    category = category or only[0][0]
    paths = index.parts.shard().values("Path", index.scope())
    packages = [one for one in _packages(graph) if one[1] in paths]
    named = packages + _images(index, paths)
    if asked.within:
        within = _within(asked.within, {path for _, path, _ in packages})
        if not within:
            return GraphFacts(), {}, ""
        named = [one for one in packages if one[1] in within]
    found: dict[str, list[Place]] = {}
    for names in [names for _, names in only] or technologies_of(category):
        found[names[0]] = _places(named, names)
        if category in _SHOWN_BY_FILES:
            files = sorted((path for path in paths if fit(path, names)), key=from_the_root)
            found[names[0]] += [(path, path, _first_line(index, path)) for path in files[:_MOST_OF_ONE]]
    if not any(found.values()):
        code = CODE.get(category, {})
        found = {one: _in_code(index, text) for one, text in code.items() if not only or one == only[0][1][0]}
    facts = _told(found, of_tests=category in _OF_TESTS or bool(asked.within))
    if not facts and _is_written(index, [names for _, names in only] or [*technologies_of(category)]):
        return GraphFacts(), {}, ""
    count = len({name for name, *_ in packages})
    what = f"a known {' '.join(asked.words).lower()}" if not only else " or ".join(asked.words)
    among = f"among the {count:,} packages that manifests name" if count else "and no manifest names a package"
    absent = f"{what} was not found {among}"
    return *_at(index, facts, f"**{category}:**"), absent if category != LOGIN else ""


def _is_written(index: LabelIndex, technologies: Iterable[Sequence[str]]) -> bool:
    """Whether a line of a manifest has a name of a technology, whatever is looked at and however it says it: a package
    of another, a file that nothing could read. Then it is not for certain that there is none."""
    from rag_assets.languages.detection import may_name_packages  # start-up budget: where nothing is found

    shard, seen = index.parts.shard(), index.tenant
    paths = [path for path in shard.values("Path", seen) if may_name_packages(path) or COMPOSE_FILE.fullmatch(path)]
    wanted = {parts_of(name) for names in technologies for name in names}
    most = max(map(len, wanted))
    for payload in sections_of(paths, shard, seen).values():
        said = all_parts(code_of(payload, index, ()))
        if any(said[at : at + size] in wanted for at in range(len(said)) for size in range(1, most + 1)):
            return True
    return False


def _packages(graph: Graph) -> Iterator[Place]:
    """(package, path, line) wherever a manifest or a project file names one."""
    nodes = np.flatnonzero(graph.kinds == KINDS.index(NodeType.PACKAGE.value))
    for edge in graph.edges_of(nodes, IN, Relation.REFERENCES):
        if not edge.target.partition(":")[2].startswith("@types/"):
            yield edge.target.partition(":")[2].rpartition("|")[0], edge.path, edge.line


def _within(words: Sequence[str], paths: set[str]) -> set[str]:
    """The manifests of a part of the project."""
    if not _FRONTEND.isdisjoint(words):
        return {path for path in paths if path.endswith("package.json")}
    wanted = roots_of(" ".join(words))
    return {path for path in paths if wanted <= roots_of(path)}


def _images(index: LabelIndex, paths: Iterable[str]) -> list[Place]:
    """(image, path, line) of compose files."""
    lines = lines_of(index, [path for path in paths if COMPOSE_FILE.fullmatch(path)])
    found = ((_IMAGE.match(text), path, number) for path, known in lines.items() for number, text in known.items())
    images = ((_image_of(match["image"]), path, number) for match, path, number in found if match is not None)
    return [(image, path, number) for image, path, number in images if image]


def _image_of(written: str) -> str:
    """`localhost:5000/redis:7` as `redis`: without the registry, the tag and the digest."""
    named = _DEFAULT.sub(lambda match: match["value"] or "", written).partition("@")[0].strip("/")
    registry, _, image = named.rpartition("/") if "/" in named else ("", "", named)
    parts = [part for part in registry.split("/") if part and not {".", ":"} & set(part) and part != "localhost"]
    return "/".join([*parts, image.partition(":")[0]])


def _places(named: Iterable[Place], names: Sequence[str]) -> list[Place]:
    """What is of a technology, the product and what is called so itself first."""
    others = _OF_OTHERS.difference(*map(parts_of, names))
    fitting = [(fit(name, names), name, path, line) for name, path, line in named]
    found = sorted(
        (non_product_code(path) is not None, -fits, len(name), name, path.count("/"), path, line)
        for fits, name, path, line in fitting
        if fits == WHOLE or (fits and others.isdisjoint(parts_of(name)) and not is_of_another(name, names))
    )
    return [(name, path, line) for _, _, _, name, _, path, line in found]


def _in_code(index: LabelIndex, text: str) -> list[Place]:
    """(file name, path, line) of the first line of code that has a text."""
    shard, scope = index.parts.shard(), index.scope()
    try:
        points = points_saying(text, index.parts, scope, _MOST_READ).ids
        payloads = shard.retrieve(sorted(points), scope).values()
        for payload in sorted(payloads, key=lambda one: (one.get("Path", ""), one.get("StartLine", 0))):
            source = section_source(payload, index.parts.document) if payload.get("Kind") != "Document" else ""
            for at, line in enumerate(source.split("\n")):
                if text in line:
                    path = payload["Path"]
                    return [(path.rpartition("/")[2], path, at + payload.get("StartLine", 1))]
    except (BlobError, KeywordIndexError):  # what is damaged, the search says
        pass
    return []


def _told(found: Mapping[str, Sequence[Place]], *, of_tests: bool) -> list[GraphFact]:
    """Each package once, a few of each technology, those with most first; what tests alone use is told only where
    nothing else is."""
    facts: list[GraphFact] = []
    for technology, places in sorted(found.items(), key=lambda one: -len({name for name, *_ in one[1]})):
        first: dict[str, tuple[str, int]] = {}
        for name, path, line in places:
            first.setdefault(name, (path, line))
        for name, (path, line) in islice(first.items(), _MOST_OF_ONE):
            says = not set(parts_of(technology)).isdisjoint(parts_of(name))
            verb, target = ("", "") if says else ("is of", technology)
            facts.append(GraphFact(name, verb, target, path, line, certain=True))
    product = [one for one in facts if of_tests or non_product_code(one.path) is None]
    return product or facts


def _at(index: LabelIndex, facts: Sequence[GraphFact], heading: str = "") -> Facts:
    """The first facts, with the points that show them."""
    at = facts_at(facts[:_MOST_TOLD], index)
    return GraphFacts(tuple(at), len(at), heading), at


def _first_line(index: LabelIndex, path: str) -> int:
    known = lines_of(index, [path]).get(path, {})
    return next((number for number, text in known.items() if text.strip()), 0)


def project_facts(index: LabelIndex, asked: EverydayQuestion, graph: Graph | None = None) -> FactsOrAbsent:
    """The licence, a version or the size of the project, or the version that manifests say of a package."""
    paths = sorted(index.parts.shard().values("Path", index.scope()), key=from_the_root)
    if asked.about is Everyday.SIZE:
        return _sizes(index, paths, of_lines=bool(asked.words))
    if asked.about is Everyday.LICENCE:
        facts = [*_licences(index, paths), *_lines_with(index, paths, _LICENCE)]
        return *_at(index, facts), "no licence file, and no manifest that names a licence, was found"
    if asked.about is Everyday.VERSION:
        facts = list(_lines_with(index, paths, _VERSION, _SAYS_VERSION))
        return *_at(index, facts), "no manifest says a version; tags may: git describe --tags"
    of_platform = asked.words[0] == "platform"
    told = _RUNTIME.get(asked.words[0], ())
    facts = list(_lines_with(index, paths, told, _PLATFORM if of_platform else None))
    if not facts and graph is not None and not told:  # `hilt-android` has no version of Android
        facts = _package_versions(index, graph, asked.words[0])
        facts = facts or [*_lines_with(index, paths, ((".versions.toml", [f"{asked.words[0]} ="]),))]
    if asked.within and not facts:  # of a part of the program, maybe
        return GraphFacts(), {}, ""
    if not facts and (not told or asked.words[0] in _ENGINES):
        return *_at(index, list(_versions_said(index, paths, asked.words[0]))), ""
    return *_at(index, facts), "" if of_platform else f"no manifest says which version of {asked.words[0]} is needed"


_MAIN = word_set("core framework")
"""What the package is called that a family is about: `laravel/framework`."""
_REFERS = re.compile(r"\bversion\.ref\s*=\s*[\"'](?P<key>[\w.-]+)[\"']")


def _package_versions(index: LabelIndex, graph: Graph, name: str) -> list[GraphFact]:
    """The lines that say which version of the packages that are called best by a name is used: of a version catalog
    those that these refer to."""
    known = index.parts.shard().values("Path", index.scope())
    packages = [(fit(one[0], (name,)), one) for one in _packages(graph) if one[1] in known and name not in CALLED]
    packages = [(fits, one) for fits, one in packages if fits > INSIDE or parts_of(one[0])[-1:] == parts_of(name)[-1:]]
    best = max((fits for fits, _ in packages), default=0)
    fitting = [one for fits, one in packages if fits == best > 0]
    main = [one for one in fitting if _MAIN.issuperset({*parts_of(one[0])} - {*parts_of(name)})]
    named = _places(main or fitting, (name,))
    lines, found = lines_of(index, {path for _, path, _ in named}), dict[tuple[str, int], GraphFact]()
    for package, path, line in named:
        of_file = lines.get(path, {})
        if refers := _REFERS.search(of_file.get(line, "")):
            says = re.compile(rf"\s*[\"']?{re.escape(refers['key'])}[\"']?\s*=")
            line = next((at for at, text in sorted(of_file.items()) if says.match(text)), line)
        if any(map(str.isdigit, of_file.get(line, ""))):
            found.setdefault((path, line), GraphFact(package, "", "", path, line, certain=True))
    return list(found.values())[:_MOST_OF_ONE]


def _lines_with(
    index: LabelIndex, paths: Sequence[str], wanted: _Told, pattern: re.Pattern[str] | None = None
) -> Iterator[GraphFact]:
    """The first line of each kind of file that has one of its texts, and begins as `pattern` says, all of those that
    say what is targeted, and have it: of the files nearest to the root, those with short names first, and of others
    that say something else."""
    for endings, texts in wanted:
        names, ends = set(endings.split()), tuple(one for one in endings.split() if one.startswith("."))
        named = ((one, one.lower().rpartition("/")[2]) for one in paths)
        of_kind = [one for one, name in named if name in names or (ends and name.endswith(ends))]
        product = sorted(
            (one for one in of_kind if non_product_code(one) is None), key=lambda one: (one.count("/"), len(one), one)
        )
        lines = lines_of(index, product[:_MOST_TOLD])
        told: list[str] = []
        for path, known in ((path, lines[path]) for path in product if path in lines):
            if texts is _TARGETED:
                numbers = [one for one in _targeted(known) if pattern is None or pattern.search(known[one])]
            else:
                having = [(text, number) for number, text in known.items() if _has(text, texts)]
                found = [(indent_of(text), number) for text, number in having if pattern is None or pattern.match(text)]
                numbers = [min(found)[1]] if found else []
            new = [one for one in numbers if len(told) < _MOST_OF_ONE or known[one].strip() not in told]
            told += [known[one].strip() for one in new]
            for line in new:
                yield GraphFact(path.rpartition("/")[2], "", "", path, line, certain=True, is_comment=True)


def _versions_said(index: LabelIndex, paths: Sequence[str], name: str) -> Iterator[GraphFact]:
    """The lines of the first documents that say a version of something: `PostgreSQL 12 and later` of postgres; first
    those that demand it."""
    says = re.compile(
        rf"(?<!\w){re.escape(name)}[a-z]*(?: version)?[ (:>=≥-]{{1,4}}"
        r"(?:(?:at least|from|min(?:imum|\.)?) )?(?:version )?v?\d",
        re.IGNORECASE,
    )
    told: dict[str, GraphFact] = {}
    for path, known in lines_of(index, [path for path in paths if DOCUMENT.fullmatch(path)]).items():
        for line, text in known.items():
            if says.search(text):
                told.setdefault(text, GraphFact(path.rpartition("/")[2], "", "", path, line, True, is_comment=True))
    yield from (told[text] for text in sorted(told, key=lambda text: _DEMANDS.search(text) is None))


def _targeted(lines: Mapping[int, str]) -> list[int]:
    """The lines of a project file that say what it targets, within an element of several lines too."""
    found, is_within = list[int](), False
    for number, text in lines.items():
        is_within = is_within or any(one in text.lower() for one in _TARGETED)
        if is_within and any(map(str.isdigit, text)):
            found.append(number)
        is_within = is_within and "</" not in text and "/>" not in text
    return found


def _has(line: str, texts: Sequence[str]) -> bool:
    said = line.strip().lower()
    return bool(said) and any(text in said for text in texts) and (any(map(str.isdigit, said)) or "licen" in said)


def _licences(index: LabelIndex, paths: Sequence[str]) -> Iterator[GraphFact]:
    """The licence files at the root, each with the licence whose words it has."""
    files = [path for path in paths if _LICENCE_FILE.fullmatch(path.removeprefix(".github/"))]
    for path, known in lines_of(index, files).items():
        is_own = _OF_THIRD.search(path) is None
        name = _licence_of(" ".join(" ".join(known.values()).lower().split())) if is_own else ""
        line = next((number for number, text in known.items() if text.strip()), 1)
        yield GraphFact(path, "is" if name else "", name, path, line, certain=True, is_comment=True)


def _licence_of(words: str) -> str:
    """The licence that a text begins as; nothing where it is none that is known, or says that there are several."""
    if begun := next((name for text, name in _BODIES.items() if words.startswith(text)), ""):
        return begun
    if _SEVERAL.search(words[:_TITLE_CHARS]):
        return ""
    return _first_of(_TITLES, words[:_TITLE_CHARS]) or _first_of(_BODIES, words[:_BODY_CHARS])


def _first_of(names: Mapping[str, str], words: str) -> str:
    found = [(words.index(text), name) for text, name in names.items() if text in words]
    return min(found)[1] if found else ""


def _sizes(index: LabelIndex, paths: Sequence[str], *, of_lines: bool) -> FactsOrAbsent:
    """The languages by the number of their files, and of the lines in these, those of programs first, each with a file
    of the product."""
    from rag_assets.languages.detection import SourceType, detect_language, source_type

    languages = {path: detect_language(path) for path in paths}
    lines, facts = Counter[str](), []
    for path, count in last_lines(index).items() if of_lines else ():
        lines[languages.get(path, "")] += count
    for language, count in Counter(languages.values()).most_common():
        is_code = source_type(language) in (SourceType.CODE, SourceType.SQL)
        group = _PROGRAMS if is_code else "Data, markup and texts"
        of_it = [path for path in paths if languages[path] == language]
        path = next((one for one in of_it if non_product_code(one) is None), of_it[0])
        number, name = _first_line(index, path), path.rpartition("/")[2]
        counted = f" with {lines[language]:,} lines" if of_lines else ""
        said = f"has {count:,} files{counted}, such as" if count > 1 else f"has one file{counted},"
        facts.append(GraphFact(language, said, name, path, number, certain=True, group=group, is_comment=True))
    facts.sort(key=lambda one: one.group != _PROGRAMS)
    are = "are within the filter" if index.is_narrowed else "are indexed"
    counted = f" with {lines.total():,} lines" if of_lines else ""
    told, at = _at(index, facts, f"**{len(paths):,} files{counted} {are}:**")
    return replace(told, total=len(paths)), at, ""


def last_lines(index: LabelIndex) -> dict[str, int]:
    """Each file with the last line of its last section."""
    shard, scope = index.parts.shard(), index.scope()
    last: dict[str, int] = {}
    for payload in shard.retrieve(sorted(shard.ids(scope)), scope).values():
        path = payload.get("Path", "")
        last[path] = max(last.get(path, 0), int(payload.get("EndLine", 0)))
    return last


def exports(index: LabelIndex, graph: Graph, module: str) -> FactsOrAbsent:
    """The types and functions that the files of a module, or a folder, let others use."""
    known = index.parts.shard().values("Path", index.scope())
    folder = f"{module.strip('/')}/"
    paths = [path for path in known if path.startswith(folder)] or [*meant(module, known)]
    paths = [path for path in paths if non_product_code(path) is None]
    payloads = sections_of(paths, index.parts.shard(), index.scope()).values() if paths else ()
    keys = {key for payload in payloads for key in payload.get("GraphNodeKeys", ())}
    nodes = sorted(node for key in keys if key_kind(key) in _DECLARED and (node := graph.find(key)) is not None)
    said = {path: _exported_in(lines.values()) for path, lines in lines_of(index, paths).items()}
    found = [
        one
        for one in places_of(graph, np.array(nodes, np.int64))
        if _is_exported(graph, one.key, said.get(one.path, "")) and not _is_member(graph, one.key)
    ]
    facts = [one.fact for one in sorted(seen_of(found, index), key=lambda one: (one.path, one.line))]
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), f"**{len(facts)} declarations for others:**"), at, ""


def _exported_in(lines: Iterable[str]) -> str:
    """What a module of CommonJS says last: what it exports."""
    return "\n".join(lines).rpartition("module.exports")[2]


def _is_exported(graph: Graph, key: str, said: str) -> bool:
    node = graph.find(key)
    assert node is not None
    name, words = graph.names[node], graph.signature(node).split()
    match graph.language(node):
        case "go":
            return name[:1].isupper()
        case "python":
            return not name.startswith("_")
        case "typescript" | "javascript":
            return words[:1] == ["export"] or re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said) is not None
    return "public" in words


def _is_member(graph: Graph, key: str) -> bool:
    """Whether a type has it: what that type lets others use, its declaration says."""
    owner = key.rpartition("|")[0].partition("(")[0].rpartition(".")[0]
    return graph.find(f"{owner}|{NodeType.TYPE.value}") is not None
