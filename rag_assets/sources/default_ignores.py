"""Files that no repository wants indexed, by name: data for the ignore policy, each with its reason.

A user's ignore rule with `!` re-includes files of the reasons VENDORED, GENERATED, MINIFIED and LOCK_FILE. Binary and
unsupported formats stay out, because they hold no text.
"""

from __future__ import annotations

import re

from rag_assets.contracts.source_file import SkipReason

# Directories, anywhere in the tree. Lower-case names match any spelling.
DIRECTORIES: dict[str, tuple[SkipReason, str]] = {
    **dict.fromkeys(
        (
            "node_modules",
            "bower_components",
            "jspm_packages",
            "site-packages",
            ".venv",
            "venv",
            ".nuget",
            ".yarn",
            "pods",
            "carthage",
            "third_party",
            "third-party",
            "thirdparty",
            "3rdparty",
            "3rd-party",
        ),
        (SkipReason.VENDORED, "directory of third-party code"),
    ),
    **dict.fromkeys(
        ("obj", "dist", "testresults", "__pycache__", ".vs", ".idea", ".gradle", ".tox", ".mypy_cache",
         ".pytest_cache", ".ruff_cache", ".next", ".nuxt", "__macosx"),
        (SkipReason.GENERATED, "directory of build output or tool state"),
    ),
}  # fmt: skip

_BIN = "bin"
_BUILT = re.compile(r"debug|release|publish|roslyn|(?:any ?cpu|arm(?:64)?|x(?:64|86))|net(?:\w*\d[\w.-]*)")
"""What builds of .NET make below `bin`."""
_RUN_FROM_BIN = frozenset(
    {"", ".bash", ".bat", ".c", ".cc", ".cjs", ".cmd", ".cpp", ".dart", ".go", ".js", ".lua", ".md", ".mjs", ".ml",
     ".php", ".pl", ".ps1", ".py", ".rb", ".rs", ".sh", ".ts", ".zsh"}
)  # fmt: skip
"""Sources that people keep in `bin`, as Rust, Dart, Node, Rails and Unix do; all else there is output of a build."""

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr"})
"""Metadata of version control: never part of the source, so not even listed."""

# `vendor` is also a business word (Vendor/VendorController.cs) and a Java package, so it counts at the root, right
# below these, and in the theme of a site.
_VENDOR = "vendor"
_VENDOR_PARENTS = frozenset({"assets", "lib", "public", "static", "wwwroot", "web", "www"})
_THEMES = frozenset({"skins", "template", "templates", "theme", "themes"})
_WEB_ROOT_LIBRARIES = frozenset({"lib", "libs"})  # wwwroot/lib: the folder of LibMan and Bower
_PACKAGE_METADATA = (".egg-info", ".dist-info")  # in source distributions: copies of the readme and file lists
# packages/Newtonsoft.Json.13.0.3: NuGet's folder. `packages/ui` of a JavaScript workspace is first-party code.
_NUGET_PACKAGE = re.compile(r".+\.\d+(?:\.\d+){1,3}(?:-[0-9A-Za-z.-]+)?")

LOCK_FILES = frozenset(
    {
        ".terraform.lock.hcl",
        "bun.lock",
        "bun.lockb",
        "cargo.lock",
        "composer.lock",
        "deno.lock",
        "flake.lock",
        "gemfile.lock",
        "go.sum",
        "gradle.lockfile",
        "mix.lock",
        "npm-shrinkwrap.json",
        "package-lock.json",
        "packages.lock.json",
        "paket.lock",
        "pdm.lock",
        "pipfile.lock",
        "pnpm-lock.yaml",
        "podfile.lock",
        "poetry.lock",
        "project.assets.json",
        "project.lock.json",
        "pubspec.lock",
        "uv.lock",
        "yarn.lock",
    }
)

