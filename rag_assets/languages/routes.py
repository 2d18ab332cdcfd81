"""The HTTP routes that code of Go, Java, Kotlin, PHP, Python and TypeScript declares, by what its frameworks write:
annotations and decorators of members, and calls that register a handler (gin, echo, chi, fiber, gorilla/mux, net/http;
Spring, JAX-RS; Laravel, Slim, Symfony; FastAPI, Flask, Django; NestJS, Express, Fastify, Koa).

A prefix is known where a class, a group, a router or an `include` of the same file says it; what other files mount,
`languages.route_mounts` tells. Pure; never raises for any text, and takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rag_assets.languages.route_mounts import joined

ANY_METHOD = "ANY"
_VERBS = "GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS"
_STRING = re.compile(r"[\"'`]([^\"'`\n]*)[\"'`]")
_WORD = re.compile(rf"\b(?:Method)?({_VERBS})\b", re.IGNORECASE)
_DEEPEST = 20
"""Includes of includes: more is no code that people write."""
_MOST_PREFIXES = 50
_MOST_INCLUDED = 10_000
"""Of one list or annotation, and of a file beside one of each call: lists that include lists multiply their routes."""
_LONGEST_ANNOTATION = 5_000
"""In characters: longer ones are no code that people write. Prefixes would grow with every group inside a group."""


@dataclass(frozen=True, slots=True)
class Route:
    """`method` of HTTP, or `ANY`; the path with `{parameter}`, whatever the framework writes; where the function is
    that a decorator makes its handler, else where the path is registered. `on`: the variable of Go that the path begins
    at."""

    method: str
    path: str
    start: int
    on: str = ""


# annotations and decorators

_JAVA_VERB = re.compile(r"(Get|Post|Put|Delete|Patch|Request)Mapping\b(?:\((.*)\))?", re.DOTALL)
_JAVA_PATH = re.compile(r"(?:^|\b(?:value|path)\s*=)\s*([\[{][^\]}]*(?:[\]}]|\Z)|\"[^\"]*(?:\"|\Z))")
_JAVA_CLIENT = re.compile(r"(?:FeignClient|RegisterRestClient)\b")
_JAX_VERB = re.compile(rf"(?:{_VERBS})$")
_NEST_VERB = re.compile(r"(Get|Post|Put|Delete|Patch|Head|Options|All|Sse)\((.*)\)", re.DOTALL)
_NEST_PATH = re.compile(r"(?:^|\bpath\s*:)\s*(\[[^\]]*(?:\]|\Z)|[\"'`][^\"'`]*(?:[\"'`]|\Z))")
_JAVA_METHOD = re.compile(r"\bmethod\s*=\s*([\[{][^\]}]*(?:[\]}]|\Z)|[\w.]+)")
_METHODS = re.compile(r"methods\s*=\s*[\[({]([^\])}]*)")


_PHP_PATH = re.compile(r"(?:\(|\bpath\s*:)\s*([\"'][^\"']*[\"'])")
_PHP_METHODS = re.compile(r"\bmethods\s*:\s*([^\])]*)")

MAY_DECLARE = {
    "java": re.compile(r"@\w*Mapping\b|@Path\b"),
    "php": re.compile(r"#\[Route\("),
    "typescript": re.compile(r"@Controller\("),
}
"""What a file has whose members declare routes by annotations, by language."""


def routes_of_member(attributes: Sequence[str], around: Sequence[str], language: str) -> Iterable[tuple[str, str]]:
    """(method, path) of a member with these attributes in a type with those `around`, of Java, PHP or TypeScript."""
    attributes, around = ([a for a in some if len(a) <= _LONGEST_ANNOTATION] for some in (attributes, around))
    read = {"java": _java_routes, "php": _symfony_routes}.get(language, _nest_routes)
    return read(attributes, around)


def _symfony_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    prefixes = next((_paths(one, _PHP_PATH) for one in around if one.startswith("Route(")), [""])
    for attribute in attributes:
        if attribute.startswith("Route("):
            methods = _PHP_METHODS.search(attribute)
            for verb in (_verbs(methods[1]) if methods else []) or [ANY_METHOD]:
                yield from (
                    (verb, joined(prefix, path)) for prefix in prefixes for path in _paths(attribute, _PHP_PATH)
                )


def _nest_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    controllers = [one for one in around if one.startswith("Controller(")]
    for attribute in attributes if controllers else ():
        if found := _NEST_VERB.fullmatch(attribute):
            verb = "GET" if found[1] == "Sse" else _verb(found[1])
            for prefix in _paths(controllers[0].partition("(")[2], _NEST_PATH):
                for path in _paths(found[2], _NEST_PATH):
                    yield verb, joined(prefix, path)


def _java_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    if any(map(_JAVA_CLIENT.match, around)):
        return  # what it calls, another program answers
    above = [found[2] or "" for one in around if (found := _JAVA_VERB.fullmatch(one)) and found[1] == "Request"]
    above += [one.partition("(")[2] for one in around if one.startswith("Path(")]
    prefixes = _paths(above[0] if above else "", _JAVA_PATH)
    own = next((one.partition("(")[2] for one in attributes if one.startswith("Path(")), "")
    for attribute in attributes:
        found = _JAVA_VERB.fullmatch(attribute)
        if found:
            said = found[2] or ""
            method = _JAVA_METHOD.search(said)
            verbs = _verbs(found[1]) or (_verbs(method[1]) if method else [ANY_METHOD])
        elif _JAX_VERB.match(attribute):
            said, verbs = own, [attribute]
        else:
            continue
        for prefix in prefixes:
            for path in _paths(said, _JAVA_PATH):
                yield from ((verb, joined(prefix, path)) for verb in verbs)


def _paths(arguments: str, pattern: re.Pattern[str]) -> list[str]:
    """The paths that arguments say; an empty one where they say none."""
    found = pattern.search(arguments)
    return list(dict.fromkeys(_STRING.findall(found[1])))[:_MOST_PREFIXES] if found else [""]


def _verbs(said: str) -> list[str]:
    return list(dict.fromkeys(verb.upper() for verb in _WORD.findall(said)))


# calls

_QUOTES = r"\"|'|`"
_SKIPPED = {
    "go": rf"//[^\n]*|(?P<opener>/\*|{_QUOTES})",
    "php": rf"(?://|#(?!\[))[^\n]*|(?P<opener>/\*|{_QUOTES})",
    "python": rf"#[^\n]*|(?P<opener>\"\"\"|'''|{_QUOTES})",
    "typescript": rf"//[^\n]*|(?P<opener>/\*|{_QUOTES})",
}
"""Comments of one line, and what opens a comment or a string."""
_CLOSERS = {"/*": "*/"} | {quotes: quotes for quotes in ('"""', "'''", "`", '"', "'")}
_IN_LINE = {"'": re.compile(r"(?:[^'\\\n]+|\\.)*", re.DOTALL), '"': re.compile(r"(?:[^\"\\\n]+|\\.)*", re.DOTALL)}
"""What strings hold that end in their line."""
_GO_CALL = (
    r"(?:(?<!\w)(?:(?P<made>\w+)\s*:?=\s*)?(?P<on>\w+)|\))\s*\.\s*"
    r"(?:(?P<group>Group|PathPrefix|Route)|(?P<verb>(?i:get|post|put|delete|patch|head|options)|Any|All)"
    r"|(?P<handle>HandleFunc|Handle|Add|MethodFunc|Method|Match))\(\s*"
    r"(?P<methods>\"[A-Z]+\"\s*,\s*|http\.Method\w+\s*,\s*|\[\]string\{[^}]{0,200}\}\s*,\s*)?"
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
_TS_MOUNT = re.compile(r"\.(?:use|register)\(\s*[\"'`](/[^\"'`\n]*)[\"'`]\s*,[^;\n]{0,200}?\b(\w+)\s*\)")
_PYTHON_CALL = (
    rf"(?<=@)(?P<on>\w+)\.(?P<verb>(?i:{_VERBS})|route|api_route|websocket)\(\s*(?:(?:path|rule)\s*=\s*)?"
    r"[rf]?[\"'](?P<route>(?:/[^\"'\n]*)?)[\"']"
    r"|(?<![\w.])(?:re_path|path|url)\(\s*[rf]?[\"'](?P<path>[^\"'\n]*)[\"']\s*,\s*(?:(?P<include>include\(\s*)(?P<list>\w+)?|(?=[\w.]))"
    r"|(?<=\.)register\(\s*r?[\"'](?P<resource>[^\"'\n]*)[\"']\s*,\s*(?=\w+)"
)
_PHP_CALL = (
    r"(?:\bRoute\s*::\s*(?:(?!prefix)\w+\([^()\n]{0,200}\)\s*->\s*){0,3}|\$(?:app|group|router?|routes|api)\s*->\s*|(?<=\))\s*->\s*(?=group|prefix))"
    r"(?:(?P<verb>get|post|put|delete|patch|head|options|any)\(\s*[\"'](?P<path>[^\"'\n]*)[\"']\s*,"
    r"|(?:match|map)\(\s*\[(?P<methods>[^\]\n]{0,200})\]\s*,\s*[\"'](?P<matched>[^\"'\n]*)[\"']"
    r"|(?:resource|apiResource)\(\s*[\"'](?P<resource>[^\"'\n]*)[\"']|prefix\(\s*[\"'](?P<prefix>[^\"'\n]*)[\"']\s*\)"
    r"|(?P<group>group)\((?:\s*\[[^\[\]]{0,400}?[\"']prefix[\"']\s*=>\s*[\"'](?P<below>[^\"'\n]*)|\s*[\"'](?P<under>[^\"'\n]*)[\"']\s*,)?)"
)
_LIST = re.compile(r"^(?P<name>\w+)\s*(?::[^=\n]*)?\+?=\s*(?:\w+\(\s*)?(?=\[)", re.MULTILINE)
_CALLS = {
    language: re.compile(rf"{_SKIPPED[language]}|(?P<found>{call})")
    for language, call in (("go", _GO_CALL), ("php", _PHP_CALL), ("python", _PYTHON_CALL), ("typescript", _TS_CALL))
}
_MAY_HAVE = {
    "go": re.compile(r"\.(?:HandleFunc|Handle|Methods?|MethodFunc|Group|Add|(?i:get|post|put|delete|patch))\(\s*[\"h]"),
    "php": re.compile(
        r"\bRoute\s*::|\$(?:app|group|router?|routes|api)\s*->\s*(?:get|post|put|delete|patch|any|map|group)\("
    ),
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
_BRACKETS = {language: re.compile(rf"{skipped}|(?P<found>[()\[\]{{}}])") for language, skipped in _SKIPPED.items()}
_LINE_OF_CHAIN_ENDS = re.compile(r"(?<![.,({])\n")


def registered_routes(text: str, language: str) -> Iterable[Route]:
    """The routes that calls in a file register, in text order."""
    may_have = _MAY_HAVE.get(language)
    if may_have is None or not may_have.search(text):
        return ()
    calls = list(_in_code(text, _CALLS[language]))
    closed = _closed_brackets(text, language) if calls else {}
    if language == "go":
        return _go_routes(text, calls, closed)
    if language == "php":
        return _php_routes(text, calls, closed)
    return _python_routes(text, calls, closed) if language == "python" else _express_routes(text, calls, closed)


def _in_code(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """What a pattern finds outside of comments and strings. An opener that nothing closes opens nothing."""
    at = 0
    unclosed: dict[str, int] = {}  # up to where nothing closes it: asked once, as each asking reads up to there
    while (token := pattern.search(text, at)) is not None:
        at, opener = token.end(), token["opener"]
        if token["found"]:
            yield token
        elif opener and unclosed.get(opener, 0) <= token.start():
            closer = _CLOSERS[opener]
            end = _end(text, opener, at)
            if text.startswith(closer, end):
                at = end + len(closer)
            else:
                unclosed[opener] = end
        if opener and token.start() < unclosed.get(opener, 0):
            at = token.start() + min(len(opener), 2)  # of three quotes two are an empty string


def _end(text: str, opener: str, at: int) -> int:
    """Where what was opened before `at` ends; the end of its line, or of the text, where nothing closes it."""
    if opener in _IN_LINE:
        body = _IN_LINE[opener].match(text, at)
        return body.end() if body else at
    end = text.find(_CLOSERS[opener], at)
    return end if end >= 0 else len(text)


def _closed_brackets(text: str, language: str) -> dict[int, int]:
    """Behind the bracket that closes each one that opens; the end of the text where none does."""
    closed, opened = {}, []
    for found in _in_code(text, _BRACKETS[language]):
        if found["found"] in "([{":
            opened.append(found.start())
        elif opened:
            closed[opened.pop()] = found.end()
    return closed | dict.fromkeys(opened, len(text))


def _go_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    prefixes: dict[str, str] = {}
    blocks = [(len(text), "")]  # (end, prefix) of the functions that a call gives a router to, the innermost last
    line_ends = [found.start() for found in _LINE_OF_CHAIN_ENDS.finditer(text)]
    roots: dict[str, str] = {}  # variable → the one that its groups begin at
    chain, chained, root = "", 0, ""
    for call in calls:
        while blocks[-1][0] <= call.start():
            blocks.pop()
        on = prefixes.get(call["on"], "")
        if call["on"] is None:
            on = chain if bisect_left(line_ends, chained) == bisect_left(line_ends, call.start()) else ""
        else:
            root = roots.get(call["on"], call["on"])
        path = call["path"]
        if call["group"]:
            chain, chained = joined(on, path), call.end()
            if call["made"]:
                prefixes[call["made"]], roots[call["made"]] = chain, root
            elif call["handler"]:
                blocks.append((closed.get(call.end("group"), len(text)), joined(blocks[-1][1], path)))
            continue
        said, _, after = path.partition(" ")
        verbs = [said] if after and re.fullmatch(_VERBS, said) else _verbs(call["methods"] or "")
        verb = call["verb"] or ""
        exact = verb.isupper() or bool(verbs)
        if not call["handler"] or not (exact or path.startswith("/") or (not path and on)):
            continue
        if call["handle"] and not verbs:
            methods = _GO_METHODS.match(text, closed.get(call.end("handle"), len(text)))
            verbs = _verbs(methods[1]) if methods else []
        for method in verbs or [verb if _WORD.fullmatch(verb) else ANY_METHOD]:
            yield Route(method.upper(), joined(blocks[-1][1], on, after if after else path), call.start("found"), root)


def _php_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    """Calls of Laravel and Slim below the prefixes of the groups around them."""
    blocks = [(len(text), "")]  # (end, prefix), the innermost last
    chain, chained = "", 0
    for call in calls:
        start = call.start("found")
        while blocks[-1][0] <= start:
            blocks.pop()
        around = blocks[-1][1]
        if call["prefix"] is not None:
            chain, chained = call["prefix"], call.end()
        elif call["group"]:
            above = chain if chained and ";" not in text[chained:start] else ""
            chained = 0
            below = call["below"] or call["under"] or ""
            blocks.append((closed.get(call.end("group"), len(text)), joined(around, above, below)))
        elif call["resource"] is not None:
            yield Route(ANY_METHOD, joined(around, call["resource"]), start)
            yield Route(ANY_METHOD, joined(around, call["resource"], "{id}"), start)
        else:
            path = call["matched"] if call["verb"] is None else call["path"]
            for verb in _verbs(call["methods"] or call["verb"]) or [ANY_METHOD]:
                yield Route(verb, joined(around, path), start)


def _express_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    prefixes = {found[2]: joined(found[1]) for found in _TS_MOUNT.finditer(text)}
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
                end = closed.get(more.end(), len(text))


def _verb(said: str) -> str:
    return ANY_METHOD if said.lower() == "all" else said.upper()


def _python_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    """Decorators of FastAPI and Flask below the prefixes of their routers; lists of Django below each path that
    includes them."""
    decorated = any(call["on"] for call in calls)
    prefixes = _router_prefixes(text) if decorated else {}
    handlers = [(found.start(), found.start(1)) for found in _PYTHON_HANDLER.finditer(text)] if decorated else []
    for call, after in zip(calls, [*(call.start() for call in calls[1:]), len(text)], strict=False):
        if call["on"]:
            end = closed.get(call.end("verb"), len(text))
            listed, handler = _METHODS.search(text, call.end(), min(end, after)), bisect_left(handlers, (end, 0))
            declared = handlers[handler][1] if handler < len(handlers) else call.start("found")
            for verb in _verbs(listed[1] if listed else call["verb"]) or ["GET"]:
                yield Route(verb, joined(prefixes.get(call["on"], ""), call["route"]), declared)
    listed_calls = [call for call in calls if not call["on"]]
    yield from islice(_django_routes(text, listed_calls, closed), len(listed_calls) + _MOST_INCLUDED)


def _router_prefixes(text: str) -> dict[str, str]:
    """The prefixes of the routers that a file makes or mounts, by name."""
    own = {}
    for found in _PYTHON_ROUTER.finditer(text):
        prefix = _PYTHON_PREFIX.search(found["arguments"])
        own[found["name"]] = joined(prefix[1]) if prefix else ""
    for mounted in _PYTHON_MOUNT.finditer(text):
        own[mounted[1]] = joined(mounted[2], own.get(mounted[1], ""))
    return own


def _django_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    placed = list(_places(text, calls, closed))
    uses: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for call, place, name in placed:
        if call["list"]:
            uses[call["list"]].append((joined(place, call["path"]), name))
    known: dict[str, list[str]] = {"": [""]}

    def above(name: str, depth: int = 0) -> list[str]:
        """The prefixes of a list; of one that includes itself, those that others give it."""
        if name not in known and depth < _DEEPEST:
            known[name] = []
            found = dict.fromkeys(joined(one, path) for path, by in uses[name] for one in above(by, depth + 1))
            known[name] = list(found)[:_MOST_PREFIXES] or [""]
        return known.get(name, [""])

    for call, place, name in placed:
        if not call["include"]:
            said = "path" if call["resource"] is None else "resource"
            for prefix in above(name):
                yield Route(ANY_METHOD, joined(prefix, place, call[said]), call.start(said))


def _places(
    text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]
) -> Iterator[tuple[re.Match[str], str, str]]:
    """Each call, with the path of the includes that are written around it and the name of the list that it is in."""
    lists = [found for found in reversed(list(_LIST.finditer(text))) if found.end() in closed]
    list_end, name = 0, ""
    around = [(len(text), "")]  # (end, path), the innermost last
    for call in calls:
        while lists and lists[-1].end() <= call.start():
            opened = lists.pop()
            if list_end <= opened.end():
                list_end, name = closed[opened.end()], opened["name"]
        while around[-1][0] <= call.start():
            around.pop()
        yield call, around[-1][1], name if call.start() < list_end else ""
        if call["include"]:
            end = closed.get(text.index("(", call.start()), len(text))
            around.append((end, joined(around[-1][1], call["path"])))
