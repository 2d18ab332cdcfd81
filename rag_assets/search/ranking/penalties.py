"""What lies beside the product: tests, samples, benchmarks, translations, records, wrappers of builds, documents, and
types that others implement. It uses the same words and is seldom what is looked for.

Decided by path alone, with the conventions of the languages that are indexed. Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Container, Iterable
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from rag_assets.identifiers import identifier_words, word_set
from rag_assets.index.keyword.terms import runs, word_terms
from rag_assets.index.vectors.vector_api import FileRef

_CACHED_PATHS = 1 << 14  # of a large repository those that searches meet

DEMOTION = 0.5
"""What the score of a file beside the product is multiplied with, unless the question asks for that kind of code.
nDCG@10 as in `search.ranking`, without history, with 1, .8, .6, .5 and .4: commit .427 .492 .508 .514
.515, doc .699 .712 .721 .722 .722, nothing else changes; with test files removed altogether .515 and .722. A factor
lets the test through that is the only one to answer."""

DOCUMENT_DEMOTION = 0.6
"""The same for documents: they are welcome on a page, after the code that does it. nDCG@10 of 24 repositories in four
languages whose files were all ranked (commit subjects that do not spell the name of an answer / doc summaries), with 1,
.8, .7, .6, .5: .515 .554 .568 .578 .582 and .784 .800 .806 .808 .811; annotators in five languages .812 .817 .827 .829
.832. Not less than .6, because no answer of these sets is a document, and of people's questions some are."""

QUESTION_DOCUMENT_DEMOTION = 0.85
"""The same for a question: people ask what documents answer as often as what code does."""

TYPES_DEMOTION = 0.6
"""Of a file that declares types and does nothing, for a question that neither names it nor asks for interfaces: it has
the words of what implements it, and the answer is there."""

TEMPLATE_DEMOTION = 0.8
"""Of templates of pages and of styles, unless the question asks for such: they have the words of what the code behind
them does. nDCG@10 of searches in five repositories of five languages, and in five others, with 1, .8, .6: .819 .830
.831 and .885 .927 .928; of fourteen other languages .802 .805, of people's questions in C# .609 always."""

TEXTS_DEMOTION = 0.8
"""Of the texts that users of a program see, unless a search asks for one: they name everything and decide nothing."""

TOOLING_DEMOTION = 0.5
"""Of what sets up an editor or git, and of diagrams as text, unless the question asks for such: they list the names of
everything, and say of nothing how it works."""

ASSISTANT_DEMOTION = 0.25
"""Of what tells the assistants of editors how to work, unless the question asks for such: it speaks of tools, searches,
files and names, as questions do, and of what the product does nothing."""

SCENE_DEMOTION = 0.5
"""Of scenes, prefabs and other assets that the editor of an engine writes, unless the question asks for such: they have
the names of the fields and methods of code, thousands of lines of them."""

OLDER_DEMOTION = 0.8
"""Of a file in the folder of a version (`v3/`, `docs/quartz-3.x/`) where one of a newer version was found beside it:
the same is there twice, and the newer is meant unless a question says otherwise."""

OLDER_COPY_DEMOTION = 0.5
"""The same where the newer one has a file of that name in the same place."""

_FIRST_WORDS = 3
"""Of a question, where it says what it is for: "tests of the basket", "which tests cover refunds". "Round up and add
tests" is not a question for tests; taking it for one costs commit .02."""
_FEW_WORDS = 4  # of which each says what it is for: "refund policy unit tests"