# Endings of file names, lower case.
GENERATED_ENDINGS = (
    ".designer.cs",
    ".designer.vb",
    ".g.cs",
    ".g.i.cs",
    ".g.vb",
    ".g.i.vb",
    ".generated.cs",
    ".feature.cs",
    ".assemblyattributes.cs",
    "modelsnapshot.cs",
    "_pb2.py",
    "_pb2_grpc.py",
    ".pb.go",
    "baseline-prof.txt",  # of Android: a line for each method that runs at start-up
    "startup-prof.txt",
    "publicapi.shipped.txt",  # of Roslyn's analyzers: a line for each public member
    "publicapi.unshipped.txt",
)
TEMPLATE, OF_TEMPLATES = ".tt", (".cs", ".vb")
"""T4 templates, and what they write that Visual Studio keeps beside them."""
# What Rollup and its like write, and not the `index.esm.js` or `rollup.config.esm.js` that people do.
_BUNDLE = re.compile(r"(?!index\.)(?!.*\.config\.).+\.(?:esm(?:-bundler|-browser)?|iife|umd)\.js")
MINIFIED_ENDINGS = (
    ".min.js",
    ".min.mjs",
    ".min.cjs",
    ".min.css",
    "-min.js",
    "-min.css",
    ".bundle.js",
    ".js.map",
    ".mjs.map",
    ".cjs.map",
    ".css.map",
    ".d.ts.map",
)

# Script libraries that ASP.NET templates copied into these folders.
_COPIED_LIBRARY = re.compile(
    r"(?:jquery|bootstrap|modernizr|knockout|respond|popper|angular|underscore|lodash|moment|require|microsoft)"
    r"(?:[.-].*)?\.(?:js|css|d\.ts)"
)
_COPIED_LIBRARY_FOLDERS = frozenset({"scripts", "content", "wwwroot", "js", "css"})

_SERVED = frozenset({"assets", "content", "public", "scripts", "static", "wwwroot", "www"})
"""Folders that a web server gives out as they are, where copies of libraries are beside a project's own scripts."""
_SERVED_LIBRARY = re.compile(r"(?:^|/)(?:wwwroot|(?:public|static|www)/(?:libs|vendors?))(?:/|$)")
"""Folders below which declarations of TypeScript come with a library. A `public` or `www` may hold a project's own."""
_VERSIONED = re.compile(r"(?!release-|version-)[a-z][\w.]*(?:-[a-z]\w*)*-v?\d+(?:\.\d+)+(?:-\w+)?")
"""`pdfjs-4.2.67-dist`, `font-awesome-4.7.0`: below a folder that is served."""
_SAYS_COPIED = re.compile(
    r"\s*/\*(?:(?!\*/).){0,200}?@lic(?:ense|start)\b"
    r"|\s*/\*!(?:(?!\*/).){0,400}?(?:\bv?\d+\.\d+|licen[cs]e|copyright|\(c\)|©|\bauthor\b|\bby @)",
    re.DOTALL,
)
"""How the scripts and styles of libraries begin: a comment that minifiers keep, with a version or who made it."""

_BINARY_EXTENSIONS: dict[str, str] = {
    "image": "apng avif bmp cur emf eps gif heic icns ico jfif jpeg jpg png psd svg svgz tga tif tiff webp wmf xcf ai",
    "sound or video": "aac avi flac flv m4a m4v mkv mov mp3 mp4 mpeg mpg oga ogg ogv opus wav webm wma wmv",
    "font": "eot otf ttc ttf woff woff2",
    "archive": "7z apk br bz2 cab deb dmg ear gz iso jar lz4 msi msix nupkg rar rpm snupkg tar tbz2 tgz txz vsix war "
    "whl xz z zip zst",
    "executable or object code": "a class dex dll dylib elc exe ilk lib mdb node o obj pdb pyc pyd pyo res so "
    "winmd xbf",
    "key or certificate": "cer crt der jks key keystore p12 p7b p7s pem pfx ppk pvk snk",
    "database or index": "dacpac bacpac accdb db db3 ldf lmdb mdf ndf rdb sdf sqlite sqlite3",
    "data or model": "avro bin blob bson ckpt feather gguf h5 hdf5 joblib keras mat npy npz onnx orc parquet "
    "pb pickle pkl pt pth rdata safetensors tflite",
}
BINARY = {f".{name}": kind for kind, names in _BINARY_EXTENSIONS.items() for name in names.split()}

# Documents with text that nothing here can extract yet.
UNSUPPORTED = {
    f".{name}": kind
    for kind, names in {
        "office document": "doc dotx numbers odp ods odt one pages potx ppt pptx rtf vsd vsdx xls xlsb xlsm xlsx",
        "e-book or help file": "chm epub mobi",
    }.items()
    for name in names.split()
}

