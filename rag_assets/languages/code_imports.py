"""What code imports, in languages without a resolver: by which name, of which file or package, under which name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_LIST = r"\{[^}]{0,4000}\}"
_IN_BRACKETS = r"\([^)]{0,4000}\)"
IMPORTS = re.compile(
    rf"^[ \t]*(?:from\b[^\n]*?\bimport\b[ \t]*(?:{_IN_BRACKETS}|[^\n]*)|(?:pub[ \t]+)?use\b[^;]{{0,2000}};|"
    rf"import[ \t]*{_IN_BRACKETS}|import\b[^;()\n]*{_LIST}[^\n]*|import\b[^\n]*|"
    rf"export\b[ \t]*(?:type[ \t]*)?{_LIST}[^\n]*)"
    rf"|\b(?:const|let|var|local)\b[ \t]*(?:{_LIST}|\w+)[ \t]*=[ \t]*(?:await[ \t]+import|require)\b[^\n]*",
    re.MULTILINE,
)
"""The statements that import, in a text without comments and strings."""
_QUOTED = re.compile(r"(?:(?<!\w)(?P<alias>[\w.]+)[ \t]+)?[\"'`](?P<path>[^\"'`\n]*)[\"'`]")
_ITEM = re.compile(r"(?<![\w$])(?:type[ \t]+)?(?P<name>[\w$*]+)(?:(?:[ \t]+as[ \t]+|[ \t]*:[ \t]*)(?P<local>[\w$]+))?")
_SEGMENT = re.compile(r"[\w$*@-]+")
_MOST_ITEMS = 500
"""Names that one statement imports; more are data."""
ALL = "*"
_INDEXES = frozenset({"__init__", "index", "init", "lib", "main", "mod"})
"""Files that stand for their folder."""


@dataclass(frozen=True, slots=True)
class CodeImport:
    """`name` of the module `path`; '' for the module itself, `*` for all that it has. `is_foreign`: surely of a package
    of others; `is_default`: what the module gives without a name."""

    path: tuple[str, ...]
    name: str = ""
    is_foreign: bool = False
    is_default: bool = False


def imports_of(code: str, text: str, family: str) -> Mapping[str, list[CodeImport]]:
    """What a file imports by the names that it uses, under `*` what it imports all of. `code` is the text without
    comments and strings, `family` that of its language."""
    known: dict[str, list[CodeImport]] = {}
    for found in IMPORTS.finditer(code):
        read = _READERS.get(family)
        if read is not None:
            for local, one in read(found[0], text[found.start() : found.end()]):
                known.setdefault(local, []).append(one)
    return known


def _of_python(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    statement = code.strip()
    if statement.startswith("from"):
        source, _, items = statement.removeprefix("from").partition("import")
        path = tuple(_SEGMENT.findall(source))
        for item in list(_ITEM.finditer(items))[:_MOST_ITEMS]:
            yield item["local"] or item["name"], CodeImport(path, item["name"])
        return
    for part in statement.removeprefix("import").split(",")[:_MOST_ITEMS]:
        module, _, alias = part.partition(" as ")
        path = tuple(_SEGMENT.findall(module))
        for local in {alias.strip()} if alias else {*path[:1], *path[-1:]}:
            yield local, CodeImport(path)


def _of_script(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    quoted = _QUOTED.search(text)
    written = quoted["path"] if quoted else ""
    path = tuple(part.partition(".")[0] for part in written.split("/") if part.strip(".~@#"))
    is_foreign = not written.startswith((".", "/", "@/", "~", "#")) and (len(path) < 2 or written.startswith("@"))
    head = re.split(r"\bfrom\b|\brequire\b|=", code, maxsplit=1)[0]
    outside, _, inside = head.partition("{")
    inside, _, behind = inside.partition("}")
    for item in list(_ITEM.finditer(inside))[:_MOST_ITEMS]:
        yield item["local"] or item["name"], CodeImport(path, item["name"], is_foreign)
    words = [item for item in _ITEM.finditer(f"{outside} {behind}") if item["name"] not in _SCRIPT_WORDS]
    for item in words[:_MOST_ITEMS]:
        if item["name"] == ALL:
            yield item["local"] or ALL, CodeImport(path, "" if item["local"] else ALL, is_foreign)
        else:
            yield item["name"], CodeImport(path, "", is_foreign, is_default=True)


_SCRIPT_WORDS = frozenset({"import", "export", "type", "const", "let", "var", "await"})


def _of_go(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    for one in list(_QUOTED.finditer(text))[:_MOST_ITEMS]:
        path = tuple(filter(None, one["path"].split("/")))
        alias = one["alias"] or ""
        if path:
            names = [alias] if alias not in ("", "import") else dict.fromkeys((path[-1], go_package(path)))
            for local in names:
                yield ALL if local == "." else local, CodeImport(path, ALL if local == "." else "")


_MAJOR_VERSION = re.compile(r"v(?:[2-9]|\d\d)")
_OF_REPOSITORY = re.compile(r"^go-|[-.]go$")


def go_package(path: tuple[str, ...]) -> str:
    """How code calls what it imports without an alias: `example.org/shop/v2` and `example.org/go-shop` declare
    `package shop`."""
    own = path[:-1] if len(path) > 1 and _MAJOR_VERSION.fullmatch(path[-1]) else path
    return _OF_REPOSITORY.sub("", own[-1])


def _of_java(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    statement = code.strip().removeprefix("import").strip().removeprefix("static ").strip(" ;")
    source, _, items = statement.partition("{")
    source, _, alias = source.partition(" as ")
    path = tuple(part if part != "_" else ALL for part in _SEGMENT.findall(source))
    if items:
        for item in list(_ITEM.finditer(items))[:_MOST_ITEMS]:
            yield item["local"] or item["name"], CodeImport(path, item["name"])
    elif path:
        yield alias.strip() or path[-1], CodeImport(path[:-1], path[-1])


def _of_rust(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    statement = re.sub(r"^\s*(?:pub[ \t]+)?use\b", "", code).strip(" ;\n")
    source, _, items = statement.partition("{")
    start = tuple(_SEGMENT.findall(source))
    parts = items.replace("{", " ").replace("}", " ").split(",") if items else [""]
    for part in parts[:_MOST_ITEMS]:
        written, _, alias = part.partition(" as ") if items else source.partition(" as ")
        own = tuple(_SEGMENT.findall(written))
        path = (*start, *own) if items else own
        is_own = path[:1] in (("crate",), ("self",), ("super",))
        path = tuple(one for one in path if one not in ("crate", "self", "super"))
        if path:
            yield alias.strip() or path[-1], CodeImport(path[:-1], path[-1], not is_own and path[0] in _RUST)


_RUST = frozenset({"std", "core", "alloc"})


def _of_lua(code: str, text: str) -> Iterator[tuple[str, CodeImport]]:
    quoted, names = _QUOTED.search(text), _ITEM.findall(code.partition("=")[0])
    if quoted and names:
        yield names[-1][0], CodeImport(tuple(_SEGMENT.findall(quoted["path"])))


_READERS = {
    "go": _of_go,
    "javascript": _of_script,
    "jvm": _of_java,
    "lua": _of_lua,
    "python": _of_python,
    "rust": _of_rust,
}


def may_be_in(one: CodeImport, path: str, *, is_module: bool = False) -> bool:
    """Whether a file, by its path, may be the module of an import, or be behind it where a package gives away what its
    files have; with `is_module` what is imported is a module itself."""
    if one.is_foreign:
        return False
    parts = path.split("/")
    parts[-1] = parts[-1].partition(".")[0]
    if parts[-1] in _INDEXES:
        parts.pop()
    wanted = (*one.path, one.name) if is_module and one.name not in ("", ALL) else one.path
    size = len(wanted)
    return any(tuple(parts[at : at + size]) == wanted for at in range(len(parts) - size + 1))
