"""The HTTP routes that code of Go, Java, Kotlin, PHP, Python, Rust and TypeScript declares, by what its frameworks
write: annotations and decorators of members, calls that register a handler, and files whose path is the route (gin,
echo, chi, fiber, gorilla/mux, net/http; Spring, WebFlux, JAX-RS, Ktor; Laravel, Slim, Symfony; FastAPI, Flask, Django,
aiohttp, Starlette; axum, actix, Rocket; NestJS, Express, Fastify, Koa, Hono, Next.js), and those of services of gRPC.

A prefix is known where a class, a group, a router or an `include` of the same file says it; what other files mount,
`languages.route_mounts` tells. Pure; never raises for any text, and takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rag_assets.contracts.graph import ANY_METHOD
from rag_assets.languages.route_mounts import joined, router_prefixes

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
    at, or of Django REST that it is registered with. `handler`: what answers, an action of Rails
    (`admin/users#show`) or a viewset."""

    method: str
    path: str
    start: int
    on: str = ""
    handler: str = ""


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
_NET_ROUTE = re.compile(
    rf"(?:Http(?P<verb>{_VERBS})|Route(?:Prefix)?)(?:\(\s*(?:\"(?P<path>[^\"\n]*)\".*)?\))?", re.IGNORECASE
)
_PHP_METHODS = re.compile(r"\bmethods\s*:\s*([^\])]*)")

MAY_DECLARE = {
    "java": re.compile(r"@\w*Mapping\b|@Path\b"),
    "php": re.compile(r"#\[Route\("),
    "typescript": re.compile(r"@Controller\("),
    "vb": re.compile(r"<(?:Http\w+|Route)\b", re.IGNORECASE),
}
"""What a file has whose members declare routes by annotations, by language."""


def routes_of_member(attributes: Sequence[str], around: Sequence[str], language: str) -> Iterable[tuple[str, str]]:
    """(method, path) of a member with these attributes in a type with those `around`, of a language in
    `MAY_DECLARE`."""
    attributes, around = ([a for a in some if len(a) <= _LONGEST_ANNOTATION] for some in (attributes, around))
    read = {"java": _java_routes, "php": _symfony_routes, "vb": _vb_routes}.get(language, _nest_routes)
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