_HEADED_BY_TOOLS = frozenset(
    {".c", ".cc", ".cjs", ".cpp", ".cs", ".cts", ".cxx", ".dart", ".fs", ".go", ".h", ".hpp", ".java", ".js", ".jsx",
     ".kt", ".kts", ".mjs", ".mts", ".php", ".py", ".pyi", ".rb", ".rs", ".scala", ".swift", ".ts", ".tsx", ".vb"}
)  # fmt: skip
_HEAD_CHARACTERS = 2048
"""Tools say that they wrote a file in its opening comment, which is short."""
_SAYS_GENERATED = re.compile(
    r"<auto-?generated"  # .NET
    r"|@generated\b"  # what tools for JavaScript, Hack and Rust look for
    r"|\bgenerated\b.*\bdo not (?:edit|modify|change|touch)\b"  # go.dev/s/generatedcode, protoc, OpenAPI Generator
    r"|\bdo not (?:edit|modify|change|touch)\b.*\bgenerated\b"
    r"|\bthis (?:source )?(?:file|class|code|module) (?:is|was|has been) (?:auto[- ]?|automatically )?generated\b"
    r"|^[\s/*#'-]*auto(?:matically)?[- ]?generated (?:by|from|with|using)\b",
    re.DOTALL | re.MULTILINE,
)
_SIDECARS = {".import": "[remap]", ".meta": "fileformatversion:", ".uid": "uid://"}
"""How files begin that game engines keep beside each asset: its id, and how it was imported."""
_REFERENCE_TOOLS = r"\b(?:docfx|dokka|doxygen|javadoc|pdoc|pkgdown|rustdoc|sandcastle|typedoc)\b"
_REFERENCE_PAGE = re.compile(
    rf"<!--\s*generated by {_REFERENCE_TOOLS}|<meta\b(?=[^>]*\bname=[\"']?generator\b)[^>]*{_REFERENCE_TOOLS}"
)
"""A page that repeats the comments of code. Pages of other tools may be the only place of what they say."""
# Blanks, comments and directives: Roslyn searches the same text.
_LEADING_TRIVIA = re.compile(r"(?:\s|//[^\n]*|'[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z)|\(\*.*?(?:\*\)|\Z))*", re.DOTALL)

_PAGES = frozenset({".htm", ".html", ".xhtml"})
STYLE_AND_SCRIPT = frozenset({".js", ".mjs", ".cjs", ".css"})
MINIFIED_AVERAGE_LINE = 110
"""Characters a line on average above which scripts and style sheets are machine-made (GitHub's linguist's number)."""
MINIFIED_FROM_CHARACTERS = 2_000  # a short file may well be one honest long line

# Prose may have a paragraph on one line. In other files a line of 20,000 characters is data.
PROSE = frozenset(
    {"", ".adoc", ".asciidoc", ".docx", ".htm", ".html", ".log", ".markdown", ".md", ".mdx", ".org", ".pdf", ".rst",
     ".srt", ".tex", ".text", ".txt", ".vtt"}
)  # fmt: skip


def refused_directory(parents: tuple[str, ...], name: str) -> tuple[SkipReason, str] | None:
    """The reason to leave out everything below a directory; None if there is none."""
    low = name.lower()
    found = DIRECTORIES.get(low)
    if found is not None:
        return found[0], f"{name}/: {found[1]}"
    if low.endswith(_PACKAGE_METADATA):
        return SkipReason.GENERATED, f"{name}/: metadata of a built package"
    parent = parents[-1].lower() if parents else ""
    if parent == _BIN and _BUILT.fullmatch(low):
        return SkipReason.GENERATED, f"{_BIN}/{name}/: directory of build output"
    of_theme = not _THEMES.isdisjoint(map(str.lower, parents)) and not _SERVED.isdisjoint(map(str.lower, parents))
    if name == _VENDOR and (not parents or parent in _VENDOR_PARENTS or of_theme):
        return SkipReason.VENDORED, f"{name}/: directory of third-party code"
    if parent == "wwwroot" and low in _WEB_ROOT_LIBRARIES:
        return SkipReason.VENDORED, f"wwwroot/{name}/: client-side libraries"
    if _VERSIONED.fullmatch(low) and not _SERVED.isdisjoint(map(str.lower, parents)):
        return SkipReason.VENDORED, f"{name}/: a version of a script library"
    if parent == "packages" and _NUGET_PACKAGE.fullmatch(name):
        return SkipReason.VENDORED, f"packages/{name}/: unpacked NuGet package"
    return None


