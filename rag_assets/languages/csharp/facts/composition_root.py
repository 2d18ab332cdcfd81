"""What start-up code wires together: registered services, middleware, mapped endpoints. By the names of calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_assets.languages.csharp.facts.masked_body import MaskedBody, type_arguments

MAX_NAME_CHARS = 80
"""How far before a call its receiver is looked for: a name and a line break with its indentation."""

_TYPE = r"[\w.:]{1,200}"


@dataclass(frozen=True, slots=True)
class Registration:
    """A service given to the container. `implementation` is '' where the text does not name it (a factory, an
    instance); `lifetime` is the word of the call: Scoped, Singleton, Transient, HostedService, DbContext …"""

    service: str
    implementation: str
    lifetime: str
    line: int


@dataclass(frozen=True, slots=True)
class Registrations:
    """All that start-up code says, in text order, each once. `features` are `AddXxx` without a type."""

    registrations: tuple[Registration, ...] = ()
    features: tuple[str, ...] = ()
    middleware: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()


def registrations_in(body: MaskedBody) -> Registrations:
    """The wiring in a segment."""
    registrations: dict[tuple[str, str, str], Registration] = {}
    features: list[str] = []
    for match in _ADD.finditer(body.code):
        found = _registration(body, match)
        if found is not None:
            registrations.setdefault((found.service, found.implementation, found.lifetime), found)
        elif match.group("plain") and _CONTAINERS.match(_receiver(body.code, match.start())):
            features.append(match.group("plain"))
    return Registrations(
        tuple(registrations.values()),
        tuple(dict.fromkeys(features)),
        _middleware(body.code),
        _endpoints(body),
    )


def _registration(body: MaskedBody, match: re.Match[str]) -> Registration | None:
    call = match.group("lifetime") or match.group("other")
    if call is None:
        return None
    written, end = type_arguments(body.code, match.end())
    opening = _OPENING.match(body.code, end)
    if opening is None:
        return None
    arguments = list(written or (found.group(1) for found in _typeofs(body.code, opening.end())))
    if len(arguments) < 2:
        made = _FACTORY.match(body.code, opening.end()) or _AS.match(body.code, end)
        arguments += [made.group(1)] if made and call != "Configure" else []
    if not arguments:
        return None
    service, implementation = arguments[0], arguments[1] if len(arguments) > 1 else ""
    if call == "RegisterType" and implementation:  # Autofac names the implementation first
        service, implementation = implementation, service
    line = body.line_at(match.start())
    return Registration(service, implementation, _LIFETIMES.get(call, call), line)


def _receiver(code: str, dot: int) -> str:
    """The name that the member access at `dot` stands behind; '' behind a call. Read backwards, because a pattern that
    begins with the dot is found much faster than one that begins with any name."""
    found = _NAME_BEFORE.search(code[max(0, dot - MAX_NAME_CHARS) : dot])
    return found.group(1) if found else ""


def _typeofs(code: str, position: int) -> list[re.Match[str]]:
    """`typeof(I<>), typeof(Impl<>)` as the first arguments."""
    found: list[re.Match[str]] = []
    while len(found) < 2 and (match := _TYPEOF.match(code, position)):
        found.append(match)
        position = match.end()
    return found


def _middleware(code: str) -> tuple[str, ...]:
    found = []
    for match in _USE.finditer(code):
        name, type_name = match.groups()
        if not name.startswith(_NOT_MIDDLEWARE) and name not in _HOST_FEATURES:
            found.append(type_name if type_name and name == "UseMiddleware" else name)
    return tuple(dict.fromkeys(found))


def _endpoints(body: MaskedBody) -> tuple[str, ...]:
    found = []
    for match in _MAP.finditer(body.code):
        name = match.group(1)
        if name not in _MAPS and not _ROUTERS.match(_receiver(body.code, match.start())):
            continue
        route = body.string_at(match.end())
        verb = _VERBS.get(name)
        found.append(f"{verb} {route}" if verb and route else f"{name} {route}".strip())
    return tuple(dict.fromkeys(found))


_ADD = re.compile(
    r"\.\s*(?:"
    r"(?:(?:Try)?Add(?:Keyed)?(?P<lifetime>Scoped|Singleton|Transient|HostedService|DbContext(?:Factory|Pool)?"
    r"|HttpClient|GrpcClient)|(?P<other>Configure|RegisterType|Register))(?=\s*[<(])"
    r"|(?P<plain>Add[A-Z]\w*)(?=\s*(?:<[^;(){}]{0,200}>\s*)?\())"
)
_CONTAINERS = re.compile(r"(?:\w*[sS]ervices|\w*[cC]ollection|builder)\Z")
"""Receivers of `AddXxx` that are a container; a list has such methods too."""
_NAME_BEFORE = re.compile(r"(\w++)\s*+[?!]?\Z")
_OPENING = re.compile(r"\s*\(")
_TYPEOF = re.compile(rf"\s*,?\s*typeof\s*\(\s*({_TYPE}(?:\s*<[\s,]*>)?)\s*\)")
_FACTORY = re.compile(rf"\s*(?:(?:static\s+)?\(?[\w\s,]{{1,60}}\)?\s*=>\s*)?new\s+({_TYPE})")
_AS = re.compile(rf"\s*\(\s*\)\s*\.\s*As\s*<\s*({_TYPE})\s*>")
_USE = re.compile(rf"\.\s*(Use[A-Z]\w*)\s*(?:<\s*({_TYPE})\s*>\s*)?\(")
_MAP = re.compile(r"\.\s*(Map[A-Z]\w*)\s*(?:<[^;(){}]{0,200}>\s*)?\(")
_LIFETIMES = {"Configure": "Options"}
_VERBS = {f"Map{verb.title()}": verb for verb in ("GET", "POST", "PUT", "DELETE", "PATCH")}
_MAP_NAMES = (
    "MapControllers MapControllerRoute MapDefaultControllerRoute MapAreaControllerRoute MapRazorPages MapHub MapGroup "
    "MapRazorComponents MapBlazorHub MapHealthChecks MapGrpcService MapFallback MapFallbackToFile MapFallbackToPage "
    "MapMethods MapOpenApi MapSwagger MapStaticAssets MapIdentityApi MapReverseProxy"
)
_MAPS = frozenset({*_VERBS, *_MAP_NAMES.split()})
"""Calls of ASP.NET Core that map endpoints, whatever they are called on."""
_ROUTERS = re.compile(r"(?:app|application|endpoints?|routes?|group|\w*[rR]oute(?:s|r|Builder))\Z")
"""Receivers of a project's own `MapXxx`; object mappers have such methods too."""
_NOT_MIDDLEWARE = (
    "UseSql", "UseNpgsql", "UseInMemory", "UseMySql", "UseOracle", "UseCosmos", "UseLazyLoading", "UseQuery",
    "UseModel", "UseStartup", "UseKestrel", "UseUrls", "UseContentRoot", "UseWebRoot", "UseConfiguration",
    "UseSetting", "UseDefaultServiceProvider", "UseServiceProviderFactory", "UseInternalServiceProvider",
    "UseValueConverter", "UseLoggerFactory", "UseChangeTracking", "UseConsoleLifetime", "UseEnvironment",
)  # fmt: skip
"""How `UseXxx` of databases and hosts begin, which no request passes through."""
_HOST_FEATURES = frozenset({"UseIIS", "UseIISIntegration", "UseSerilog", "UseUnixSocket", "UseHttps", "UseSystemd"})
"""Whole names of such calls; `UseHttpsRedirection` is middleware."""
