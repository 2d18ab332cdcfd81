"""Who may call an endpoint: what attributes and calls at it, at its group or its type, or for all others, say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rag_assets.answer.graph_facts import MOST_FACTS, Facts, GraphFact, GraphFacts, facts_at, named_nodes
from rag_assets.answer.passages import open_brackets
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    MOST_READ,
    facts_listed,
    facts_naming,
    lines_of,
    points_naming,
    points_with,
    product_of,
)
from rag_assets.answer.plans.endpoints import endpoints_about, handlers_of, nearest_endpoints
from rag_assets.answer.question_analysis import QueryTerm, roots_of
from rag_assets.answer.question_kinds import WHOLE
from rag_assets.answer.structure.actions import MEANS
from rag_assets.contracts.graph import NodeType, key_kind
from rag_assets.graph.csr_graph import Graph, NodeLocation
from rag_assets.search.index import LabelIndex
from rag_assets.search.line_references import sections_of

_ACCESS = re.compile(
    r"^\s*\[.*?\b\w*(?:Authorize|AllowAnonymous|Permission)\w*\b"
    r"|\.(?:AllowAnonymous|RequireAuthorization|Require\w*(?:Permission|Policy|Role)\w*)\("
    r"|@(?:DenyAll|PermitAll|PreAuthorize|RolesAllowed|Secured|UseGuards|jwt_required|login_required|permission_required"
    r"|permission_classes|staff_member_required|user_passes_test)\b"
    r"|^\s*permission_classes\s*[:=]|\b(?:LoginRequired|PermissionRequired|UserPassesTest)Mixin\b"
    r"|\b(?:Depends|Security)\(\s*(?:\w+\.)*\w*(?:admin|auth|current|login|permission|role|superuser|token|user)\w*"
    r"|:\s*(?:\w+\.)*(?:Current|Admin|Super)\w*User\b"
)
"""Who may call an endpoint, at it or its type."""
_GUARDING = (
    r"(?!\w*(?:Controllers?|Handlers?|Limit(?:er)?|Rout(?:er|es?)|Service)\b)"
    r"(?:auth\w*|ensure(?:Auth|Log)\w*|is(?:Admin|Allowed|Auth|Logged)\w*|protect\w*|passport\.authenticate|jwt\w*"
    r"|loginRequired|(?:allow|has|permit|restrict)(?:Permissions?|Roles?|To)"
    r"|(?:check|requires?|verify)_?(?:Admin|Auth|JWT|Jwt|Login|Permission|Role|Session|Sign|Token|User)\w*)"
    r"(?:\.required)?\s*[(,]"
)
"""Called as what lets not everybody through, and not as what limits how often, or has the routes of it."""
_GUARD = re.compile(rf"(?<![\w'\"/.]){_GUARDING}")
"""The same of JavaScript, before the handler of a route: `router.get('/', auth('read'), list)`."""
_REFUSES = re.compile(r"\b(?:unauthori[sz]ed|unauthenticated|forbidden)\w*\(|\bstatus\W{1,3}40[13]\b", re.IGNORECASE)
"""The same within the handler, which answers who may not call it."""
_MAY_REFUSE = re.compile(
    r"auth|unauthori[sz]ed|forbid|permi(?:t|ssion)|allow|guard|protect|login|log_in|sign_?in|session|token|jwt|cookie|user"
    r"|secret|role|admin|access|\b40[13]\b|\bcan[A-Z_]",
    re.IGNORECASE,
)
"""A handler of a script with any of this may ask who calls it, itself or by what it calls."""
_BEGINS_HANDLER = re.compile(r"=>|\bfunction\b|;\s*$")
_SCRIPTS = (".cjs", ".js", ".jsx", ".mjs", ".ts", ".tsx")
_GO_GUARD = re.compile(
    r"\.(?:DELETE|GET|PATCH|POST|PUT|Delete|Get|Handle|HandleFunc|Method|Patch|Post|Put)\(.*"
    r"(?:[,.]\s*(?:\w+\.)*\w*(?:[aA]uth|[pP]erm|[rR]ole|[aA]dmin|[rR]equire|[lL]ogin)\w*\(|\"[a-z_]+:[a-z_]+\")"
)
"""The same of Go, around the handler of a route: `g.GET("/orders", requireRole(list, "orders:read"))`."""
_OPEN = re.compile(
    r"AllowAnonymous|\bAllowAny\b|\bpermission_classes(?:\(|\s*(?::\s*\w+\s*)?=)\s*[\[(]\s*[\])]|\bskip_?auth\w*\W{1,3}true\b",
    re.IGNORECASE,
)
_GUARDS = re.compile(r"^(?!.*(?:AllowAnonymous|PermitAll|skip_?auth))", re.IGNORECASE)
_RESTRICTED = re.compile(
    r"(?:Roles?|Polic(?:y|ies)|Permissions?|Scopes?|Claims?)(?![a-z])|hasA?\w*(?:Role|Authority)|Roles|permission_"
    r"|Authoriz\w+\(\s*(?:\"|\w+\.)|\b(?:isAllowed|authorize|restrictTo|permit)\(\s*\[?[\"']"
)
"""With a role, a policy or the like."""
_MAPS = re.compile(
    r"(?:(?<!\w)(?P<on>\w+)\s*)?\.Map(?:Delete|Get|Methods|Patch|Post|Put)\b[^\"]*(?:\"(?P<route>[^\"]*)\")?"
)
"""What maps an endpoint of ASP.NET, or of a group of them, to a handler."""
_MAPS_OTHERS = re.compile(
    r"(?<!\w)\w+\.(?P<name>Map(?:BlazorHub|GraphQL|GrpcService|HealthChecks|Hub|IdentityApi|OpenApi|ReverseProxy|Scalar\w*"
    r"|Swagger\w*|\w*Prometheus\w*)(?:<[\w.]+>)?)\("
)
_MAPPING_OTHERS = (
    "MapGraphQL MapGrpcService MapHealthChecks MapHub MapIdentityApi MapOpenApi MapReverseProxy MapSwagger"
)
"""What maps endpoints that a library makes."""
_AUTHENTICATING = (
    "AddAuthentication UseAuthentication AuthenticationHandler Authorization ApiKey auth authenticate authenticated"
    " unauthorized jwt passport login session token HttpSecurity SecurityFilterChain permission_classes current_user"
)
_AUTHENTICATES = re.compile(
    r"\b(?:Add|Use)Authentication\b|\bAuthenticationHandler<|[\"'`]Authorization[\"'`]|api-?key|\bunauthori[sz]ed\b"
    r"|\b(?:jwt|passport)\.\w|\b(?:Http|Web)Security\b|\bSecurityFilterChain\b|\bpermission_classes\b"
    r"|\bcurrent_?user\b|\b(?:check|ensure|is|require|verify|with)_?(?:auth|log(?:ged)?_?in|permission|session)\w*\(",
    re.IGNORECASE,
)
"""What code has that asks who calls it."""
_HANDLER = re.compile(r"(\w+)\s*(?:<[^<>()]*>)?\(")
_GROUPED = r"(?<!\w){0}\s*=.*\bMapGroup\b|\bRouteGroupBuilder\s+{0}\b"
_FOR_OTHERS = re.compile(
    r"\bAddFallbackPolicy\(|\bFallbackPolicy\s*=(?!=)|\bSetFallbackPolicy\(|\bnew AuthorizeFilter\("
    r"|\bMap(?:Controllers|RazorPages)\(\)\s*\.RequireAuthorization\("
    r"|\b(?:app|router|server)\.use\(\s*(?:[\"'`]/?[\"'`],\s*)?(?:\w+\.)*"
    r"(?!\w*(?:Controllers?|Handlers?|Limit(?:er)?|Rout(?:er|es?)|Service)\b)(?:auth|isAuth|jwt|passport|protect|require[A-Z_])"
    r"|\bAPP_GUARD\b|\buseGlobalGuards\(|\bexport default (?:auth|clerkMiddleware|withAuth)\("
    r"|\bauth as (?:middleware|proxy)\b"
)
"""Who may call the endpoints that say nothing themselves."""
_BELOW_PATH = re.compile(rf"\.use\(\s*[\"'`](?P<path>/[^\"'`]+)[\"'`]\s*,.*?(?<![\w'\"/.]){_GUARDING}")
"""Of JavaScript who may call all that is served below a path: `app.use("/orders", requireAuth, orders)`."""
_SAYING_FOR_OTHERS = (
    "AddFallbackPolicy FallbackPolicy SetFallbackPolicy AuthorizeFilter MapControllers MapRazorPages APP_GUARD"
    " useGlobalGuards withAuth clerkMiddleware middleware auth passport jwt app.use"
)
_QUOTED = re.compile(
    r"[\"']([^\"']*[A-Za-z][^\"']*)[\"']|\b(?:[A-Z]\w*\.)+?([A-Z]\w*)(?:\.(?:Key|Name|Value))?\b(?!\.)"
)
_OF_OTHERS = re.compile(r"\b(?:Allow(?:Any|Credentials)|WithOrigins|WindowsBuiltInRole)|(?i:cors)")
"""What is no role or policy of who may call an endpoint: which sites may, and who runs a program."""
_GRANTS = {
    "role": re.compile(
        r"\b(?:RequireRole|IsInRole|has(?:Any)?(?:Role|Authority)|RolesAllowed|Secured)\((?P<names>[^()]*)\)"
        r"|\bRoles\s*=(?!=)\s*(?P<more>[^,()\]]*\"[^\"]*\"|[\w.]+)"
    ),
    "policy": re.compile(
        r"\bAddPolicy\((?P<names>[^,()]*),|(?:Authoriz|Permission|\[\w+\().*\bPolicy\s*=(?!=)\s*(?P<more>[^,()\]]*)"
        r"|\bRequireAuthorization\((?P<called>[\"'\w][^()]*)\)"
    ),
    "claim": re.compile(r"\b(?:RequireClaim|HasClaim|FindFirst(?:Value)?|new Claim)\((?P<names>[^,()]*)"),
}
_GRANTS["permission"] = _GRANTS["policy"]
"""Where code says by its name what somebody must have, by what people call it."""
_GRANTING = (
    "Authorize AddPolicy RequireRole RequireClaim IsInRole RequireAuthorization Roles Policy Claim hasRole RolesAllowed"
)
_POLICY_NAMED = re.compile(r"(?:\bPolicy\s*=\s*|Authoriz\w+\(\s*)\"(?P<name>[^\"]+)\"")
_DEFINING = re.compile(r"\bAddPolicy\(")
_DEFINES = r"\bAddPolicy\(\s*\"{0}\""
_MOST_OF_STATEMENT, _MOST_OF_HANDLER = 12, 120  # lines
_VIEW = re.compile(r"[\"'][^\"']*[\"']\s*,\s*(?:\w+\.)*(?P<view>[A-Za-z_]\w*)\s*(?:\.as_view\(|[,)])")
"""What a route of Django has beside its path."""
_GO_ROUTE = re.compile(r"(?<![\w.])(\w+)\.(?:[A-Z]+|Any|Delete|Get|Handle\w*|Method|Patch|Post|Put)\(")
_GO_LETS = re.compile(r"\b\w*(?:[aA]uth|[pP]erm|[rR]ole|[aA]dmin|[rR]equire|[lL]ogin)\w*")
_GO_TEXT = re.compile(r"\"[^\"]*\"")
_TYPE_NAME = re.compile(r"\b(?:class|interface|record|struct)\s+(\w+)")
_IS_ABOVE = re.compile(r"\s*(?:$|//|/?\*|\[[^\]]*\]\s*$)")
"""What may stand between an attribute and what it is on."""
_TYPE = re.compile(r"^[^/*\"]*\b(?:class|interface|record|object)\s+\w+")
_OPEN_TO_ALL, _UNSAID = "Open to anybody", "No line says who may call"
_ENDPOINT_SECTION = "endpoint-overview"
_AUTHORIZATION = re.compile(r"^Authorization: (?P<access>.*)$", re.MULTILINE)
_ANONYMOUS = "anonymous"
_SAYS_NO_CODE = re.compile(r"\s*(?:$|//|/?\*|[\[@#])")
_MOST_ENDPOINTS = 40  # that a question can mean


def access_facts(index: LabelIndex, graph: Graph, asks: str, subject: Sequence[QueryTerm]) -> Facts:
    """The lines that say who may call the endpoints about a subject, of themselves or else of the type around them:
    `open` those that anybody may call, and those of C# of which nothing says who; `guarded` those that not all may;
    `what` those that name a role, a policy or the like."""
    if not subject and asks not in WHOLE:
        return GraphFacts(), {}
    endpoints, wanted = endpoints_about(index, graph, [word.word for word in subject])
    if asks not in WHOLE and len(endpoints) > MOST_FACTS:
        endpoints = nearest_endpoints(graph, endpoints, wanted)
    if asks not in WHOLE and len(endpoints) > _MOST_ENDPOINTS:
        return GraphFacts(), {}
    found = [(graph.names[node], place, node) for node, place in endpoints]
    if not found and asks not in WHOLE:
        return _of_members(index, [word.root for word in subject])
    telling = {"open": _OPEN, "guarded": _GUARDS, "what": _RESTRICTED}.get(asks, _ACCESS)
    paths = {place.path for _, place, _ in found}
    at_views = _view_lines(index, graph, {node for _, place, node in found if place.path.endswith(".py")})
    lines, described = lines_of(index, paths), _described(index, paths) if asks in WHOLE else {}
    mounted = _below_paths(index) if any(path.endswith(_SCRIPTS) for path in paths) else []
    facts, guarded = dict[GraphFact, None](), dict[GraphFact, None]()
    silent: list[GraphFact] = []
    is_unknown = False  # whether of some nothing is known, not even that no line says it
    for name, place, node in found:
        known = lines.get(place.path, {})
        begin = _declared(known, place)
        mapped, on = _mapped_at(known, name, begin)
        within = [
            at
            for at in dict.fromkeys((*range(place.line_start, place.line_end + 1), *mapped))
            if _ACCESS.search(known.get(at, ""))
        ]
        is_script = place.path.endswith(_SCRIPTS)
        body = [*_body(known, place)] if is_script else []
        body = body if len(body) > 1 else []  # the route of a handler that stands elsewhere
        opened = [at for at in body if _OPEN.search(known.get(at, ""))]  # what it refuses then has other grounds
        within += opened or [at for at in body if _REFUSES.search(known.get(at, ""))]
        of_go = place.path.endswith(".go")
        within += [
            at for at in range(place.line_start, place.line_end + 1) if of_go and _GO_GUARD.search(known.get(at, ""))
        ]
        own = [*_above(known, place.line_start), *within, *_before_handler(known, place)]
        if not own and (views := at_views.get(node)):
            for one, text in views:
                (facts if telling.search(text) or asks == "who" else guarded)[replace(one, source=name)] = None
            continue
        around = _above(known, _type_around(known, place.line_start))
        own = own or (_of_go_group(known, place.line_start) if of_go else [])
        saying = own or _of_group(known, on, place.line_start if not mapped else mapped[0]) or around
        access = described.get((place.path, place.line_start))
        if access == _ANONYMOUS:  # anywhere, it wins
            saying = [at for at in dict.fromkeys((*own, *around)) if _OPEN.search(known[at])]
        shown = GraphFact(name, "", "", place.path, mapped[0] if mapped else begin, certain=True, is_comment=True)
        if not saying and access and (access == _ANONYMOUS) == (asks == "open"):
            facts[shown] = None
        says_nothing = (
            access == "" or of_go or (is_script and not any(_MAY_REFUSE.search(known.get(at, "")) for at in body))
        )
        route = f"{name.partition(' ')[2].rstrip('/')}/"
        above = [] if saying else [one for one in mounted if is_script and route.startswith(f"{one.source}/")]
        (guarded if asks == "open" else facts).update(dict.fromkeys(replace(one, source=name) for one in above))
        is_silent = not saying and not above
        silent += [shown] * (is_silent and (asks != "open" or says_nothing))
        is_unknown = is_unknown or (is_silent and not says_nothing and access is None)
        for at in saying:
            is_told = telling.search(known[at]) or ((is_script or of_go) and asks not in WHOLE)
            kind = facts if is_told else guarded
            kind[replace(shown, line=at)] = None
    silent += _of_libraries(index) if asks == "open" and not subject else []
    kept = sorted(facts, key=lambda one: (one.path, one.line, one.source))
    heading = "**Who may call it:**"
    for_others = _said_for_others(index, [one.path for one in silent]) if silent else {}
    is_known = bool(kept or guarded or any(described.values()))
    if asks == "open" and not kept and (for_others or not silent) and not is_unknown:
        heading = "**None of these is open to anybody:**"
        kept = sorted(guarded, key=lambda one: (one.path, one.line, one.source))
    elif asks == "open" and not for_others and (is_known or authenticates_nobody(index)):
        silent = sorted(dict.fromkeys(silent), key=lambda one: (one.path, one.line, one.source))
        most = max(MOST_LISTED // 2, MOST_LISTED - min(len(kept), len(silent)))
        kept = [*_grouped(_OPEN_TO_ALL, kept, most), *_grouped(_UNSAID, silent, most)]
    at_points = facts_at(kept[:MOST_LISTED], index)
    read = (lines.get(fact.path, {}).get(fact.line, "") for fact in kept[:MOST_LISTED])
    policies = {one["name"] for text in read for one in _POLICY_NAMED.finditer(text)}
    at_points |= _policies_defined(index, policies) | for_others
    return GraphFacts(tuple(at_points), len(kept), heading), at_points


def _of_members(index: LabelIndex, subject: Sequence[str]) -> Facts:
    """The attributes with a role, a policy or the like on methods and types of the product that are called as a
    subject, as services and requests have them that no route of the code leads to; on methods before those on types."""
    wanted = set(subject)
    found = dict[GraphFact, bool]()
    likely = product_of(points_with(_GRANTING, index, MOST_READ), index).values()
    for path, lines in sorted(lines_of(index, {one["Path"] for one in likely}).items()):
        for at, text in lines.items():
            if not (text.lstrip().startswith("[") and _ACCESS.search(text) and _RESTRICTED.search(text)):
                continue
            below = next(
                (one for one in range(at + 1, at + _MOST_OF_STATEMENT) if not _IS_ABOVE.match(lines.get(one, ""))), 0
            )
            of_type = _TYPE.search(lines.get(below, ""))
            named = _TYPE_NAME.search(lines[below]) if of_type else _HANDLER.search(lines.get(below, ""))
            around = lines.get(_type_around(lines, below), "")
            owner = "" if of_type else owned[1] if (owned := _TYPE_NAME.search(around)) else ""
            said = f"{owner} {named[1]}" if named is not None else ""
            own = roots_of(said)
            if said and all(not own.isdisjoint({one, *MEANS.get(one, ())}) for one in wanted):
                fact = GraphFact(said.strip().replace(" ", "."), "", "", path, at, certain=True, is_comment=True)
                found[fact] = of_type is not None
    kept = [one for one, is_type in found.items() if is_type == all(found.values())]
    at_points = facts_at(kept[:MOST_LISTED], index) if len(kept) <= MOST_FACTS else {}
    return GraphFacts(tuple(at_points), len(at_points), "**Who may call it:**"), at_points


def _before_handler(lines: Mapping[int, str], place: NodeLocation) -> Iterator[int]:
    """The lines of a route of JavaScript with what lets not all come to its handler."""
    for at in range(place.line_start, place.line_start + _MOST_OF_STATEMENT * place.path.endswith(_SCRIPTS)):
        if at > place.line_start and lines.get(at, "").lstrip().startswith("."):  # the next method of this route
            return
        if _GUARD.search(lines.get(at, "")):
            yield at
        if _BEGINS_HANDLER.search(lines.get(at, ";")):
            return


def _body(lines: Mapping[int, str], place: NodeLocation) -> Iterator[int]:
    """The lines of a handler of a script, to the bracket that ends it; of one that is only named, its route."""
    still_open = 0
    for at in range(place.line_start, place.line_start + _MOST_OF_HANDLER):
        yield at
        still_open += open_brackets(lines.get(at, ""))
        if still_open <= 0:
            return


def authenticates_nobody(index: LabelIndex) -> bool:
    """Whether no code of the product authenticates: then what says nothing is open."""
    code = product_of(points_with(_AUTHENTICATING, index, MOST_READ), index)
    return not facts_naming(_AUTHENTICATES, code, index, ("", "", True))


def _of_libraries(index: LabelIndex) -> list[GraphFact]:
    """Where the product maps endpoints that a library makes, and nothing says who may call them."""
    code = product_of(points_with(_MAPPING_OTHERS, index, MOST_READ), index).values()
    return [
        GraphFact(found["name"], "", "", path, at, certain=True, is_comment=True)
        for path, lines in sorted(lines_of(index, {one["Path"] for one in code}).items())
        for at, text in lines.items()
        if (found := _MAPS_OTHERS.search(text)) is not None
        and not text.lstrip().startswith("//")
        and not any(_ACCESS.search(lines.get(one, "")) for one in _statement(lines, at))
    ]


def _grouped(group: str, facts: Sequence[GraphFact], most: int) -> list[GraphFact]:
    counted = f"{group}, {most} of {len(facts)}" if len(facts) > most else group
    return [replace(one, group=counted) for one in facts[:most]]


def _described(index: LabelIndex, paths: Iterable[str]) -> dict[tuple[str, int], str]:
    """(path, first line) of an endpoint of C# → who may call it by its description, which knows its base classes; ''
    where nothing says it."""
    sections = sections_of(paths, index.parts.shard(), index.scope()).values()
    endpoints = (one for one in sections if one.get("SectionKey") == _ENDPOINT_SECTION)
    said = (((one["Path"], one["StartLine"]), _AUTHORIZATION.search(one["FinderSnippet"])) for one in endpoints)
    return {place: found["access"] if found else "" for place, found in said}


def granted(index: LabelIndex, noun: str, subject: Sequence[QueryTerm]) -> Facts:
    """The roles, policies or claims that code of the product names where it says who may do something, each once, where
    it is defined if it is, on lines that name a subject."""
    wanted = {word.root for word in subject}
    found: dict[str, GraphFact] = {}
    defined: set[str] = set()
    likely = product_of(points_with(_GRANTING, index, MOST_READ), index).values()
    for path, lines in sorted(lines_of(index, {one["Path"] for one in likely}).items()):
        for number, text in lines.items():
            around = f"{text}{lines.get(number + 1, '')}"
            named = [one[1] or one[2] for one in _QUOTED.finditer(text)]
            if not named or text.lstrip().startswith(("//", "*", "#")) or _OF_OTHERS.search(around):
                continue
            if not wanted <= roots_of(" ".join(named)):
                continue
            for said in _GRANTS[noun].finditer(text):
                for one in _QUOTED.finditer(next(filter(None, said.groups()), "")):
                    for name in map(str.strip, (one[1] or one[2]).split(",")):
                        is_defined = _DEFINING.search(text) is not None and name not in defined
                        if is_defined or name not in found:
                            found[name] = GraphFact(name, "", "", path, number, True, is_comment=True)
                        defined |= {name} if is_defined else set()
    return facts_listed([*found.values()], noun, index)


def _policies_defined(index: LabelIndex, names: Iterable[str]) -> dict[GraphFact, str]:
    """Where the product says what the policies that endpoints need ask for."""
    found: dict[GraphFact, str] = {}
    for name in sorted(names):
        code = product_of(points_naming(name, index).ids, index)
        defined = facts_naming(re.compile(_DEFINES.format(re.escape(name))), code, index, ("", name, True))
        found |= {replace(one, source=f"policy {name}", target="", is_comment=True): at for one, at in defined.items()}
    return found


def _mapped_at(lines: Mapping[int, str], endpoint: str, line: int) -> tuple[list[int], str]:
    """(the lines of the statement that maps an endpoint, what it is mapped on): `app.MapPost("/orders", AddAsync)`
    where its handler `AddAsync` stands at a line; nothing of what attributes map."""
    begin, found = line, _MAPS.search(lines.get(line, ""))
    if found is None and (handler := _HANDLER.search(lines.get(line, ""))):
        named = re.compile(rf"(?<![\w\"]){re.escape(handler[1])}(?![\w(\"])")
        maps = {at: one for at, text in lines.items() if named.search(text) and (one := _MAPS.search(text))}
        begin = max(
            maps, key=lambda at: len(maps[at]["route"] or "") * endpoint.endswith(maps[at]["route"] or ""), default=0
        )
        found = maps.get(begin)
    return ([*_statement(lines, begin)], found["on"] or "") if found is not None else ([], "")


def _statement(lines: Mapping[int, str], begin: int) -> Iterator[int]:
    for at in range(begin, begin + _MOST_OF_STATEMENT):
        yield at
        if lines.get(at, ";").rstrip().endswith(";"):
            return


def _of_group(lines: Mapping[int, str], group: str, line: int) -> list[int]:
    """The lines that say who may call the endpoints of a group above a line."""
    made = re.compile(_GROUPED.format(re.escape(group))) if group else None
    begin = max((at for at, text in lines.items() if made and at < line and made.search(text)), default=0)
    of_group = [at for at in lines if begin and at > begin and lines[at].lstrip().startswith(f"{group}.")]
    begins = [begin, *(at for at in of_group if not _MAPS.search(lines[at]))] if begin else []
    return [at for start in begins for at in _statement(lines, start) if _ACCESS.search(lines.get(at, ""))]


def _said_for_others(index: LabelIndex, paths: Sequence[str]) -> dict[GraphFact, str]:
    """Who may call the endpoints of some files that say nothing themselves: by the project that is nearest to them."""
    code = product_of(points_with(_SAYING_FOR_OTHERS, index, MOST_READ), index)
    found = facts_naming(_FOR_OTHERS, code, index, ("", "", True))
    above = {
        one: at
        for one, at in found.items()
        if any(path.startswith(f"{one.path.rpartition('/')[0]}/") for path in paths)
    }
    kept = above or (found if len(found) == 1 else {})
    return {replace(one, source="every other endpoint", is_comment=True): at for one, at in kept.items()}


def _view_lines(index: LabelIndex, graph: Graph, nodes: Iterable[int]) -> dict[int, list[tuple[GraphFact, str]]]:
    """Of endpoints of Python, whose routes may stand elsewhere, the lines at their views that say who may call them."""
    places = dict[int, list[NodeLocation]]()
    for node in nodes:
        views = [one for one in handlers_of(graph, [node]) if key_kind(graph.keys[one]) is not NodeType.FILE]
        if not views:  # of Django: a name beside the path
            routes = lines_of(index, {place.path for place in graph.places(node)})
            for place in graph.places(node):
                known = routes.get(place.path, {})
                text = " ".join(known.get(at, "").strip() for at in range(place.line_start, place.line_start + 4))
                keys = named_nodes(graph, [said["view"]]) if (said := _VIEW.search(text)) else ()
                views += [one for key in keys if (one := graph.find(key)) is not None]
        places[node] = [place for view in views for place in graph.places(view) if place.path.endswith(".py")]
    lines = lines_of(index, {place.path for of in places.values() for place in of})
    found = dict[int, list[tuple[GraphFact, str]]]()
    for node, of in places.items():
        for place in of:
            known = lines.get(place.path, {})
            last = min(place.line_end, place.line_start + _MOST_OF_STATEMENT)
            within = (at for at in range(place.line_start, last + 1) if _ACCESS.search(known.get(at, "")))
            for at in dict.fromkeys((*_above(known, place.line_start), *within)):
                fact = GraphFact("", "", "", place.path, at, certain=True, is_comment=True)
                found.setdefault(node, []).append((fact, known[at]))
    return found


def _of_go_group(lines: Mapping[int, str], line: int) -> list[int]:
    """The line above a route of Go that makes its group, or gives it a middleware, where that lets not all through."""
    on = _GO_ROUTE.search(lines.get(line, ""))
    if on is None:
        return []
    made = re.compile(rf"(?<![\w.]){on[1]}\s*:?=(?!=)")
    used = re.compile(rf"(?<![\w.]){on[1]}\.Use\(")
    for at in range(line - 1, 0, -1):
        text = _GO_TEXT.sub("", lines.get(at, ""))
        is_made = made.search(text) is not None
        if (is_made or used.search(text)) and _GO_LETS.search(text):
            return [at]
        if is_made or text.startswith("func "):
            return []
    return []


def _below_paths(index: LabelIndex) -> list[GraphFact]:
    """The lines of scripts that let not everybody to what is served below a path, each called as the path."""
    code = product_of(points_with(_SAYING_FOR_OTHERS, index, MOST_READ), index).values()
    paths = {one["Path"] for one in code if one["Path"].endswith(_SCRIPTS)}
    return [
        GraphFact(found["path"].rstrip("/"), "", "", path, at, certain=True, is_comment=True)
        for path, lines in sorted(lines_of(index, paths).items())
        for at, text in lines.items()
        if (found := _BELOW_PATH.search(text)) is not None and not text.lstrip().startswith("//")
    ]


def _declared(lines: Mapping[int, str], place: NodeLocation) -> int:
    """The line of the declaration of an endpoint, below its comment and its attributes."""
    of_place = range(place.line_start, place.line_end + 1)
    return next((at for at in of_place if not _SAYS_NO_CODE.match(lines.get(at, ""))), place.line_start)


def _type_around(lines: Mapping[int, str], line: int) -> int:
    return next((at for at in range(line, 0, -1) if _TYPE.search(lines.get(at, ""))), 0)


def _above(lines: Mapping[int, str], line: int) -> list[int]:
    """The attributes right above a line that say who may call what stands there."""
    begin = line
    while lines.get(begin - 1, "").strip()[:1] in ("[", "@"):
        begin -= 1
    return [at for at in range(begin, line) if _ACCESS.search(lines[at])]