def _vb_routes(attributes: Sequence[str], around: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of ASP.NET: `<HttpGet, Route("{id}")>` below `<RoutePrefix("api/orders")>`; nothing of a convention."""
    prefixes = [found["path"] or "" for one in around if (found := _NET_ROUTE.fullmatch(one)) is not None]
    said = [found for one in attributes if (found := _NET_ROUTE.fullmatch(one)) is not None]
    paths: list[str] = [found["path"] for found in said if found["path"] is not None]
    verbs = [_verb(found["verb"]) for found in said if found["verb"]] or [ANY_METHOD]
    for path in paths or ([""] if prefixes and said else []):
        prefix = "" if path.startswith(("~", "/")) else "".join(prefixes[:1])
        for verb in verbs:
            yield verb, joined(prefix, path.removeprefix("~"))


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
    "java": rf"//[^\n]*|(?P<opener>/\*|\"\"\"|{_QUOTES})",
    "php": rf"(?://|#(?!\[))[^\n]*|(?P<opener>/\*|{_QUOTES})",
    "python": rf"#[^\n]*|(?P<opener>\"\"\"|'''|{_QUOTES})",
    "rust": r"'(?:\\.|[^\\'\n])'|//[^\n]*|(?P<opener>/\*|\")",
    "typescript": rf"//[^\n]*|(?P<opener>/\*|{_QUOTES})",
}
"""Comments of one line, and what opens a comment or a string."""
_CLOSERS = {"/*": "*/"} | {quotes: quotes for quotes in ('"""', "'''", "`", '"', "'")}
_IN_LINE = {"'": re.compile(r"(?:[^'\\\n]+|\\.)*", re.DOTALL), '"': re.compile(r"(?:[^\"\\\n]+|\\.)*", re.DOTALL)}
"""What strings hold that end in their line."""
_GO_CALL = (
    r"(?:(?<!\w)(?:(?P<made>\w+)\s*:?=\s*(?:\w+\.){0,3})?(?P<on>\w+)|\))\s*\.\s*"
    r"(?:(?P<group>Group|PathPrefix|Route)|(?P<verb>(?i:get|post|put|delete|patch|head|options)|Any|All)"
    r"|(?P<handle>HandleFunc|HandlerFunc|Handler|Handle|Add|MethodFunc|Method|Match))\(\s*"
    r"(?P<methods>\"[A-Z]+\"\s*,\s*|http\.Method\w+\s*,\s*|\[\]string\{[^}]{0,200}\}\s*,\s*)?"
    r"\"(?P<path>[^\"\n]*)\"(?P<handler>\s*,\s*(?![\"\d]))?"
)
_GO_METHODS = re.compile(r"\s*\.\s*Methods\(([^()]*)\)")
_JAVA_CALL = (
    rf"(?<![@\w])(?P<verb>{_VERBS})\(\s*\"(?P<path>/[^\"\n]*)\""
    r"|(?P<nest>\bnest\(|\bpath\((?=\s*\"[^\"\n]*\"\s*,))\s*(?:(?:\w+\.)?path\(\s*)?\"(?P<under>[^\"\n]*)\""
    r"|(?<![.\w@])(?P<block>get|post|put|delete|patch|route)\(\s*\"(?P<at>[^\"\n]*)\"[^()\n]{0,100}\)\s*\{"  # Ktor
)
_RUST_CALL = (
    r"#\[\s*(?:\w+::)*(?P<verb>get|post|put|delete|patch|head|options|route)\(\s*\"(?P<path>/[^\"\n]*)\""
    r"|\.\s*(?P<route>route)\(\s*\"(?P<at>/?[^\"\n]*)\"\s*,"
    r"|(?P<nest>\bnest\(|\bweb::(?:scope|(?P<resource>resource))\()\s*\"(?P<under>[^\"\n]*)\""
)
_RUST_VERBS = re.compile(r"\s*(?:\w+::)*(get|post|put|delete|patch|head|options|any)\(")
_RUST_SERVED = re.compile(r"\bweb::(get|post|put|delete|patch|head)\(")
_CHAINED = re.compile(r"\s*\.\s*(\w+)\(")
_RUST_HANDLER = re.compile(r"\bfn\s")
_MOST_OF_AN_ATTRIBUTE = 2_000
_TS_ROUTER = r"(?i:app|router|routes?|server|fastify|hono|express|\w+_?(?:router|routes|app))"
_TS_MAKER = r"(?:express|[fF]astify|(?:OpenAPI)?Hono|Elysia|polka|I?Router|createServer)"
_TS_ROUTERS = re.compile(
    rf"\b(\w+)\s*(?::[^=;()\n]{{1,80}})?=\s*(?:await\s+)?(?:new\s+)?(?:\w+\.)?{_TS_MAKER}\s*(?:<[^()\n]{{0,100}}>)?\("
    r"|\b(\w+)\??\s*:\s*(?:\w+\.)?(?:Express|Application|I?Router|FastifyInstance|Hono)\b"
)
"""Variables and parameters that are routers, whatever they are called."""
_TS_VERBS = "get|post|put|delete|patch|head|options|all"
_TS_CALL = (
    r"(?:(?<![\w.])(?P<on>(?:[\w$]+\.){0,3}(?P<router>[\w$]+))|(?<=\)))\s*\.\s*"
    rf"(?:(?P<verb>{_TS_VERBS})(?:<[^()\n]{{0,200}}>)?\(\s*"
    r"(?:[\"'`](?P<path>/[^\"'`\n]*|\*)[\"'`]|\[\s*(?P<paths>[\"'`]/[^\[\]]{0,500})\])\s*,\s*(?![\"'`\d])"
    r"|route\(\s*(?:[\"'`](?P<chain>[^\"'`\n]*)[\"'`]\s*\)"
    r"|\{\s*method:\s*[\"'`](?P<method>\w+)[\"'`],\s*(?:url|path):\s*[\"'`](?P<url>[^\"'`\n]+)))"
)
_TS_IS_ROUTER = re.compile(rf"{_TS_ROUTER}|{_TS_MAKER}")
_TS_CALLED = re.compile(r"(?P<on>[\w$]*(?:\s*\.\s*[\w$]+)*)\s*(?:<[^<>()]{0,100}>)?\s*\Z")
_LONGEST_NAME = 200
_TS_CHAINED = re.compile(rf"\s*\.\s*({_TS_VERBS})(?=\()")
_TS_MOUNT = re.compile(r"\.(?:use|register)\(\s*[\"'`](/[^\"'`\n]*)[\"'`]\s*,[^;\n]{0,200}?\b(\w+)\s*\)")
_PYTHON_CALL = (
    rf"(?<=@)(?P<on>\w+)\.(?P<verb>(?i:{_VERBS})|route|api_route|websocket)\(\s*(?:(?:path|rule)\s*=\s*)?"
    r"[rf]?[\"'](?P<route>(?:/[^\"'\n]*)?)[\"']"
    r"|(?:(?<![\w.])(?:re_path|path|url|Route|Mount)|(?<=\.)add_(?:api_route|url_rule|route))"
    r"\(\s*[rf]?[\"'](?P<path>[^\"'\n]*)[\"']\s*,\s*(?:(?P<include>(?:include\(|routes\s*=)\s*)(?P<list>\w+)?|(?=[\w.]))"
    r"|(?<![\w.])(?P<router>\w+)\.register\(\s*(?:prefix\s*=\s*)?r?[\"'](?P<resource>[^\"'\n]*)[\"']\s*,"
    r"\s*(?:viewset\s*=\s*)?(?P<viewset>\w+(?:\.\w+){0,5})|\*(?P<spread>\w+)\.urls\b"
    r"|(?:(?:\bweb\.|(?<=\.)add_)(?P<served>get|post|put|delete|patch)\(|(?<=\.)add_resource\(\s*[\w.]+\s*,)"
    r"\s*[rf]?[\"'](?P<at>/[^\"'\n]*)[\"']"  # aiohttp, Flask-RESTful
)
_PHP_CALL = (
    r"(?:\bRoute\s*::\s*(?:(?!prefix)\w+\([^()\n]{0,200}\)\s*->\s*){0,3}|\$(?:app|group|router?|routes|api)\s*->\s*|(?<=\))\s*->\s*(?=group|prefix))"
    r"(?:(?P<verb>get|post|put|delete|patch|head|options|any)\(\s*[\"'](?P<path>[^\"'\n]*)[\"']\s*,"
    r"|(?:match|map)\(\s*\[(?P<methods>[^\]\n]{0,200})\]\s*,\s*[\"'](?P<matched>[^\"'\n]*)[\"']"
    r"|(?:resource|apiResource)\(\s*[\"'](?P<resource>[^\"'\n]*)[\"']|prefix\(\s*[\"'](?P<prefix>[^\"'\n]*)[\"']\s*\)"
    r"|(?P<group>group)\((?:\s*\[[^\[\]]{0,400}?[\"']prefix[\"']\s*=>\s*[\"'](?P<below>[^\"'\n]*)|\s*[\"'](?P<under>[^\"'\n]*)[\"']\s*,)?)"
)
_NESTED_ROUTER = re.compile(
    r"^(?P<name>\w+)\s*=\s*(?:\w+\.){0,3}Nested\w*Router\(\s*(?P<on>\w+)\s*,\s*r?[\"'](?P<path>[^\"'\n]*)[\"']"
    r"\s*,\s*lookup\s*=\s*[\"'](?P<lookup>\w+)",
    re.MULTILINE,
)
_API = re.compile(
    r"^(?P<name>\w+)\s*(?::[^=\n]*)?=\s*(?:\w+\.)*Api\(\s*(?:app\s*=\s*)?(?P<on>\w*)"
    r"(?:[^()\n]*\bprefix\s*=\s*[\"'](?P<path>[^\"'\n]*)[\"'])?",
    re.MULTILINE,
)
"""Of Flask-RESTful, on a blueprint or an application."""
_LIST = re.compile(r"^(?P<name>\w+)\s*(?::[^=\n]*)?\+?=\s*(?:\w+\(\s*)?(?=\[)", re.MULTILINE)


def code_pattern(language: str, call: str) -> re.Pattern[str]:
    """What `in_code` finds of a language, as its group `found`."""
    return re.compile(rf"{_SKIPPED[language]}|(?P<found>{call})")


_CALLS = {
    language: code_pattern(language, call)
    for language, call in (
        ("go", _GO_CALL),
        ("java", _JAVA_CALL),
        ("php", _PHP_CALL),
        ("python", _PYTHON_CALL),
        ("rust", _RUST_CALL),
        ("typescript", _TS_CALL),
    )
}
_MAY_HAVE = {
    "go": re.compile(
        r"\.(?:HandleFunc|HandlerFunc|Handler|Handle|Methods?|MethodFunc|Group|Add|(?i:get|post|put|delete|patch))\(\s*[\"h]"
    ),
    "java": re.compile(r"\bRouterFunctions?\b|\b(?:coRouter|router)\s*\{|\bio\.ktor\.server\b"),
    "php": re.compile(
        r"\bRoute\s*::|\$(?:app|group|router?|routes|api)\s*->\s*(?:get|post|put|delete|patch|any|map|group)\("
    ),
    "python": re.compile(
        r"\burlpatterns\b|\bdjango\.urls\b|\brest_framework\b|\bstarlette\b|\baiohttp\b|\.add_(?:api_route|url_rule|resource)\(|@\w+\.(?i:get|post|put|delete|patch|head|options|route|api_route|websocket)\("
    ),
    "rust": re.compile(r"#\[\s*(?:\w+::)*(?:get|post|put|delete|patch|route)\(|\.\s*route\(|\bweb::resource\("),
    "typescript": re.compile(
        rf"\b(?:{_TS_ROUTER}\s*\.\s*(?:{_TS_VERBS}|route)\b|{_TS_MAKER}\s*(?:<[^()\n]{{0,100}}>)?\()|\bFastifyInstance\b"
    ),
}
_PYTHON_HANDLER = re.compile(r"^[ \t]*((?:async\s+)?def\s)", re.MULTILINE)
_BRACKETS = {language: code_pattern(language, r"[()\[\]{}]") for language in _SKIPPED}
_LINE_OF_CHAIN_ENDS = re.compile(r"(?<![.,({])\n")


def registered_routes(text: str, language: str) -> Iterable[Route]:
    """The routes that calls in a file register, in text order, or of Protobuf those that its services are served at."""
    if language == "proto":
        return _proto_routes(text) if "google.api.http" in text else ()
    may_have = _MAY_HAVE.get(language)
    if may_have is None or not may_have.search(text):
        return ()
    calls = list(in_code(text, _CALLS[language]))
    closed = closed_brackets(text, language) if calls else {}
    return _READERS[language](text, calls, closed)


def in_code(text: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
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


def closed_brackets(text: str, language: str) -> dict[int, int]:
    """Behind the bracket that closes each one that opens; the end of the text where none does."""
    closed, opened = {}, []
    for found in in_code(text, _BRACKETS[language]):
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
        around = prefix_at(start, blocks)
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


def prefix_at(at: int, blocks: list[tuple[int, str]]) -> str:
    """The prefix of the innermost block around an offset; those that end before it are left."""
    while blocks[-1][0] <= at:
        blocks.pop()
    return blocks[-1][1]


def _java_routes_called(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    """Functional routes of Spring and Ktor, below the paths of the calls around them."""
    blocks = [(len(text), "")]  # (end, prefix), the innermost last
    for call in calls:
        around = prefix_at(call.start(), blocks)
        if call["verb"]:
            yield Route(call["verb"], joined(around, call["path"]), call.start("verb"))
        elif call["nest"]:
            blocks.append((closed.get(call.end("nest") - 1, len(text)), joined(around, call["under"])))
        elif call["block"] == "route":
            blocks.append((closed.get(call.end() - 1, len(text)), joined(around, call["at"])))
        else:
            yield Route(call["block"].upper(), joined(around, call["at"]), call.start("block"))


def _rust_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    """Attributes of actix and Rocket, and calls of axum and actix below the paths of the calls around them."""
    blocks = [(len(text), "")]  # (end, prefix), the innermost last
    for call in calls:
        around = prefix_at(call.start(), blocks)
        if call["verb"]:
            handler = _RUST_HANDLER.search(text, call.end(), call.end() + _MOST_OF_AN_ATTRIBUTE)
            for verb in _verbs(call["verb"]) or [ANY_METHOD]:
                path = joined(call["path"].partition("?<")[0])  # Rocket names what the query has
                yield Route(verb, path, handler.start() if handler else call.start("verb"))
        elif call["route"]:
            served, verbs = _RUST_VERBS.match(text, call.end()), []
            while served is not None:
                verbs += _verbs(served[1])
                served = _CHAINED.match(text, closed.get(served.end() - 1, len(text)))
            for verb in verbs or [ANY_METHOD]:
                yield Route(verb, joined(around, call["at"]), call.start("route"))
        else:
            end = closed.get(call.end("nest") - 1, len(text))
            while (more := _CHAINED.match(text, end)) is not None and "web::" in call["nest"]:
                end = closed.get(more.end() - 1, len(text))
            blocks.append((end, joined(around, call["under"])))
            for verb in dict.fromkeys(_RUST_SERVED.findall(text, call.end(), end)) if call["resource"] else ():
                yield Route(verb.upper(), joined(around, call["under"]), call.start("nest"))


def _express_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    prefixes = {found[2]: joined(found[1]) for found in _TS_MOUNT.finditer(text)}
    routers = {name for found in _TS_ROUTERS.finditer(text) for name in found.groups() if name}
    opened = {end: start for start, end in closed.items() if text[start] == "("}
    roots: dict[int, str] = {}  # where a call of a chain ends → what the chain is called on
    for call in calls:
        at = call.start("found")
        router = call["router"] or _root_of_chain(text, at, opened, roots)
        if router not in routers and not _TS_IS_ROUTER.fullmatch(router):
            continue
        on = prefixes.get(router, "")
        if call["verb"]:
            for path in [call["path"]] if call["path"] else _STRING.findall(call["paths"]):
                yield Route(_verb(call["verb"]), joined(on, path), call.start("verb"))
        elif call["url"]:
            yield Route(_verb(call["method"]), joined(on, call["url"]), at)
        else:
            end = call.end()
            while (more := _TS_CHAINED.match(text, end)) is not None:
                yield Route(_verb(more[1]), joined(on, call["chain"] or ""), more.start(1))
                end = closed.get(more.end(), len(text))


def _root_of_chain(text: str, end: int, opened: Mapping[int, int], roots: dict[int, str]) -> str:
    """The variable that the first call is made on of the chain whose last one ends here, or what that call makes."""
    passed = []
    while end not in roots and end in opened:
        passed.append(end)
        called = _TS_CALLED.search(text, max(opened[end] - _LONGEST_NAME, 0), opened[end])
        name = called["on"].strip() if called else ""
        if called and name.startswith("."):
            end = called.start()
        else:
            roots[end] = name.removeprefix("this.").partition(".")[0].strip()
    root = roots.get(end, "")
    roots.update(dict.fromkeys(passed, root))
    return root


def _verb(said: str) -> str:
    return ANY_METHOD if said.lower() == "all" else said.upper()


def _python_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    """Decorators of FastAPI and Flask below the prefixes of their routers; lists of Django below each path that
    includes them."""
    decorated = any(call["on"] for call in calls)
    prefixes = router_prefixes(text) if decorated else {}
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


def include_prefixes(text: str) -> dict[int, list[str]]:
    """Where a call of Django includes something → the paths that the lists and includes around it have in the file."""
    calls = [call for call in in_code(text, _CALLS["python"]) if not call["on"]]
    placed, above = _included(text, calls, closed_brackets(text, "python"))
    found = {
        call.start(): [joined(one, place) for one in above(name)] for call, place, name in placed if call["include"]
    }
    return {start: prefixes for start, prefixes in found.items() if prefixes != ["/"]}


def _django_routes(text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]) -> Iterator[Route]:
    placed, above = _included(text, calls, closed)
    names = {call["list"] or call["spread"] for call in calls}
    nested: dict[str, str] = {}
    found = list(_API.finditer(text))
    prefixes = router_prefixes(text) if found else {}
    apis = {one["name"]: joined(prefixes.get(one["on"], ""), one["path"] or "") for one in found}
    for made in _NESTED_ROUTER.finditer(text):
        nested[made["name"]] = joined(nested.get(made["on"], ""), made["path"], f"{{{made['lookup']}_pk}}")
    for call, place, name in placed:
        if not (call["include"] or call["spread"]):
            said = next(group for group in ("path", "resource", "at") if call[group] is not None)
            name = call["router"] if call["router"] and call["router"] in names else name
            listed = _METHODS.search(
                text, call.end(), min(closed.get(text.find("(", call.start()), 0), call.end() + 500)
            )
            verbs = _verbs(call["served"] or (listed[1] if listed else "")) or [ANY_METHOD]
            on = text[text.rfind("\n", 0, call.start()) + 1 : call.start()].strip(" \t.")
            place = joined(apis[on], place) if call["at"] and on in apis else place
            for prefix in above(name):
                path = joined(prefix, place, nested.get(call["router"], ""), call[said])
                start, router, viewset = call.start(said), call["router"] or "", call["viewset"] or ""
                yield from (Route(verb, path, start, router, viewset) for verb in verbs)


def _included(
    text: str, calls: Sequence[re.Match[str]], closed: Mapping[int, int]
) -> tuple[list[tuple[re.Match[str], str, str]], Callable[[str], list[str]]]:
    """The places of calls, and what tells the prefixes of a list."""
    placed = list(_places(text, calls, closed))
    uses: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for call, place, name in placed:
        if used := call["list"] or call["spread"]:
            uses[used].append((joined(place, call["path"] or ""), name))
    known: dict[str, list[str]] = {"": [""]}

    def above(name: str, depth: int = 0) -> list[str]:
        """The prefixes of a list; of one that includes itself, those that others give it."""
        if name not in known and depth < _DEEPEST:
            known[name] = []
            found = dict.fromkeys(joined(one, path) for path, by in uses[name] for one in above(by, depth + 1))
            known[name] = list(found)[:_MOST_PREFIXES] or [""]
        return known.get(name, [""])

    return placed, above


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
        yield call, prefix_at(call.start(), around), name if call.start() < list_end else ""
        if call["include"]:
            end = closed.get(text.index("(", call.start()), len(text))
            around.append((end, joined(around[-1][1], call["path"])))


_READERS = {
    "go": _go_routes,
    "java": _java_routes_called,
    "php": _php_routes,
    "python": _python_routes,
    "rust": _rust_routes,
    "typescript": _express_routes,
}

# services

_PROTO = re.compile(
    r"//[^\n]*|\brpc\s+(?P<rpc>\w+)|\b(?P<verb>get|put|post|delete|patch)\s*:\s*\"(?P<path>/[^\"\n]*)\"", re.IGNORECASE
)
_PROTO_FIELD = re.compile(r"\{(?:[\w.]*\.)?(?P<name>\w+)(?:=(?P<below>[^{}]*))?\}")


def _proto_routes(text: str) -> Iterator[Route]:
    """Where options of `google.api.http` serve the methods of a service: `{name=orders/*}` is `orders/{name}`."""
    start = 0
    for found in _PROTO.finditer(text):
        if found["rpc"]:
            start = found.start("rpc")
        elif found["verb"] and start:
            path = _PROTO_FIELD.sub(
                lambda field: re.sub(r"\*+", f"{{{field['name']}}}", field["below"] or "*"), found["path"]
            )
            yield Route(found["verb"].upper(), joined(path), start)


# files

_FILE_ROUTE = re.compile(
    r"(?:^|/)(?:app/(?P<app>(?:[^/]+/)*)route|routes/(?P<kit>(?:[^/]+/)*)\+server|pages/(?P<page>api/.+))\.[jt]sx?$"
)
_FILE_PARAMETER = re.compile(r"\[+(?:\.\.\.)?(\w+)[^/\]]*\]+")
_EXPORTED_VERB = re.compile(rf"^export\s+(?:async\s+)?(?:function\s+|(?:const|let)\s+)({_VERBS})\b", re.MULTILINE)
_EXPORTED_PAGE = re.compile(r"^export\s+default\b", re.MULTILINE)


def routes_of_path(path: str, text: str) -> Iterator[Route]:
    """The routes of a file that stands for one by its place: of Next.js and SvelteKit."""
    found = _FILE_ROUTE.search(path)
    if found is None:
        return
    folders = (found["app"] or found["kit"] or (found["page"] or "").removesuffix("/index")).split("/")
    route = joined(*(_FILE_PARAMETER.sub(r"{\1}", part) for part in folders if not part.startswith(("(", "@"))))
    for exported in (_EXPORTED_PAGE if found["page"] else _EXPORTED_VERB).finditer(text):
        yield Route(exported[1] if exported.re.groups else ANY_METHOD, route, exported.start())