class BesideProduct(Enum):
    """What a file is beside the code of the product, and the words with which a question asks for it."""

    TEST = frozenset({"test", "spec"})
    SAMPLE = frozenset({"sample", "example", "demo", "experiment", "playground"})
    BENCHMARK = frozenset({"benchmark"})
    TRANSLATION = frozenset(
        {"translation", "translate", "translated", "localization", "localisation", "locale", "i18n", "l10n"}
    )
    DATA = frozenset({"csv", "dataset"})
    WRAPPER = frozenset({"gradlew", "mvnw", "wrapper"})
    TYPES = frozenset({"interface", "contract", "typing"})
    TEMPLATE = frozenset({"button", "css", "dialog", "form", "layout", "page", "screen", "style", "template"})
    TEXTS = frozenset(
        {"caption", "error", "label", "message", "resource", "string", "text", "tooltip", "warning", "wording"}
    )
    TOOLING = frozenset(
        {
            "diagram",
            "editor",
            "editorconfig",
            "git",
            "gitattributes",
            "gitignore",
            "ide",
            "plantuml",
            "snippet",
            "vscode",
        }
    )
    ASSISTANT = frozenset(
        (
            *("agent", "assistant", "claude", "codex", "copilot", "cursor", "prompt", "skill"),
            *("contribute", "contributor", "convention", "guideline", "style"),  # which they are told as people are
        )
    )
    SCENE = frozenset(
        {"animation", "asset", "inspector", "material", "node", "prefab", "scene", "serialized", "shader", "sprite"}
    )
    DOCUMENT = frozenset(
        (
            *("doc", "document", "documentation", "guide", "tutorial", "manual", "handbook", "readme", "changelog"),
            *("faq", "policy", "procedure", "runbook", "playbook", "adr", "decision", "proposal", "transcript"),
        )
    )