def refused_name(parents: tuple[str, ...], name: str) -> tuple[SkipReason, str] | None:
    """The reason to leave out a file by a naming convention, which the user can overrule."""
    low = name.lower()
    if extension_of(name) not in _RUN_FROM_BIN and any(part.lower() == _BIN for part in parents):
        return SkipReason.GENERATED, f"{_BIN}/: directory of build output, but for scripts and programs"
    if low in LOCK_FILES:
        return SkipReason.LOCK_FILE, name
    for ending in GENERATED_ENDINGS:
        if low.endswith(ending):
            return SkipReason.GENERATED, f"*{ending}"
    if _BUNDLE.fullmatch(low):
        return SkipReason.GENERATED, "bundle of a script library"
    for ending in MINIFIED_ENDINGS:
        if low.endswith(ending):
            return SkipReason.MINIFIED, f"*{ending}"
    if _COPIED_LIBRARY.fullmatch(low) and any(part.lower() in _COPIED_LIBRARY_FOLDERS for part in parents):
        return SkipReason.VENDORED, "copy of a well-known script library"
    if low.endswith(".d.ts") and _SERVED_LIBRARY.search("/".join(parents).lower()):
        return SkipReason.VENDORED, "declarations of a script library that is served"
    return None


def refused_format(name: str) -> tuple[SkipReason, str] | None:
    """Why a file has no text to index, by its extension."""
    extension = extension_of(name)
    if extension in BINARY:
        return SkipReason.BINARY, f"*{extension}: {BINARY[extension]}"
    if extension in UNSUPPORTED:
        return SkipReason.UNSUPPORTED, f"*{extension}: {UNSUPPORTED[extension]}, of which no text is extracted"
    return None


def is_generated_text(name: str, text: str) -> bool:
    """True if the opening comment of a source file says that a tool wrote it, a page that a tool made it of code, or an
    engine keeps it beside an asset.

    Only text before the first token counts, so code that writes such a header into a string does not. Migrations that
    a tool began and people go on with ("Generated by Django 4.2") do not say so.
    """
    extension = extension_of(name)
    head = text[:_HEAD_CHARACTERS].lower()
    if extension in _SIDECARS:
        return head.startswith(_SIDECARS[extension])
    if extension in _PAGES:
        return _REFERENCE_PAGE.search(head) is not None
    if extension not in _HEADED_BY_TOOLS or "generated" not in head:
        return False
    comment = _LEADING_TRIVIA.match(head)
    return comment is not None and _SAYS_GENERATED.search(comment.group()) is not None


def is_minified_text(name: str, text: str) -> bool:
    """True for scripts and style sheets with lines far longer than people write."""
    if extension_of(name) not in STYLE_AND_SCRIPT or len(text) < MINIFIED_FROM_CHARACTERS:
        return False
    return len(text) / (text.count("\n") + 1) > MINIFIED_AVERAGE_LINE


def is_copied_library(path: str, text: str) -> bool:
    """True for scripts and style sheets below a folder that is served, whose opening comment is that of a library."""
    *folders, name = path.lower().split("/")
    if extension_of(name) not in STYLE_AND_SCRIPT or _SERVED.isdisjoint(folders):
        return False
    return _SAYS_COPIED.match(text[:_HEAD_CHARACTERS].lower()) is not None


def longest_line(text: str) -> int:
    """Characters of the longest line."""
    return max(map(len, text.split("\n")))


def conventions_description() -> str:
    """All tables above as one text for a fingerprint, independent of the order of sets."""
    tables = (
        sorted(DIRECTORIES.items()),
        sorted(VERSION_CONTROL),
        _BUILT.pattern,
        sorted(_RUN_FROM_BIN),
        _PACKAGE_METADATA,
        sorted(_VENDOR_PARENTS),
        sorted(_WEB_ROOT_LIBRARIES),
        _NUGET_PACKAGE.pattern,
        sorted(LOCK_FILES),
        GENERATED_ENDINGS,
        OF_TEMPLATES,
        _BUNDLE.pattern,
        sorted(_HEADED_BY_TOOLS),
        _SAYS_GENERATED.pattern,
        sorted(_SIDECARS.items()),
        _REFERENCE_PAGE.pattern,
        MINIFIED_ENDINGS,
        _COPIED_LIBRARY.pattern,
        sorted(_COPIED_LIBRARY_FOLDERS),
        sorted(_SERVED),
        _SERVED_LIBRARY.pattern,
        _SAYS_COPIED.pattern,
        _VERSIONED.pattern,
        sorted(BINARY),
        sorted(UNSUPPORTED),
        sorted(PROSE),
    )
    return repr(tables)


def extension_of(name: str) -> str:
    """`.cs` of `Order.CS`; empty for `Makefile` and `.editorconfig`."""
    stem, dot, extension = name.rpartition(".")
    return f".{extension.lower()}" if dot and stem else ""
