"""The HTTP routes that code of Go, Java, Python and TypeScript declares, by what its frameworks write: annotations and
decorators of members, and calls that register a handler (gin, echo, chi, fiber, gorilla/mux, net/http; Spring, JAX-RS;
FastAPI, Flask, Django; NestJS, Express, Fastify, Koa).

A prefix is known where a class, a group, a router or an `include` of the same file says it. What another file mounts
keeps the path that its own file writes. Pure; never raises for any text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

ANY_METHOD = "ANY"
_VERBS = "GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS"
_STRING = re.compile(r"[\"'`]([^\"'`\n]*)[\"'`]")
_WORD = re.compile(rf"\b(?:Method)?({_VERBS})\b", re.IGNORECASE)
_PARAMETER = re.compile(
    r"\(\?P<(\w+)>(?:[^()\\]|\\.|\([^()]*\))*\)|<(?:\w+:)?(\w+)>|\{(\w+)[^{}/]*\}|(?<=/)[:*](\w+)\??"
)
_DEEPEST = 4
"""Includes of includes: more is a cycle."""


@dataclass(frozen=True, slots=True)
class Route:
    """`method` of HTTP, or `ANY`; the path with `{parameter}`, whatever the framework writes; where the function is
    that a decorator makes its handler, else where the path is registered."""

    method: str
    path: str
    start: int


def joined(*parts: str) -> str:
    """The path of a route below its prefixes, with one leading `/`; parameters of all frameworks as `{name}`."""
    path = "/".join(part for part in (part.strip().strip("^$").strip("/") for part in parts) if part)
    return _PARAMETER.sub(lambda found: f"{{{next(filter(None, found.groups()))}}}", f"/{path}")


# annotations and decorators

_JAVA_VERB = re.compile(r"(Get|Post|Put|Delete|Patch|Request)Mapping\b(?:\((.*)\))?", re.DOTALL)
_JAVA_PATH = re.compile(r"(?:^|\b(?:value|path)\s*=)\s*(\{[^}]*\}|\"[^\"]*\")")
_JAX_VERB = re.compile(rf"(?:{_VERBS})$")
_NEST_VERB = re.compile(r"(Get|Post|Put|Delete|Patch|Head|Options|All|Sse)\((.*)\)", re.DOTALL)
_NEST_PATH = re.compile(r"(?:^|\bpath\s*:)\s*(\[[^\]]*\]|[\"'`][^\"'`]*[\"'`])")
_METHODS = re.compile(r"methods\s*=\s*[\[({]([^\])}]*)")


MAY_DECLARE = {"java": re.compile(r"@\w*Mapping\b|@Path\b"), "typescript": re.compile(r"@Controller\(")}
"""What a file has whose members declare routes by annotations, by language."""


def routes_of_member(attributes: Sequence[str], around: Sequence[str], language: str) -> Iterable[tuple[str, str]]:
    """(method, path) of a member with these attributes in a type with those `around`, of Java or TypeScript."""
    return _java_routes(attributes, around) if language == "java" else _nest_routes(attributes, around)


def _nest_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    controllers = [one for one in around if one.startswith("Controller(")]
    for attribute in attributes if controllers else ():
        if found := _NEST_VERB.fullmatch(attribute):
            verb = "GET" if found[1] == "Sse" else _verb(found[1])
            for prefix in _paths(controllers[0].partition("(")[2], _NEST_PATH):
                for path in _paths(found[2], _NEST_PATH):
                    yield verb, joined(prefix, path)


def _java_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    above = [found[2] or "" for one in around if (found := _JAVA_VERB.fullmatch(one)) and found[1] == "Request"]
    above += [one.partition("(")[2] for one in around if one.startswith("Path(")]
    prefixes = _paths(above[0] if above else "", _JAVA_PATH)
    own = next((one.partition("(")[2] for one in attributes if one.startswith("Path(")), "")
    for attribute in attributes:
        found = _JAVA_VERB.fullmatch(attribute)
        if found:
            said = found[2] or ""
            method = re.search(r"\bmethod\s*=\s*(\{[^}]*\}|[\w.]+)", said)
            verbs = _WORD.findall(found[1]) or (_WORD.findall(method[1]) if method else [ANY_METHOD])
        elif _JAX_VERB.match(attribute):
            said, verbs = own, [attribute]
        else:
            continue
        for prefix in prefixes:
            for path in _paths(said, _JAVA_PATH):
                yield from ((verb.upper(), joined(prefix, path)) for verb in verbs)


def _paths(arguments: str, pattern: re.Pattern[str]) -> list[str]:
    """The paths that arguments say; an empty one where they say none."""
    found = pattern.search(arguments)
    return _STRING.findall(found[1]) if found else [""]


# calls

_QUOTED = r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`]*`"
_SKIPPED = {
    "go": r"//[^\n]*|/\*.*?\*/",
    "python": r"\"\"\".*?\"\"\"|'''.*?'''|#[^\n]*",
    "typescript": r"//[^\n]*|/\*.*?\*/",
}
_GO_CALL = (
    r"(?:(?<!\w)(?:(?P<made>\w+)\s*:?=\s*)?(?P<on>\w+)|\))\s*\.\s*"
    r"(?:(?P<group>Group|PathPrefix|Route)|(?P<verb>(?i:get|post|put|delete|patch|head|options)|Any|All)"
    r"|(?P<handle>HandleFunc|Handle|Add|MethodFunc|Method|Match))\(\s*"
    r"(?P<methods>\"[A-Z]+\"\s*,\s*|http\.Method\w+\s*,\s*|\[\]string\{[^}]*\}\s*,\s*)?"
    r"\"(?P<path>[^\"\n]*)\"(?P<handler>\s*,\s*(?![\"\d]))?"
)
_GO_METHODS = re.compile(r"\s*\.\s*Methods\(([^()]*)\)")
_TS_ROUTER = r"(?i:app|router|routes?|server|fastify|hono|\w+_?(?:router|routes|app))"
_TS_CALL = (
    rf"(?<![\w.])(?P<on>(?:this\.)?(?P<router>{_TS_ROUTER}))\s*\.\s*"
    r"(?:(?P<verb>get|post|put|delete|patch|head|options|all)\(\s*[\"'`](?P<path>/[^\"'`\n]*|\*)[\"'`]\s*,\s*(?![\"'`\d])"
    r"|route\(\s*(?:[\"'`](?P<chain>[^\"'`\n]*)[\"'`]\s*\)"
    r"|\{\s*method:\s*[\"'`](?P<method>\w+)[\"'`],\s*(?:url|path):\s*[\"'`](?P<url>[^\"'`\n]+)))"
)
_TS_CHAINED = re.compile(r"\s*\.\s*(get|post|put|delete|patch|head|options|all)(?=\()")
_TS_MOUNT = re.compile(r"\.(?:use|register)\(\s*[\"'`](/[^\"'`\n]*)[\"'`]\s*,[^;\n]*?(\w+)\s*\)")
_PYTHON_CALL = (
    rf"(?<=@)(?P<on>\w+)\.(?P<verb>(?i:{_VERBS})|route|api_route|websocket)\(\s*(?:(?:path|rule)\s*=\s*)?"
    r"[rf]?[\"'](?P<route>(?:/[^\"'\n]*)?)[\"']"
    r"|(?<![\w.])(?:re_path|path|url)\(\s*[rf]?[\"'](?P<path>[^\"'\n]*)[\"']\s*,\s*(?:(?P<include>include\(\s*)(?P<list>\w+)?|(?=[\w.]))"
    r"|(?<=\.)register\(\s*r?[\"'](?P<resource>[^\"'\n]*)[\"']\s*,\s*(?=\w+)"
)
_LIST = re.compile(r"^(?P<name>\w+)\s*(?::[^=\n]*)?\+?=\s*(?:\w+\(\s*)?(?=\[)", re.MULTILINE)
_CALLS = {
    language: re.compile(rf"(?:{_SKIPPED[language]})|(?P<found>{call})|{_QUOTED}", re.DOTALL)
    for language, call in (("go", _GO_CALL), ("python", _PYTHON_CALL), ("typescript", _TS_CALL))
}
_MAY_HAVE = {
    "go": re.compile(r"\.(?:HandleFunc|Handle|Methods?|MethodFunc|Group|Add|(?i:get|post|put|delete|patch))\(\s*[\"h]"),
    "python": re.compile(
        r"\burlpatterns\b|\bdjango\.urls\b|\brest_framework\b|@\w+\.(?i:get|post|put|delete|patch|head|options|route|api_route|websocket)\("
    ),
    "typescript": re.compile(rf"\b{_TS_ROUTER}\s*\.\s*(?:get|post|put|delete|patch|all|route)\("),
}
_PYTHON_HANDLER = re.compile(r"^[ \t]*((?:async\s+)?def\s)", re.MULTILINE)
_PYTHON_ROUTER = re.compile(
    r"^(?P<name>\w+)\s*(?::[^=\n]*)?=\s*(?:\w+\.)*(?:APIRouter|Blueprint)\((?P<arguments>(?:[^()]|\([^()]*\))*)\)",
    re.MULTILINE,
)
_PYTHON_MOUNT = re.compile(
    r"\.(?:include_router|register_blueprint)\(\s*(\w+)\s*,[^()]*?\b(?:url_)?prefix\s*=\s*[\"']([^\"']*)"
)
_PYTHON_PREFIX = re.compile(r"\b(?:url_)?prefix\s*=\s*[\"']([^\"'\n]*)")
_BRACKET = re.compile(rf"{_QUOTED}|[()\[\]{{}}]")


def registered_routes(text: str, language: str) -> Iterable[Route]:
    """The routes that calls in a file register, in text order."""
    may_have = _MAY_HAVE.get(language)
    if may_have is None or not may_have.search(text):
        return ()
    calls = [found for found in _CALLS[language].finditer(text) if found["found"]]
    if language == "go":
        return _go_routes(text, calls)
    return _python_routes(text, calls) if language == "python" else _express_routes(text, calls)


def _go_routes(text: str, calls: Sequence[re.Match[str]]) -> Iterator[Route]:
    prefixes: dict[str, str] = {}
    blocks: list[tuple[int, str]] = []  # (end, prefix) of the functions that a call gives a router to
    chain, chained = "", 0
    for call in calls:
        blocks = [block for block in blocks if call.start() < block[0]]
        on = prefixes.get(call["on"], "")
        if call["on"] is None:
            on = chain if re.search(r"(?<![.,({])\n", text[chained : call.start()]) is None else ""
        path = call["path"]
        if call["group"]:
            chain, chained = joined(on, path), call.end()
            if call["made"]:
                prefixes[call["made"]] = chain
            elif call["handler"]:
                blocks.append((_closed(text, call.end("group")), path))
            continue
        said, _, after = path.partition(" ")
        verbs = [said] if after and re.fullmatch(_VERBS, said) else _WORD.findall(call["methods"] or "")
        verb = call["verb"] or ""
        exact = verb.isupper() or bool(verbs)
        if not call["handler"] or not (exact or path.startswith("/") or (not path and on)):
            continue
        if call["handle"] and not verbs:
            methods = _GO_METHODS.match(text, _closed(text, call.end("handle")))
            verbs = _WORD.findall(methods[1]) if methods else []
        for method in verbs or [verb if _WORD.fullmatch(verb) else ANY_METHOD]:
            yield Route(
                method.upper(), joined(*(p for _, p in blocks), on, after if after else path), call.start("found")
            )


def _express_routes(text: str, calls: Sequence[re.Match[str]]) -> Iterator[Route]:
    prefixes = {found[2]: found[1] for found in _TS_MOUNT.finditer(text)}
    for call in calls:
        on, at = prefixes.get(call["router"], ""), call.start("found")
        if call["verb"]:
            yield Route(_verb(call["verb"]), joined(on, call["path"]), at)
        elif call["url"]:
            yield Route(_verb(call["method"]), joined(on, call["url"]), at)
        else:
            end = call.end()
            while (more := _TS_CHAINED.match(text, end)) is not None:
                yield Route(_verb(more[1]), joined(on, call["chain"] or ""), more.start(1))
                end = _closed(text, more.end())


def _verb(said: str) -> str:
    return ANY_METHOD if said.lower() == "all" else said.upper()


def _python_routes(text: str, calls: Sequence[re.Match[str]]) -> Iterator[Route]:
    """Decorators of FastAPI and Flask below the prefixes of their routers; lists of Django below each path that
    includes them."""
    prefixes = _router_prefixes(text) if any(call["on"] for call in calls) else {}
    for call in calls:
        if call["on"]:
            end = _closed(text, call.start("verb"))
            listed, handler = _METHODS.search(text[call.end() : end]), _PYTHON_HANDLER.search(text, end)
            declared = handler.start(1) if handler else call.start("found")
            for verb in _WORD.findall(listed[1] if listed else call["verb"]) or ["GET"]:
                yield Route(verb.upper(), joined(prefixes.get(call["on"], ""), call["route"]), declared)
    yield from _django_routes(text, [call for call in calls if not call["on"]])


def _router_prefixes(text: str) -> dict[str, str]:
    """The prefixes of the routers that a file makes or mounts, by name."""
    own = {}
    for found in _PYTHON_ROUTER.finditer(text):
        prefix = _PYTHON_PREFIX.search(found["arguments"])
        own[found["name"]] = prefix[1] if prefix else ""
    for mounted in _PYTHON_MOUNT.finditer(text):
        own[mounted[1]] = joined(mounted[2], own.get(mounted[1], ""))
    return own


def _django_routes(text: str, calls: Sequence[re.Match[str]]) -> Iterator[Route]:
    lists = [(found["name"], found.end(), _closed(text, found.end())) for found in _LIST.finditer(text)]
    inline = [(call.end("include"), _closed(text, call.start()), call["path"]) for call in calls if call["include"]]

    def above(at: int, depth: int = 0) -> list[str]:
        around = "/".join(path for start, end, path in inline if start <= at < end)
        name = next((name for name, start, end in lists if start <= at < end), "")
        uses = [call for call in calls if name and call["list"] == name] if depth < _DEEPEST else []
        below = [joined(one, call["path"]) for call in uses for one in above(call.start(), depth + 1)]
        return [joined(prefix, around) for prefix in below or [""]]

    for call in calls:
        if not call["include"]:
            said = "path" if call["resource"] is None else "resource"
            for prefix in above(call.start()):
                yield Route(ANY_METHOD, joined(prefix, call[said]), call.start(said))


def _closed(text: str, opened: int) -> int:
    """Behind the bracket that closes the first one from `opened` on; the end of the text where none does."""
    depth = 0
    for found in _BRACKET.finditer(text, opened):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(found.group(), 0)
        if depth == 0 and len(found.group()) == 1:
            return found.end()
    return len(text)