_ASKED_ANYWHERE = frozenset(BesideProduct) - {BesideProduct.TEST, BesideProduct.SAMPLE, BesideProduct.BENCHMARK}
_FOLDERS = {
    **dict.fromkeys(("test", "tests", "testing", "tst", "spec", "specs", "testdata"), BesideProduct.TEST),
    **dict.fromkeys(("fixtures", "mocks", "cypress", "playwright", "testassets", "testfixtures"), BesideProduct.TEST),
    **dict.fromkeys(("testfiles", "testresources", "testsupport", "testutil", "testutils"), BesideProduct.TEST),
    **dict.fromkeys(("sample", "samples", "example", "examples", "demo", "demos"), BesideProduct.SAMPLE),
    **dict.fromkeys(("experiment", "experiments", "playground"), BesideProduct.SAMPLE),
    **dict.fromkeys(("benchmark", "benchmarks", "perf"), BesideProduct.BENCHMARK),
}
"""The last word of a folder: `tests`, `Shop.UnitTests`, `ShopTests`, `__tests__`, `Shop.Benchmarks`."""
_OF_TESTS = re.compile(r"(?:^|[.a-z\d])Tests\.[A-Z]")
"""Of .NET, a project that belongs to one of tests: `Shop.UnitTests.Viewer`, `Shop.Tests.Shared`."""
_PACKAGE = re.compile(r"(?P<sources>(?:^|/)src/\w+)/(?:groovy|java|kotlin|scala)(?:/[^/]+){0,3}")
"""Of the JVM, the folders that say whose code it is, and all of a project has: `src/main/java/com/example/demo`."""
_HOLDS_SOME = word_set(
    "app apps assets common components content data files harness helpers infrastructure projects resources support"
    " utilities utils"
)
"""A last word that says as little: `SampleData`, `test-assets`, `TestHelpers`."""
_FILES = frozenset({"test", "tests", "spec", "specs"})
"""The last word of a file name: `OrderTests.cs`, `order_test.go`, `order.spec.ts`."""
_DATA = re.compile(
    r"\.(?:csv|geojson|jsonl|ndjson|tsv)$|(?:^|/)[\w.-]*(?:seed(?:s|ing)?(?:[-_.]?data)?|datasets?|dumps?)/(?:.*/)?[^/]*\.(?:json|xml)$",
    re.IGNORECASE,
)
"""Records: what a database is first filled with, or a program is tried on."""
_WRAPPER = re.compile(r"(?:^|/)(?:(?:mvnw|gradlew)(?:\.\w+)?|millw?(?:\.bat)?)$")
"""The script with which a tool of builds fetches itself; which version of it is in another file."""
_DOCUMENTS = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".asciidoc", ".org", ".txt", ".pdf", ".docx")
_TEMPLATES = (
    *(".css", ".ejs", ".erb", ".ftl", ".ftlh", ".gohtml", ".haml", ".hbs", ".htm", ".html", ".j2", ".jinja2", ".jsp"),
    *(".less", ".liquid", ".mustache", ".pug", ".sass", ".scss", ".tmpl", ".twig"),
)
_SCENES = (
    *(".anim", ".asset", ".controller", ".lighting", ".mat", ".mixer", ".overridecontroller", ".physicmaterial"),
    *(".playable", ".prefab", ".preset", ".tres", ".tscn", ".unity", ".vfx"),
)
"""What the editors of Unity and Godot write."""
_TOOLING = re.compile(
    r"(?:^|/)\.(?:editorconfig|git(?:attributes|ignore)|idea/.*)$|\.(?:code-snippets|dgml|dot|drawio|mmd|plantuml|puml)$"
    r"|\.sln\.DotSettings$",
    re.IGNORECASE,
)
_INSTRUCTIONS = re.compile(
    r"(?:^|/)\.(?:(?!docs?/|documentation/|git(?:hub|lab)/|devcontainer/|docker/|azure\w*/|build/|ci/|config/|deploy\w*/)"
    r"[\w-]+/|github/(?:(?:agents|chatmodes|instructions|prompts|skills)/|copilot))"
    r"(?:.*/)?[^/]+\.mdc?$|(?:^|/)(?:AGENTS?|CLAUDE|CODEX|CRUSH|GEMINI|QWEN|SKILL|WARP)(?:\.local)?\.md$"
    r"|(?:^|/)\.(?:agents?|aider|claude|clinerules|codex|continue|cursor|gemini|junie|kiro|roo|windsurf)/"
)
"""Documents for the assistants of editors, by their names and in hidden folders, and all in folders of such assistants:
`AGENTS.md`, `.ai/rules.md`, `.claude/settings.json`."""
_README = re.compile(r"readme(?:\.(?!x?html?$)\w+)?", re.IGNORECASE)  # a page of its site is made from it
_TYPES = re.compile(
    r"(?:^|/)(?:I[A-Z][a-z]\w*\.cs|(?:types|interfaces|typings)(?:/.*)?\.tsx?|[^/]*\.(?:types|d)\.[cm]?ts)$"
)
"""Files of types alone, by the conventions of C# (`IBasket.cs`) and TypeScript (`types/store.ts`, `*.d.ts`)."""
_LOCALE = (
    r"(?:ar|az|bg|bn|bs|ca|cs(?=[-_])|da|de|el|es|et|eu|fa|fil?|fr|gl|he|hi|hr|hu|hy|id|is|it|ja|ka|kk|ko|lt|lv|mk|mn|ms"
    r"|n[bln]|no|pl|pt|ro|ru|sk|sl|sq|sr|sv|ta|th|tr|uk|ur|uz|vi|zh)(?:[-_](?:arab|cyrl|han[st]|latn))?(?:[-_]r?[a-z]{2})?"
)
_TRANSLATION = re.compile(
    rf"\.(?:arb|pot?|xcstrings|xliff|xlf)$|[._]{_LOCALE}\.(?:properties|resx)$|readme[._-]{_LOCALE}\.\w+$"
    rf"|\.{_LOCALE}\.(?:adoc|html?|mdx?|rst)$",
    re.IGNORECASE,
)
_OF_TEXTS = r"\.(?:ini|json5?|php|toml|xml|ya?ml)"  # of code another name may end so: `do_it.py`
_NAMED_AS_LOCALE = re.compile(
    rf"(?:[\w-]+\.)?{_LOCALE}\.\w+|cs{_OF_TEXTS}|[\w.-]+[-_]{_LOCALE}{_OF_TEXTS}", re.IGNORECASE
)
_FOLDER_OF_LOCALE = re.compile(rf"(?P<inside>{_LOCALE})|values-{_LOCALE}|{_LOCALE}\.lproj", re.IGNORECASE)
_FOLDER_OF_TEXTS = re.compile(r"i18n|l10n|lang(?:uage)?s?|locales?|locali[sz]ations?|translations?", re.IGNORECASE)
"""Texts in other languages than English, by the conventions of gettext, XLIFF, .NET, Java, Android, Apple, and by
folders: they repeat what the code or the English text says, once for each language."""
_TEXTS = re.compile(
    r"\.(?:res[wx]|strings|stringsdict)$|(?:^|/)(?:values/strings\.xml|messages(?:_en)?\.properties)$"
    r"|(?:^|/)\w*strings?(?:resources?)?(?:\.[\w-]+)?\.a?xaml$",
    re.IGNORECASE,
)
_ENGLISH = r"en(?:[-_](?:gb|us))?"
_FOLDER_OF_ENGLISH = re.compile(
    rf"(?:^|/)(?:{_FOLDER_OF_TEXTS.pattern})/{_ENGLISH}/(?:.*/)?[^/]+{_OF_TEXTS}$", re.IGNORECASE
)
_NAMED_AS_ENGLISH = re.compile(rf"(?:[\w-]+\.)?{_ENGLISH}\.(?!md)\w+|[\w.-]+[-_]{_ENGLISH}{_OF_TEXTS}", re.IGNORECASE)
"""The same texts in the language that they are written in, by the same conventions and those of XAML."""
_SAYS_LOCALE = re.compile(
    rf"(?:(?:^|[._-])(?P<file>{_LOCALE}|cs|{_ENGLISH})\.\w+"
    rf"|(?:^|/)(?:values-)?(?P<folder>{_LOCALE}|{_ENGLISH})(?:\.lproj)?/[^/]+)$",
    re.IGNORECASE,
)
_VERSION = re.compile(r"(?:^|/)(?:[a-z]+[-_]?)??(v\d+(?:\.\w+)*|\d+(?:\.(?:\d+|x))+)(?=/)", re.IGNORECASE)
_VERSIONED_DOCS = re.compile(r"(?:^|/)(versioned_)?docs(?=/)")
"""Of Docusaurus: the pages of today, and in folders of their versions those of before."""
UPGRADE = re.compile(r"--[\w.]+--(?P<to>\d+(?:\.\d+)*)[^/]*\.sql$", re.IGNORECASE)
"""A script that takes an extension of PostgreSQL from one version to the next: `cron--1.0--1.1.sql`."""
_HOW_TO = re.compile(r"\s*(?:how\s+(?:do|can|should|would)\s+(?:i|we|you|one)|how\s?to)\b", re.IGNORECASE)
_MAY_BE_TEST = re.compile("test|spec", re.IGNORECASE)  # what all of them have, found before words are told apart
_EXPECTED = re.compile(r"\.(?:bats|snap|(?:approved|received|verified)\.\w+|(?!latest$)\w*tests?)$")
"""What a test is, compares with or reads: bats, Jest, Verify, ApprovalTests, `select.test`, `site.caddyfiletest`."""
_FIRST_WORD = re.compile(r"(?:test_\w+|tests)\.(?:c|cc|cpp|exs|jl|lua|py|r|rb|rs|sh)|test\.(?:c|cc|cpp)|conftest\.py")


