"""The HTTP requests that code sends: the verb and the path of calls of HTTP clients, as far as the file tells it.

One reader serves all languages: `fetch`, axios, Angular's and .NET's `HttpClient`, Refit, RestSharp, requests, httpx,
`net/http`, RestTemplate, Feign, Retrofit, MockMvc, Laravel's tests … have verbs in names or arguments, and paths in
strings. Pure; never raises for any text, and takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.contracts.graph import ANY_METHOD

PARAMETER = "{}"
"""Stands in a path for what the code puts in there."""
BASE = "~"
"""Begins a path below an address that is set elsewhere."""
_UNKNOWN = "\0"
_LONGEST = 400_000
"""In characters: longer files are data or made by a program."""
_MOST_ARGUMENTS = 600
"""Characters that are read of the arguments of one call."""
_LONGEST_VALUE = 300
_DEEPEST = 30
"""Values that are made of one another: `html = html + "</a>"` a thousand times is no path."""

_SCRIPTS = frozenset({"javascript", "jsx", "svelte", "tsx", "typescript", "vue"})
_JVM = frozenset({"groovy", "java", "kotlin", "scala"})

_VERBS = "get|post|put|patch|delete|head"
_CALL = re.compile(
    r"(?<![\w$])(?:(?P<on>[\w$]+)[?!]?\s*(?:\.|->|::)\s*|(?P<some>[)\]])\s*(?:\.|->|::)\s*|(?P<mark>[@\[]))?"
    rf"(?:(?P<http>http)?(?P<verb>{_VERBS}|del)(?P<form>(?:String|Stream|ByteArray|FromJson|AsJson|Json|For[A-Z]\w{{2,9}})?"
    r"(?:Async|AsAsyncEnumerable)?)|(?P<other>\$?fetch|\w{2,20}fetch|fetch(?:Api|Json)|apiRequest|useSWR|axios|\$http|ajax"
    r"|request|inject|exchange|uri|json|call|newRequest(?:WithContext)?|httpRequestMessage|restRequest))"
    r"(?:<[^()\n]{0,120}>)?\s?\(",
    re.IGNORECASE,
)
_VERB_SAID = re.compile(rf"[\"'`]({_VERBS})[\"'`]|\b(?:Http)?Method\.?({_VERBS})\b", re.IGNORECASE)
_VERB_BEFORE = re.compile(rf"\.({_VERBS})\(\)\s*\Z", re.IGNORECASE)
_URL = re.compile(r"(?<![\w$])[\"']?(?:url|path)[\"']?\s*[:=]")
_VERB_ELSEWHERE = re.compile(r"\bmethod\b|\btype\s*:|\.\.\.", re.IGNORECASE)
_GETS = frozenset(
    {"$fetch", "$http", "ajax", "apirequest", "axios", "fetchapi", "fetchjson", "inject", "request", "useswr"}
)
"""What gets where no verb is said, beside `fetch` and what is called as a form of it: `apiFetch`, `useFetch`."""
_ROUTERS = frozenset({"api", "app", "group", "map", "mux", "route", "router", "routes", "server"})
"""What registers a handler with a call of the same form."""
_CLIENT = re.compile(r"http|(?<!redis)(?<!cache)(?<!query)client", re.IGNORECASE)
_COMMENTED = re.compile(r"\s*(?://|/?\*|#\s|<!--)|[^\n]*[;{})\s]//")
_MOST_BEFORE = 300
"""Characters that are read of a line before a call."""
_CALLED = re.compile(r"[(\[]")
_FUNCTION = re.compile(r"=>|\bfunction\b|\bfunc\b|\bfn\b")
_STRING = re.compile(r"[$@fFrRbB]{0,2}(?P<string>\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.){0,600}`)")
_IN_STRING = re.compile(
    r"[$#]?\{(?P<name>(?:[\w$]++\??\.)*+[\w$]++)?+[^{}]*+(?:\{[^{}]*+\}[^{}]*+)?\}|\$(?P<plain>\w+)|%[sdvq]|(?<=/):\w+"
)
_OF_ANNOTATION = re.compile(r"^\s*value\s*=")
_NAME = re.compile(r"\s*&?(?:[\w$]+(?:\.|->|::))*(?P<name>[\w$]+)(?:\([^()]*\))?\s*\Z")
_QUALIFIED = re.compile(r"[A-Z]\w*\.\w+(?=\s*\Z)")
_ASSIGNED = re.compile(
    r"(?<![\w$])(?P<name>[\w$]+)\s*(?:(?::\s*(?:[\w.<>\[\]]{1,40}\s*)?)?=>?|:(?=\s*[\"'`(]))\s*"
    r"(?:\([^()\n]{0,80}\)\s*=>\s*)?(?=(?P<value>[^=>\s;{\[][^;\n]{0,300}))"
)
_HOST = re.compile(r"(?:[\w+\0]+:)?//(?P<host>[^/\0?#]*)")
_OUTSIDE = re.compile(r"(?!127\.0\.0\.1\b|0\.0\.0\.0\b).*\.|\[")
"""A host with a dot is one of the world; `catalog-api` and `localhost:5000` are of the same system."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`method` of HTTP, or `ANY`; the path with `{}` for what is put in, after `~` where an address that is not known
    stands before it; where the call is."""

    method: str
    path: str
    start: int


def requests_in(text: str, language: str, elsewhere: Callable[[], Mapping[str, str]] = dict) -> Iterator[HttpRequest]:
    """The requests of a file, in order, and calls of the same form that ask for other things. `elsewhere` gives the
    constants of other files: `Names.Route` → `"api/x"`."""
    if len(text) > _LONGEST:
        return
    values = _Values(text, elsewhere)
    for found in _CALL.finditer(text):
        if not _may_be_request(found, text, language):
            continue
        arguments = _arguments(text, found.end())
        if not arguments or (found["on"] not in ("$", "jQuery") and any(map(_FUNCTION.search, arguments[1:]))):
            continue
        name = (found["other"] or "").lower()
        if name in ("json", "call") and not _VERB_SAID.match(arguments[0].strip()):  # `res.json({ url })`
            continue
        said = "".join(f"{one}," for one in arguments)
        is_declared = found["mark"] == "@" and bool(found["verb"]) and found["verb"].isupper()  # by Retrofit
        is_client = is_declared or bool(found["http"] or _CLIENT.search(found["on"] or ""))
        for argument in arguments[: 1 if found["verb"] else 3 if name.endswith("context") else 2]:
            if argument.lstrip().startswith("{"):
                url = _URL.search(argument)
                argument = "".join(_arguments(argument, url.end())[:1]) if url else ""
            argument = _OF_ANNOTATION.sub("", argument) if is_declared else argument
            is_sure = is_client and not _CALLED.search(_STRING.sub("", argument))
            path = _path(values.text_of(argument, found.start()), is_sure=is_sure)
            if path:
                method = _method(found, said, text, has_options=_NAME.match((*arguments, "")[1]) is not None)
                yield HttpRequest(method, path, found.start("verb" if found["verb"] else "other"))
                break


def _may_be_request(found: re.Match[str], text: str, language: str) -> bool:
    """Whether a call is one of a client, as far as its form tells: those that register a route look alike."""
    on, verb = (found["on"] or "").lower(), found["verb"]
    if found["mark"] is not None:  # `[Get("/users")]` of Refit, `@GET("users")` of Retrofit
        is_plain = verb and not found["http"] and not text.endswith("#", 0, found.start())
        return bool(is_plain) and language in ("csharp", "java", "kotlin")
    if text.endswith("@", 0, found.start()) or _is_commented(text, found.start()):
        return False
    if on in _ROUTERS and verb and not found["form"] and not (on == "api" and language in _SCRIPTS):
        return False
    if verb is None:
        return bool(on or found["some"]) or found["other"].lower() != "uri"
    if language == "go":
        return on in ("http", "httptest") or on.endswith("client")
    if on or found["some"]:
        return True
    if language in _JVM:
        return text.endswith("perform(", 0, found.start())
    return language in _SCRIPTS or bool(found["form"])


def _is_commented(text: str, start: int) -> bool:
    begin = text.rfind("\n", max(0, start - _MOST_BEFORE), start) + 1
    return (begin > 0 or start < _MOST_BEFORE) and _COMMENTED.match(text, begin, start) is not None


def _method(found: re.Match[str], said: str, text: str, *, has_options: bool) -> str:
    if found["verb"]:
        return "DELETE" if found["verb"].lower() == "del" else found["verb"].upper()
    name = found["other"].lower()
    if name == "uri":
        before = _VERB_BEFORE.search(text, max(0, found.start() - 80), found.start("other") - 1)
        return before[1].upper() if before else ANY_METHOD
    verb = _VERB_SAID.search(said)
    if verb:
        return (verb[1] or verb[2]).upper()
    is_get = (
        (name in _GETS or name.endswith("fetch"))
        and not _VERB_ELSEWHERE.search(said)
        and (name == "useswr" or not has_options)
    )
    return "GET" if is_get else ANY_METHOD


def _arguments(text: str, start: int) -> list[str]:
    """The arguments of the call whose parenthesis ends before `start`, as far as they are read."""
    made, depth, begin = list[str](), 0, start
    at, end = start, min(len(text), start + _MOST_ARGUMENTS)
    while at < end:
        char = text[at]
        if char in "\"'`" and (string := _STRING.match(text, at)):
            at = string.end()
            continue
        if char in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif char in "([{":
            depth += 1
        elif char == "," and depth == 0:
            made.append(text[begin:at])
            begin = at + 1
        at += 1
    return [one for one in (*made, text[begin:at]) if one.strip()]


class _Values:
    """What the expressions of a file say, where a variable, field or constant of the file is assigned a string with a
    path."""

    def __init__(self, text: str, elsewhere: Callable[[], Mapping[str, str]]) -> None:
        self._text = text
        self._elsewhere = elsewhere
        self._assigned: Mapping[str, Sequence[tuple[int, str]]] | None = None
        self._known: dict[tuple[str, int], str] = {}
        self._depth = 0

    def text_of(self, expression: str, at: int) -> str:
        """The text of an expression at an offset, with `\\0` for what is not known."""
        made, end = list[str](), 0
        for found in _STRING.finditer(expression):
            made += [self._between(expression[end : found.start()], at), self._within(found["string"], at)]
            end = found.end()
        return "".join([*made, self._between(expression[end:], at)])[:_LONGEST_VALUE]

    def _between(self, code: str, at: int) -> str:
        return "".join(self._named(part, at) for part in code.split("+") if part.strip())

    def _within(self, string: str, at: int) -> str:
        return _IN_STRING.sub(lambda found: self._named(found["name"] or found["plain"] or "", at), string[1:-1])

    def _named(self, code: str, at: int) -> str:
        found = _NAME.match(code)
        if found is None:
            return _UNKNOWN
        if self._assigned is None:
            self._assigned = _assigned(self._text)
        known = self._assigned.get(found["name"], ())
        if not known and (qualified := _QUALIFIED.search(code)):
            return self.text_of(self._elsewhere().get(qualified[0], ""), 0) or _UNKNOWN
        if not known:
            return _UNKNOWN
        start, value = known[max(bisect_right(known, (at, "")) - 1, 0)]
        if (found["name"], start) not in self._known:
            self._known[found["name"], start] = _UNKNOWN  # what is made of itself
            self._depth += 1
            if self._depth < _DEEPEST:
                self._known[found["name"], start] = self.text_of(value, start)
            self._depth -= 1
        return self._known[found["name"], start]


def _assigned(text: str) -> Mapping[str, Sequence[tuple[int, str]]]:
    known: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for found in _ASSIGNED.finditer(text):
        if "/" in found["value"] and _STRING.search(found["value"]):
            known[found["name"]].append((found.start(), found["value"]))
    return known


def _path(text: str, *, is_sure: bool) -> str:
    """The path of a URL; '' for one of another system, and for a text that is none: without a slash only where it
    `is_sure`."""
    text = text.strip()
    if text.lower() in _VERBS.split("|"):
        return ""
    host = _HOST.match(text)
    if host is not None:
        if _OUTSIDE.match(host["host"]):
            return ""
        text = text[host.end() :]
    if any(char.isspace() for char in text) or not ("/" in text or is_sure):
        return ""
    base = "" if text.startswith(("/", "~/")) else BASE
    text = re.split(r"[?#]", text.removeprefix("~").lstrip(_UNKNOWN), maxsplit=1)[0]
    segments = [segment for segment in text.split("/") if segment]
    if segments and segments[-1].strip(_UNKNOWN):
        segments[-1] = segments[-1].rstrip(_UNKNOWN)  # a query
    segments = [PARAMETER if _UNKNOWN in segment else segment for segment in segments]
    return f"{base}/{'/'.join(segments)}" if any(any(map(str.isalpha, segment)) for segment in segments) else ""
