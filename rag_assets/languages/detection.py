"""What a repository path tells: language, source type, module. One table; names only, contents are never read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec

from rag_assets.contracts.source_file import name_copied_to

_UNNAMED = "file"  # for a text without path, as tests and callers of one segmenter pass it


def file_stem(path: str) -> str:
    """`src/Order.Service.cs` → `Order.Service`; `.editorconfig` → `.editorconfig`."""
    name = path.rsplit("/", 1)[-1]
    stem, dot, _ = name.rpartition(".")
    return (stem if dot and stem else name) or _UNNAMED


def directory(path: str) -> str:
    """`a/b/c.go` → `a/b`; empty at the root."""
    return path.rpartition("/")[0]


def without_extension(path: str) -> str:
    """`web/src/cart.ts` → `web/src/cart`."""
    folder = directory(path)
    return f"{folder}/{file_stem(path)}" if folder else file_stem(path)


def python_module(path: str) -> str:
    """`src/shop/cart.py` → `shop.cart`; a package is its folder: `shop/__init__.py` → `shop`."""
    parts = without_extension(path).removeprefix("src/").split("/")
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return ".".join(part for part in parts if part)


class SourceType(StrEnum):
    """What a file is to a reader; a filter of every query (E08)."""

    CODE = "code"
    SQL = "sql"
    DOCUMENT = "document"
    CONFIG = "config"
    RESOURCE = "resource"
    TRANSCRIPT = "transcript"
    MARKUP = "markup"


DETECTS_LANGUAGES = find_spec("py3langid") is not None
"""Whether the human language of documents is detected, which their descriptions depend on: pip install
'rag-assets[documents]'."""

DOCUMENTS = (SourceType.DOCUMENT, SourceType.TRANSCRIPT)
"""What people wrote or said."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language, what its files are, and how they are recognised (all in lower case, blank-separated).

    `names` are whole file names; one also matches with a leading dot or an unknown suffix (`.env.local`).
    """

    name: str
    source_type: SourceType
    extensions: str = ""
    names: str = ""


TEXT = "text"
"""The language of every file that the table does not know."""

_CODE, _CONFIG, _MARKUP, _DOCUMENT = SourceType.CODE, SourceType.CONFIG, SourceType.MARKUP, SourceType.DOCUMENT

_TABLE = (
    # code; csharp, go, java, javascript, python, tsx and typescript have a grammar here
    Language("csharp", _CODE, "cs csx cake"),
    Language("go", _CODE, "go"),
    Language("java", _CODE, "java"),
    Language("javascript", _CODE, "js jsx mjs cjs"),
    Language("python", _CODE, "py pyi pyw"),
    Language("tsx", _CODE, "tsx"),
    Language("typescript", _CODE, "ts mts cts"),
    Language("batch", _CODE, "bat cmd"),
    Language("bicep", _CODE, "bicep"),
    Language("c", _CODE, "c h"),
    Language("clojure", _CODE, "clj cljs cljc edn"),
    Language("cpp", _CODE, "cpp cc cxx hpp hh hxx inl ipp"),
    Language("dart", _CODE, "dart"),
    Language("elixir", _CODE, "ex exs"),
    Language("erlang", _CODE, "erl hrl"),
    Language("fsharp", _CODE, "fs fsi fsx"),
    Language("graphql", _CODE, "graphql gql"),
    Language("groovy", _CODE, "groovy gradle", "jenkinsfile"),
    Language("haskell", _CODE, "hs lhs"),
    Language("http", _CODE, "http rest"),
    Language("ipynb", _CODE, "ipynb"),
    Language("julia", _CODE, "jl"),
    Language("kotlin", _CODE, "kt kts"),
    Language("kusto", _CODE, "kql csl"),
    Language("lua", _CODE, "lua rockspec"),
    Language("objectivec", _CODE, "m mm"),
    Language("perl", _CODE, "pl pm"),
    Language("php", _CODE, "php phtml inc"),
    Language("powershell", _CODE, "ps1 psm1 psd1"),
    Language("prisma", _CODE, "prisma"),
    Language("proto", _CODE, "proto"),
    Language("r", _CODE, "r"),
    Language("ruby", _CODE, "rb rake gemspec ru jbuilder", "gemfile rakefile podfile vagrantfile fastfile"),
    Language("rust", _CODE, "rs"),
    Language("scala", _CODE, "scala sc sbt mill"),
    Language("shader", _CODE, "hlsl glsl fx shader compute"),
    Language("shell", _CODE, "sh bash zsh fish ksh bats"),
    Language("svelte", _CODE, "svelte"),
    Language("swift", _CODE, "swift"),
    Language("terraform", _CODE, "tf tfvars hcl"),
    Language("vb", _CODE, "vb vbs bas"),
    Language("verilog", _CODE, "v vh sv svh"),
    Language("vue", _CODE, "vue"),
    Language("zig", _CODE, "zig"),
    # sql
    Language("sql", SourceType.SQL, "sql psql pgsql tsql plsql mysql ddl dml prc udf"),
    # documents
    Language("markdown", _DOCUMENT, "md markdown mdown mkd mdx"),
    Language("rst", _DOCUMENT, "rst"),
    Language("asciidoc", _DOCUMENT, "adoc asciidoc"),
    Language("latex", _DOCUMENT, "tex"),
    Language("org", _DOCUMENT, "org"),
    Language("docx", _DOCUMENT, "docx"),
    Language("pdf", _DOCUMENT, "pdf"),
    Language(TEXT, _DOCUMENT, "txt text log"),
    # transcripts
    Language("srt", SourceType.TRANSCRIPT, "srt"),
    Language("vtt", SourceType.TRANSCRIPT, "vtt transcript.json"),
    # resources: texts and data that code looks up
    Language("resx", SourceType.RESOURCE, "resx resw"),
    Language("csv", SourceType.RESOURCE, "csv tsv"),
    Language("gettext", SourceType.RESOURCE, "po pot"),
    Language("properties", SourceType.RESOURCE, "properties"),
    Language("xliff", SourceType.RESOURCE, "xlf xliff"),
    # configuration
    Language("dockerfile", _CONFIG, "dockerfile", "dockerfile containerfile"),
    Language("ignore", _CONFIG, "gitignore dockerignore npmignore prettierignore eslintignore rag_assets_ignore"),
    Language(
        "ini",
        _CONFIG,
        "ini cfg conf env editorconfig globalconfig gitattributes gitmodules gitconfig npmrc service desktop",
        "env",
    ),
    Language(
        "json", _CONFIG, "json asmdef asmref jsonc json5 jsonl ndjson webmanifest babelrc eslintrc prettierrc swcrc"
    ),
    Language("makefile", _CONFIG, "mk mak cmake", "makefile gnumakefile cmakelists.txt"),
    Language("msbuild", _CONFIG, "csproj vbproj fsproj sqlproj vcxproj proj props targets tasks sln slnx slnf ruleset"),
    Language("toml", _CONFIG, "toml", "pipfile"),
    Language("yaml", _CONFIG, "yaml yml clang-format"),
    Language(
        "xml",
        _CONFIG,
        "xml config nuspec xsd wsdl xslt xsl plist manifest dtd rdl rdlc dtsx edmx vsixmanifest pubxml settings "
        "dotsettings runsettings xunit",
    ),
    # markup
    Language("css", _MARKUP, "css scss sass less"),
    Language("html", _MARKUP, "html htm xhtml hbs handlebars mustache ejs erb blade.php liquid aspx ascx master"),
    Language("razor", _MARKUP, "razor cshtml vbhtml"),
    Language("xaml", _MARKUP, "xaml axaml"),
)

LANGUAGES: dict[str, Language] = {language.name: language for language in _TABLE}
"""Every language by its name."""

_BY_EXTENSION = {ext: language.name for language in _TABLE for ext in language.extensions.split()}
_LONG_EXTENSIONS = tuple(extension for extension in _BY_EXTENSION if "." in extension)
_BY_NAME = {name: language.name for language in _TABLE for name in language.names.split()}


def detect_language(path: str) -> str:
    """The language of a repository path (`/`-separated), by file name and then extension; TEXT when unknown.

    Letter case does not matter. A dot file is its own extension: `.editorconfig` is `ini`. Only the last
    extension counts, but for `.transcript.json`: `a.sql.bak` is text, `Dockerfile.md` markdown, `Dockerfile.dev` a
    dockerfile.
    """
    name = path.rsplit("/", 1)[-1].lower()
    if copied := name_copied_to(name):
        known = detect_language(copied)
        return known if LANGUAGES[known].source_type is _CONFIG else TEXT
    if name in _BY_NAME:
        return _BY_NAME[name]
    for ending in _LONG_EXTENSIONS:
        if name.endswith(f".{ending}"):
            return _BY_EXTENSION[ending]
    _, dot, extension = name.rpartition(".")
    if dot and extension in _BY_EXTENSION:
        return _BY_EXTENSION[extension]
    return _BY_NAME.get(name.lstrip(".").split(".", 1)[0], TEXT)


WITHOUT_RESOLVER = frozenset(
    name for name, language in LANGUAGES.items() if language.source_type is SourceType.CODE
) - {"csharp"}
"""Languages of code whose calls are known as far as names and declared types tell, at most."""


def source_type(language: str) -> SourceType:
    """What files of `language` are; documents for a name that the table does not have."""
    known = LANGUAGES.get(language)
    return SourceType.DOCUMENT if known is None else known.source_type


_MANIFEST = re.compile(
    r"(?:.*/)?(?:(?P<package_json>package\.json|(?<![^/])Packages/manifest\.json)|(?P<pyproject>pyproject\.toml)|(?P<setup_cfg>setup\.cfg)|(?P<go_mod>go\.mod)"
    r"|(?P<packages_config>[Pp]ackages\.[Cc]onfig)"
    r"|(?P<cabal>[^/]+\.cabal)|(?P<mix>mix\.exs)|(?P<pubspec>pubspec\.ya?ml)|(?P<swift>Package\.swift)|(?P<vcpkg>vcpkg\.json)"
    r"|(?P<cmake>CMakeLists\.txt)|(?P<sbt>build\.(?:sbt|sc|mill)|project/\w+\.(?:sbt|scala))"
    r"|(?P<clojure>deps\.edn|project\.clj)|(?P<julia>(?:Julia)?Project\.toml)|(?P<zon>build\.zig\.zon)"
    r"|(?P<cargo>Cargo\.toml)|(?P<gems>Gemfile|[^/]+\.gemspec)|(?P<composer>composer\.json)|(?P<pom>pom\.xml)|(?P<gradle>build\.gradle(?:\.kts)?)|(?P<catalog>[^/]*\.versions\.toml)"
    r"|(?P<requirements>(?:(?:[^/]*[-_.])?requirements?(?:[-_.\d][^/]*)?|requirements/[^/]*)\.(?:txt|in)))"
)
_NAMES_PACKAGES = re.compile(
    r"(?:.*/)?(?:setup\.py|pipfile|[^/]+\.gradle(?:\.kts)?|[^/]+\.(?:cs|fs|vb|vcx)proj|[^/]+\.(?:props|targets)"
    r"|paket\.(?:dependencies|references)|gems\.rb|[^/]+\.rockspec"
    r"|conanfile\.(?:py|txt))",
    re.IGNORECASE,
)


def manifest_format(path: str) -> str:
    """How a manifest names the packages that a project uses itself, as
    `languages.manifests` reads it; '' for other files, and for lock files."""
    found = _MANIFEST.fullmatch(path)
    return (found.lastgroup or "") if found is not None else ""


def may_name_packages(path: str) -> bool:
    """Whether a file is a manifest or a project file of any language, whether it can be read or not."""
    return bool(manifest_format(path)) or _NAMES_PACKAGES.fullmatch(path) is not None