@lru_cache(maxsize=_CACHED_PATHS)
def non_product_code(path: str) -> BesideProduct | None:
    """What a file is by its path, the nearest folder deciding; None for the product itself and its documents."""
    folder, _, name = path.rpartition("/")
    if _MAY_BE_TEST.search(name):
        stem = [word.lower() for word in identifier_words(name.rpartition(".")[0])]
        if (len(stem) > 1 and stem[-1] in _FILES) or _FIRST_WORD.fullmatch(name):
            return BesideProduct.TEST
    if _EXPECTED.search(name):
        return BesideProduct.TEST
    if _TRANSLATION.search(name) or (_NAMED_AS_LOCALE.fullmatch(name) and _has_texts(folder)):
        return BesideProduct.TRANSLATION
    if _WRAPPER.search(path):
        return BesideProduct.WRAPPER
    if _DATA.search(path):
        return BesideProduct.DATA
    return _side_of_folder(_PACKAGE.sub(r"\g<sources>", folder))


@lru_cache(maxsize=_CACHED_PATHS)
def _side_of_folder(path: str) -> BesideProduct | None:
    """Asked for the files of a question that nobody has asked before, most of which are in folders that are known."""
    above, _, folder = path.rpartition("/")
    words = [word.lower() for word in identifier_words(folder)]
    side = _FOLDERS.get(words[-2 if len(words) > 1 and words[-1] in _HOLDS_SOME else -1]) if words else None
    side = BesideProduct.TEST if side is None and _OF_TESTS.search(folder) else side
    if side is None and (locale := _FOLDER_OF_LOCALE.fullmatch(folder)):
        parent = above.rpartition("/")[2].lower()
        if not locale["inside"] or parent in ("doc", "docs") or _FOLDER_OF_TEXTS.fullmatch(parent):
            return BesideProduct.TRANSLATION
    return _side_of_folder(above) if side is None and above else side


