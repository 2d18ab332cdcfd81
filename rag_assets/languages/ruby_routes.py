"""The HTTP routes of Rails and Sinatra: statements and their blocks, read as the frameworks run them.

What only a program knows (a path in a variable, the standard actions of `only: ACTIONS`) is no route. Pure; never
raises for any text, and takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rag_assets.contracts.graph import ANY_METHOD
from rag_assets.languages.by_pattern.comments import masked
from rag_assets.languages.route_mounts import API_ONLY, NO_MOUNTS, MountDeclarations, RouteMount, joined
from rag_assets.languages.routes import Route

_RAILS_FILE = re.compile(r"(?:^|/)config/routes/.+\.rb$")
_API_ONLY = re.compile(r"^\s*config\.api_only\s*=\s*true\b", re.MULTILINE)
_RAILS = re.compile(r"\broutes\.draw\b")
_SINATRA = re.compile(r"\b[Ss]inatra\b")
_OF_A_BASE = re.compile(r"^[ \t]*class\s+[\w:]+\s*<", re.MULTILINE)
"""What may derive from an application of Sinatra in another file."""
_OF_A_TEST = re.compile(r"(?:^|/)(?:tests?|spec)/")
"""Blocks there look at what a client of HTTP got."""
_SINATRA_CALL = re.compile(r"^[ \t]*(?:get|post|put|patch|delete|options|head)[ \t(]+[\"']/", re.MULTILINE)
_OTHERS = re.compile(r"\bGrape::|\bRSpec\b|\bswagger_helper\b|\brails_helper\b")
"""Their blocks look like those of Sinatra, and mean something else."""
_LONGEST = 200_000
"""In characters, of a file: longer ones are made by a program."""
_LONGEST_STATEMENT = 2_000
_MOST_STATEMENTS = 20_000
"""Run of a file: concerns that name concerns multiply."""
_DEEPEST = 20
"""Blocks in blocks, and concerns in concerns."""


def ruby_routes(path: str, text: str, *, is_api_only: bool = False) -> Iterator[Route]:
    """The routes that a file declares, in text order. Resources of Rails have no forms where it `is_api_only`."""
    if len(text) > _LONGEST:
        return
    if _is_of_rails(path, text):
        yield from (one for one in _Rails(path, text, is_api_only).run() if isinstance(one, Route))
    elif _is_of_sinatra(path, text):
        yield from _sinatra(text, _statements(text))


def ruby_mounts(path: str, text: str) -> MountDeclarations:
    """The files that `draw :admin` of Rails takes the routes of, and whether an application has no forms."""
    if path.endswith("config/application.rb") and _API_ONLY.search(text):
        unit = f"{path.removesuffix('config/application.rb')}{API_ONLY}"
        return MountDeclarations((path, unit), (RouteMount((path,), (unit,), ""),))
    if len(text) > _LONGEST or not _is_of_rails(path, text):
        return NO_MOUNTS
    mounts = tuple(one for one in _Rails(path, text).run() if isinstance(one, RouteMount))
    return MountDeclarations((path,), mounts)


def _is_of_rails(path: str, text: str) -> bool:
    return (path.endswith("routes.rb") and _RAILS.search(text) is not None) or _RAILS_FILE.search(path) is not None


def _is_of_sinatra(path: str, text: str) -> bool:
    if not _SINATRA_CALL.search(text) or _OTHERS.search(text):
        return False
    return bool(_SINATRA.search(text) or (_OF_A_BASE.search(text) and not _OF_A_TEST.search(path)))


# statements

_TOKEN = re.compile(r"[\[\](){}\n;]|(?<![.:@\w])(?:do\b(?![:?!])(?:[ \t]*\|[^|\n]*\|)?|end\b(?![:?!]))")
_REGEX = re.compile(r"(?<=[\s(,=>:])/(?![\s=])(?:[^/\\\n]|\\.)+/|%r\{(?:[^{}\\\n]|\\.|\{[^{}\n]*\})*\}")
_OPENS = re.compile(r"(?:\w+\s*=\s*)?(?:if|unless|case|while|until|begin|def|class|module|for)\b(?![:?!])")
_ENDLESS = re.compile(r"def\s+[\w.?!]+(?:\([^()\n]*\))?\s*=\s")
_OF_BRACES = re.compile(r"(?:\)|\b(?:member|collection|new|draw))\s*\Z")
_STARTS = re.compile(
    r"\s*(?:end|resources?|namespace|scope|get|post|put|patch|delete|match|root|member|collection|concern)\b(?![:?!.=])"
)
"""What begins a statement even where a bracket is open: it was never closed."""
_GOES_ON = (",", "\\", "=>", "&&", "||", "=")
_SPACE = re.compile(r"\s*")
_ANY = re.compile(r".+")
_MOST_SPACE = 300
"""Before the end of a line: what a comment takes that is blanked."""


@dataclass(slots=True)
class _Statement:
    """What stands between two offsets, and in its block."""

    start: int
    end: int
    has_block: bool
    block: list[_Statement] = field(default_factory=list)


def _statements(text: str) -> list[_Statement]:
    """What a file runs, in order. A block that nothing ends goes to the end."""
    code = _REGEX.sub(lambda found: " " * len(found[0]), masked(text, "ruby").code)
    written = masked(text, "ruby", kept=_ANY).code  # only without comments
    top: list[_Statement] = []
    around: list[tuple[list[_Statement], int, str]] = [(top, 0, "")]  # (block, brackets open before it, what ends it)
    start = opened = 0

    def add(at: int, closer: str = "") -> None:
        nonlocal opened
        space = _SPACE.match(code, start, at)
        statement = _Statement(space.end() if space else start, at, bool(closer))
        if closer or statement.start < at:
            around[-1][0].append(statement)
        if closer:
            around.append((statement.block, opened, closer))
            opened = 0

    for token in _TOKEN.finditer(code):
        what, at = token[0], token.start()
        if what in ("\n", ";"):
            before = written[max(start, at - _MOST_SPACE) : at].rstrip()
            if (opened or before.endswith(_GOES_ON)) and not _STARTS.match(code, token.end()):
                continue
            opened = 0
            first = _SPACE.match(code, start, at)
            begins = first.end() if first else start
            opens = _OPENS.match(code, begins, at) and not _ENDLESS.match(code, begins, at)
            add(at, "end" if opens else "")
        elif what == "{" and not opened and _OF_BRACES.search(code, max(start, at - _MOST_SPACE), at):
            add(at, "}")
        elif what in "([{":
            opened += 1
            continue
        elif what.startswith("do"):
            add(at, "end")
        elif what == "end" or (what == "}" and not opened and around[-1][2] == "}"):
            add(at)
            if len(around) > 1:
                opened = around.pop()[1]
        else:
            opened = max(opened - 1, 0)
            continue
        start = token.end()
    add(len(code))
    return top


_CALL = re.compile(r"(?:[\w:]+\.)*(?P<name>\w+)(?![\w?!:=]|\s*=[^>])[ \t]*\(?\s*")
_LITERAL = re.compile(r":(\w+[?!]?)|:?\"([^\"\n]*)\"|:?'([^'\n]*)'")
_AFTER = re.compile(r"\s*(=>|,)?\s*")
_IS_OPTION = re.compile(r"\w+:|:\w+\s*=>|(?:if|unless)\b|\Z")
_IN_BRACES = re.compile(r"(?<!#)\{[^{}]*\}")
_VALUE = (
    r"\s*(?:\[(?P<list>[^\[\]]*)\]|%[iIwW][\[({<](?P<words>[^\])}>]*)"
    r"|:?\"(?P<double>[^\"\n]*)\"|:?'(?P<single>[^'\n]*)'|:(?P<symbol>\w+)|(?P<nothing>nil)\b|(?P<other>[^\s,]+))"
)
_OPTION = {
    name: re.compile(rf"(?:(?<![\w:]){name}:(?!:)|:{name}\s*=>){_VALUE}")
    for name in (
        "action", "concerns", "controller", "except", "module", "on", "only", "param", "path", "shallow", "to", "via",
    )
}  # fmt: skip
_UNKNOWN = "?"
"""What only the program knows."""


@dataclass(frozen=True, slots=True)
class _Call:
    """`get "/x", "/y", to: "c#a"`: its name, the literals before the options, and the options as they are written."""

    name: str
    literals: tuple[str, ...] = ()
    options: str = ""
    is_known: bool = True
    """Whether all that stands before the options is literal."""

    def option(self, name: str, default: str = "") -> str:
        """The literal that an option has."""
        found = _OPTION[name].search(self.options)
        if found is None:
            return default
        said = next((found[kind] for kind in ("double", "single", "symbol") if found[kind] is not None), None)
        if said is None or "#{" in said:
            return "" if found["nothing"] else _UNKNOWN
        return said

    def words(self, name: str) -> list[str] | None:
        """The literals of an option that may be a list; None where there is no such option."""
        found = _OPTION[name].search(self.options)
        if found is None:
            return None
        listed = found["list"] if found["list"] is not None else found["words"]
        return re.findall(r"\w+", listed) if listed is not None else [self.option(name)]


def _call(text: str, statement: _Statement) -> _Call:
    """The call that a statement is; one without a name where it is none."""
    written = text[statement.start : min(statement.end, statement.start + _LONGEST_STATEMENT)]
    called = _CALL.match(written)
    if called is None:
        return _Call("")
    arguments = _IN_BRACES.sub("", _IN_BRACES.sub("", written[called.end() :])).rstrip().removesuffix(")")
    literals: list[str] = []
    at, arrow, goes_on = 0, "", True
    while goes_on and (found := _LITERAL.match(arguments, at)):
        after = _AFTER.match(arguments, found.end())
        arrow = (after and after[1]) or ""
        if arguments.startswith(":", found.end()) or (arrow == "=>" and (literals or found[1])):
            break  # options begin
        literals.append(next(group for group in found.groups() if group is not None))
        at = after.end() if after else found.end()
        goes_on = arrow == ","
    options = f"to: {arguments[at:]}" if arrow == "=>" and not goes_on else arguments[at:]
    is_known = _IS_OPTION.match(options) is not None and not any("#{" in one for one in literals)
    return _Call(called["name"], tuple(literals), options, is_known)


# Rails

_VERBS = frozenset({"get", "post", "put", "patch", "delete", "options"})
_ACTIONS = (
    ("index", ("GET",), "", ""),
    ("create", ("POST",), "", ""),
    ("new", ("GET",), "", "new"),
    ("edit", ("GET",), "member", "edit"),
    ("show", ("GET",), "member", ""),
    ("update", ("PATCH", "PUT"), "member", ""),
    ("destroy", ("DELETE",), "member", ""),
)
_SKIPPED = frozenset({"class", "def", "direct", "module", "resolve"})
"""Their blocks register nothing where they stand."""
_NAMED = re.compile(r"[:*](\w+)")
_OPTIONAL = re.compile(r"\((?!\?)[^()]*\)")
_ENDS_OPTIONAL = re.compile(r"[^()]*(?:\([^()]*)+\)+")
_ACTION = re.compile(r"/*[\w/]+#\w+")


@dataclass(frozen=True, slots=True)
class _Scope:
    """What stands around a statement: its routes are below `path`, and without the resources around below `outside`;
    `member` and `collection` are the paths of the innermost resource."""

    path: str = ""
    outside: str = ""
    module: str = ""
    controller: str = ""
    member: str = ""
    collection: str = ""
    is_shallow: bool = False


class _Rails:
    """Runs the statements of a file of routes."""

    def __init__(self, path: str, text: str, is_api_only: bool = False) -> None:
        self._path, self._text = path, text
        self._forms: tuple[str, ...] = ("new", "edit") if is_api_only else ()
        self._concerns: dict[str, list[_Statement]] = {}
        self._left = _MOST_STATEMENTS

    def run(self) -> Iterator[Route | RouteMount]:
        yield from self._block(_statements(self._text), _Scope())

    def _block(self, statements: Sequence[_Statement], scope: _Scope, depth: int = 0) -> Iterator[Route | RouteMount]:
        for statement in statements if depth < _DEEPEST else ():
            self._left -= 1
            if self._left < 0:
                return
            call = _call(self._text, statement)
            if call.name in _VERBS or call.name in ("match", "root"):
                yield from _plain(call, scope, statement.start)
            elif call.name in ("resources", "resource"):
                for name in call.literals if call.is_known else ():
                    yield from _actions(call, name, scope, statement.start, self._forms)
                    inside = _inside(call, name, scope)
                    yield from self._concerned(call.words("concerns") or (), inside, depth)
                    yield from self._block(statement.block, inside, depth + 1)
            elif call.name == "concern":
                self._concerns |= dict.fromkeys(call.literals[:1], statement.block)
            elif call.name == "concerns":
                yield from self._concerned(call.literals, scope, depth)
            elif call.name == "draw" and call.literals:
                folder = f"{self._path.partition('config/routes')[0]}config/routes"
                yield RouteMount((self._path,), (f"{folder}/{call.literals[0]}.rb",), scope.path)
            elif call.name not in _SKIPPED and (inner := _scope(call, scope)) is not None:
                yield from self._block(statement.block, inner, depth + 1)

    def _concerned(self, names: Sequence[str], scope: _Scope, depth: int) -> Iterator[Route | RouteMount]:
        for name in names:
            yield from self._block(self._concerns.get(name, ()), scope, depth + 1)


def _scope(call: _Call, scope: _Scope) -> _Scope | None:
    """What stands around the block of a call; None where only the program knows."""
    if call.name in ("namespace", "scope"):
        said, is_space = "/".join(call.literals), call.name == "namespace"
        path = _NAMED.sub(r"{\1}", _OPTIONAL.sub("", call.option("path", said)))
        module = call.option("module", said if is_space else "")
        controller = call.option("controller", "" if is_space else scope.controller)
        if not call.is_known or _UNKNOWN in (path, module, controller):
            return None
        module = f"{scope.module}/{module}".strip("/")
        below, outside = joined(scope.path, path), joined(scope.outside, path)
        return _Scope(below, outside, module, controller, is_shallow=scope.is_shallow)
    if call.name == "controller":
        return replace(scope, controller=call.literals[0]) if call.literals else None
    if call.name == "member":
        return replace(scope, path=scope.member)
    if call.name == "collection":
        return replace(scope, path=scope.collection)
    if call.name == "new":
        return replace(scope, path=joined(scope.collection, "new"))
    return replace(scope, is_shallow=True) if call.name == "shallow" else scope


def _inside(call: _Call, name: str, scope: _Scope) -> _Scope:
    """What stands around the block of a resource."""
    is_one = call.name == "resource"
    path, parameter = _NAMED.sub(r"{\1}", call.option("path", name)), call.option("param", "id")
    is_shallow = scope.is_shallow or bool(call.option("shallow"))
    collection = joined(scope.path, path)
    members = joined(scope.outside, path) if is_shallow else collection
    return _Scope(
        members if is_one else joined(members, f"{{{_singular(name.rpartition('/')[2])}_{parameter}}}"),
        scope.outside,
        f"{scope.module}/{call.option('module')}".strip("/"),
        call.option("controller", _plural(name) if is_one else name),
        members if is_one else joined(members, f"{{{parameter}}}"),
        collection,
        is_shallow,
    )


def _actions(call: _Call, name: str, scope: _Scope, start: int, hidden: Sequence[str]) -> Iterator[Route]:
    """The standard routes of a resource that `only` and `except` leave."""
    inside, only, without = _inside(call, name, scope), call.words("only"), (*(call.words("except") or ()), *hidden)
    if _UNKNOWN in (call.option("path"), call.option("param"), *without):
        return
    for action, verbs, on, end in _ACTIONS:
        if (only is None or action in only) and action not in without and (action, call.name) != ("index", "resource"):
            path = joined(inside.member if on else inside.collection, end)
            handler = _handler(f"{inside.controller}#{action}", inside)
            yield from (Route(verb, path, start, handler=handler) for verb in verbs)


def _plain(call: _Call, scope: _Scope, start: int) -> Iterator[Route]:
    """`get "x" => "c#a"`, `match "x", to: "c#a", via: :all`, `root "c#a"`, `post :publish, on: :member`."""
    around = {"member": scope.member, "collection": scope.collection}.get(call.option("on"), scope.path)
    said, paths, verbs = call.option("to"), call.literals, [call.name.upper()]
    if call.name == "root":
        said, paths, verbs = said or "".join(paths[:1]), ("",), ["GET"]
    elif call.name == "match":
        verbs = [verb.upper() for verb in call.words("via") or () if verb.lower() in _VERBS] or [ANY_METHOD]
    for path in paths if call.is_known else ():
        words = path.strip("/").split("/")
        controller, _, action = said.rpartition("#")
        action = action or call.option("action", words[-1].replace("-", "_"))
        controller = controller or call.option("controller", scope.controller or "/".join(words[:-1]))
        for one in _written(path):
            handler = _handler(f"{controller}#{action}", scope)
            yield from (Route(verb, joined(around, one), start, handler=handler) for verb in verbs)


def _handler(said: str, scope: _Scope) -> str:
    """`admin/users#show`: the file of the controller and its method; '' where it is no action."""
    if not _ACTION.fullmatch(said):
        return ""
    return said[1:] if said.startswith("/") else f"{scope.module}/{said}".strip("/")


def _written(path: str) -> list[str]:
    """The paths that one with optional parts has: `/top(/:length(/page/:page))` are three."""
    path = path.replace("(.:format)", "")
    cuts = [at for at, char in enumerate(path) if char == "("] if _ENDS_OPTIONAL.fullmatch(path) else []
    parts = [*(path[:at] for at in cuts[:_DEEPEST]), path]
    return [_NAMED.sub(r"{\1}", part.replace("(", "").replace(")", "")) for part in parts]


def _singular(name: str) -> str:
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes", "uses")):
        return name[:-2]
    return name if name.endswith("ss") else name.removesuffix("s")


def _plural(name: str) -> str:
    if name.endswith(("ss", "us", "x", "ch", "sh")):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return name if name.endswith("s") else f"{name}s"


# Sinatra


def _sinatra(text: str, statements: Sequence[_Statement], prefix: str = "", depth: int = 0) -> Iterator[Route]:
    for statement in statements if depth < _DEEPEST else ():
        call = _call(text, statement)
        path = call.literals[0] if call.is_known and call.literals else ""
        if statement.has_block and path.startswith("/") and (call.name in _VERBS or call.name == "head"):
            yield Route(
                call.name.upper(), joined(prefix, _NAMED.sub(r"{\1}", path).replace("}?", "}")), statement.start
            )
        elif call.name != "def":
            inner = joined(prefix, path) if call.name == "namespace" else prefix
            yield from _sinatra(text, statement.block, inner, depth + 1)