@lru_cache(maxsize=_CACHED_PATHS)
def _has_texts(folder: str) -> bool:
    return any(map(_FOLDER_OF_TEXTS.fullmatch, folder.split("/")))


@lru_cache(maxsize=_CACHED_PATHS)
def has_shown_texts(path: str) -> bool:
    """Whether a file is by its path one of texts that users of a program see."""
    folder, _, name = path.rpartition("/")
    if _TEXTS.search(path) is not None or _FOLDER_OF_ENGLISH.search(path) is not None:
        return True
    return _NAMED_AS_ENGLISH.fullmatch(name) is not None and _has_texts(folder)


def locale_of(path: str) -> str:
    """The language of a file of texts, by what it or its folder is called: `de`, `pt-BR`; '' where neither says one."""
    name = path.rpartition("/")[2]
    found = _SAYS_LOCALE.search(name) or _SAYS_LOCALE.search(path)
    return (found["file"] or found["folder"]) if found is not None else ""


def is_test_path(path: str) -> bool:
    return non_product_code(path) is BesideProduct.TEST


def product_or_samples(paths: Iterable[str]) -> set[str]:
    """Of some paths those of the product, else those of samples: a project may be its samples."""
    sides = {path: non_product_code(path) for path in paths}
    product = {path for path, side in sides.items() if side is None}
    return product or {path for path, side in sides.items() if side is BesideProduct.SAMPLE}


def asked_for(text: str) -> frozenset[BesideProduct]:
    """The kinds of files beside the product that a question is for: of code where it says so at its beginning, of types
    and documents anywhere, or as "how do I …", which guides answer."""
    words = [term for run in runs(text) for term in word_terms(run)]
    telling = words if len(words) <= _FEW_WORDS else words[:_FIRST_WORDS]
    asked = {side for side in BesideProduct if not side.value.isdisjoint(words if side in _ASKED_ANYWHERE else telling)}
    if _HOW_TO.match(text):
        asked.add(BesideProduct.DOCUMENT)
    return frozenset(asked)


def demotion(path: str, asked: Collection[BesideProduct], question: Container[str] | None = None) -> float:
    """1 for the product and for what is asked for, else a factor of this module. `question` are the terms of a text
    that asks something, None of other texts."""
    side = non_product_code(path)
    if side is not None:
        return 1.0 if side in asked else DEMOTION
    if BesideProduct.ASSISTANT not in asked and _is_for_assistants(path):
        return TOOLING_DEMOTION if BesideProduct.DOCUMENT in asked else ASSISTANT_DEMOTION
    if BesideProduct.DOCUMENT not in asked and path.lower().endswith(_DOCUMENTS):
        return DOCUMENT_DEMOTION if question is None else QUESTION_DOCUMENT_DEMOTION
    if BesideProduct.TEMPLATE not in asked and path.lower().endswith(_TEMPLATES):
        return TEMPLATE_DEMOTION
    if BesideProduct.SCENE not in asked and path.lower().endswith(_SCENES):
        return SCENE_DEMOTION
    if BesideProduct.TOOLING not in asked and is_tooling(path):
        return TOOLING_DEMOTION
    if not {BesideProduct.TEXTS, BesideProduct.TRANSLATION} & set(asked) and has_shown_texts(path):
        return TEXTS_DEMOTION
    if question is None or BesideProduct.TYPES in asked or not _declares_types(path) or _name(path) in question:
        return 1.0
    return TYPES_DEMOTION


def is_readme(path: str) -> bool:
    """Whether a file is the README of its folder, in the language of the project."""
    return _README.fullmatch(path.rpartition("/")[2]) is not None


@lru_cache(maxsize=_CACHED_PATHS)
def is_tooling(path: str) -> bool:
    """Whether a file is by its path one of settings of an editor or git, or a diagram as text."""
    return _TOOLING.search(path) is not None


@lru_cache(maxsize=_CACHED_PATHS)
def _is_for_assistants(path: str) -> bool:
    """Whether a file is by its path one that tells assistants of editors how to work, and not what the product does."""
    return _INSTRUCTIONS.search(path) is not None


@lru_cache(maxsize=_CACHED_PATHS)
def _declares_types(path: str) -> bool:
    return _TYPES.search(path) is not None


def _name(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


def older_versions(places: Iterable[FileRef], said: Container[str]) -> dict[FileRef, float]:
    """What the scores of the files of a version beside which a newer one is among `places` are multiplied with; not of
    a version whose number is among the terms `said` of a question."""
    found = {place: its for place in places if (its := _version_of(place.path)) is not None}
    newest: dict[tuple[str, str], tuple[float, ...]] = {}
    for place, its in found.items():
        newest[place.label, its.beside] = max(newest.get((place.label, its.beside), its.number), its.number)
    current = {
        (place.label, its.beside, its.inside)
        for place, its in found.items()
        if its.number == newest[place.label, its.beside]
    }
    return {
        place: OLDER_COPY_DEMOTION if (place.label, its.beside, its.inside) in current else OLDER_DEMOTION
        for place, its in found.items()
        if its.number < newest[place.label, its.beside] and str(its.number[0]) not in said
    }


class _Version(NamedTuple):
    """What the paths of all versions begin with, the number of one, and the path of a file in its folder."""

    beside: str
    number: tuple[float, ...]
    inside: str


@lru_cache(maxsize=_CACHED_PATHS)
def _version_of(path: str) -> _Version | None:
    """The version whose folder a file is in, or to which it upgrades; the pages of today are the newest."""
    if upgrade := UPGRADE.search(path):
        return _Version(path[: upgrade.start()].lower(), tuple(map(int, upgrade["to"].split("."))), "")
    match, docs = _VERSION.search(path), [*_VERSIONED_DOCS.finditer(path)]
    number = tuple(map(int, re.findall(r"\d+", match[1]))) if match is not None else ()
    if docs and (number == () or docs[-1][1]):
        inside = path[(match or docs[-1]).end() :]
        return _Version(path[: docs[-1].start()].lower(), number or (math.inf,), inside)
    return None if match is None else _Version(path[: match.start(1)].lower(), number, path[match.end() :])


PRIORITY_FACTORS = {1: 1.25, 2: 1.1, 4: 0.9, 5: 0.75}
"""What the score of a file is multiplied with by the priority that people gave it (B08); 3 is the usual one. Enough to
put one of two files before the other that say about the same, too little to put first what says half as much."""


def priority_factor(priority: int) -> float:
    return PRIORITY_FACTORS.get(priority, 1.0)
