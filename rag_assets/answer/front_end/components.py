"""What components of Razor declare: parameters, what they are injected, routes, who may open them, render modes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, GraphFact
from rag_assets.answer.plans.code_lines import facts_listed, from_the_root, lines_of
from rag_assets.answer.question_analysis import name_roots, root_set
from rag_assets.index.keyword.terms import FUNCTION_WORDS
from rag_assets.languages.csharp.binder.declarations import component_name
from rag_assets.search.ranking.penalties import product_or_samples

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_WHICH = r"^\W*(?:which|what|list|show)\b(?: me| all| the| are| is)*"
_PAGES = rf"{_WHICH}(?: (?:blazor|razor|web))* (?:pages?|components?|screens?)\b"
_LOGIN = r"(?:an? )?(?:authenticat\w+|authoriz\w+|log(?:ged|ging)?[ -]?in|sign(?:ed|ing)?[ -]?in)\b"
_ATTRIBUTE = r"\[(?:[^\[\]]*[\s,])?{}(?=[\s,(\]])"
_ON_A_PAGE = r"^\s*(?:@attribute\s*)?\[.*\b{}\b"
_ANY = "Razor component"
_ASKED = {
    "cascading parameter": (rf"{_WHICH}.* cascad\w+ (?:parameters|values)\b", _ATTRIBUTE.format("CascadingParameter")),
    "event callback": (rf"{_WHICH} (?:event ?)?callbacks?\b", _ATTRIBUTE.format("Parameter")),
    "parameter": (
        rf"{_WHICH}(?: component)? (?:inputs|parameters|params)\b",
        _ATTRIBUTE.format("(?:Parameter|SupplyParameterFrom(?:Query|Form))"),
    ),
    "injected service": (
        rf"{_WHICH} (?:dependencies|services|things|types)\b.*\binject\w*\b|^\W*what\b.* inject\w*\b",
        rf"^\s*@inject\s+\S.*?\s(?P<name>\w+)\s*;?\s*$|{_ATTRIBUTE.format('Inject')}",
    ),
    "render mode": (
        rf"{_WHICH} render ?modes?\b"
        rf"|{_PAGES}.* (?:in the browser|on the server|render\w* ?modes?|wasm|web ?assembly)\W*$",
        r"@rendermode[\s=\"(@]+(?:new )?(?P<mode>[\w.]+)",
    ),
    "open page": (
        rf"{_PAGES}.*\b(?:without {_LOGIN}|anonymous\w*|(?:by|to) any(?:body|one)|public\w*)",
        _ON_A_PAGE.format("AllowAnonymous"),
    ),
    "protected page": (
        rf"{_PAGES}.*\b(?:protected|secured|(?:needs?|requires?|must be|only for)\b.*{_LOGIN})",
        _ON_A_PAGE.format("Authorize"),
    ),
    "access rule": (
        r"^\W*(?:(?:which|what) (?:permissions?|polic(?:y|ies)|roles?)\b"
        r"|who (?:may|can|is allowed to) (?:open|see|view|visit)\b).*\b(?:component|page|screen)\W*$",
        _ON_A_PAGE.format("(?:Authorize|AllowAnonymous)"),
    ),
    "component": (
        rf"{_WHICH} components\b.* (?:consist|contain|display|embed|have|include|made|render|show)\w*(?: of)?\W*$",
        r"<(?:\w+\.)*(?P<tag>[A-Z]\w*)(?=[\s/>])",
    ),
    _ANY: (
        rf"{_WHICH}(?: (?:angular|blazor|front[- ]?end|razor|react|svelte|ui|vue))* components(?: are| is)?"
        r"(?: (?:there|exist|available|(?:do|does|can) (?:i|it|(?:the )?(?P<of>[\w.]+(?: [\w.]+)?)|we|you)"
        r" (?:have|offer|provide|use)))*(?: in (?:the )?(?P<part>[\w.]+(?: [\w.]+)?))?\W*$",
        r"",
    ),
    "layout": (rf"{_WHICH} layouts?\b", r"^\s*@layout\s+\S|\bDefaultLayout=\""),
    "generic component": (rf"{_WHICH} generic components\b", r"^\s*@typeparam\s"),
    "page": (rf"{_PAGES}(?<=pages) (?:and|with) (?:their )?(?:routes|urls|paths)\W*$", r"@page\s+\""),
}
"""What is asked for, and the lines that say it."""
_ALL_OF_IT = frozenset({"", "app", "application", "client", "frontend", "project", "site", "solution", "ui", "website"})
_ON_PAGES = ("open page", "protected page", "access rule")
_RAZOR_PAGES = (".cshtml", ".cshtml.cs")
_OF_ALL = ("cascading parameter", "render mode", "open page", "protected page", "layout", "generic component", "page")
_PROPERTY = re.compile(r"(?P<type>(?<![\w.])[\w.]++(?:<.{0,200}>)?[?\]\[]*)\s+@?(?P<name>\w+)\s*(?:\{|=>|=|;|$)")
_ATTRIBUTES = re.compile(r"^\s*(?:\[(?:[^\[\]]|\[\])*\]\s*)+")
_INHERITED = ("parameter", "event callback")
_IMPORTS = "_Imports.razor"
_CODE = (".razor", ".razor.cs", ".cs")
_DERIVES = re.compile(r"^\s*@inherits\s+(?:\w+\.)*(?P<base>\w+)|\bclass \w+(?:<[^<>]*>)?\s*:\s*(?:\w+\.)*(?P<own>\w+)")
_MOST_BASES = 4
_IS_PAGE = re.compile(r"\s*@page\s")
_MOST_BETWEEN = 4  # lines, of an attribute and what it is on
_MODES = {"assembly": "WebAssembly", "wasm": "WebAssembly", "browser": "WebAssembly", "server": "Server"}


_KINDS = root_set("dialog form layout modal popup view")
"""What components are, in their names or beside them."""
_BESIDE = _KINDS | root_set(
    *FUNCTION_WORDS,
    "component page screen accept all allowed app application blazor callback cascading client consist contain declare",
    "define depend dependency display event exist expose generic have inject input may mode must need offer open",
    "parameter param permission policy protect raise razor receive render require role route run see server service",
    "should show site take type url use value view visit web",
)
_OF_LOGIN = root_set(
    "anonymous anonymously anybody anyone authenticated authentication authorization authorized log logged logging",
    "login protected public publicly secured sign signed signing user users without",
)
_BESIDE_IN = {"open page": _OF_LOGIN, "protected page": _OF_LOGIN, "render mode": root_set("assembly browser wasm")}
_CODE_NAME = re.compile(r"\b(?!WebAssembly\b)[A-Z][a-z]+\w*[A-Z]\w*")


def component_facts(index: LabelIndex, question: str) -> Facts:
    """What a question asks of the components that it names, or of all: each line of their files that says it."""
    noun = next((one for one, (said, _) in _ASKED.items() if re.search(said, question, re.IGNORECASE)), "")
    every = list(index.parts.shard().values("Path", index.scope()) if noun else ())
    paths = [path for path in every if path.endswith(".razor")]
    kept = product_or_samples(paths)
    known = {path: name for path in sorted(paths, key=from_the_root) if path in kept and (name := component_name(path))}
    if noun == _ANY and not known:
        return _of_scripts(index, every, question.lower())
    about = _meant({*known.values()}, question, noun) if known else ()
    of_all = re.search(_ASKED[_ANY][0], question, re.IGNORECASE) if noun == _ANY or not about else None
    if of_all is not None:
        return _every(index, _in_part(known, of_all["of"] or of_all["part"] or ""))
    own = [path for path, name in known.items() if name in about]
    above = [] if noun in ("parameter", "component") else [path for path in paths if path.endswith(f"/{_IMPORTS}")]
    above = [one for one in above if any(path.startswith(one.removesuffix(_IMPORTS)) for path in own)]
    is_all = noun in _ON_PAGES and len(own) == len(known)  # and Razor Pages may be beside them
    pages = [path for path in product_or_samples(every) if is_all and path.endswith(_RAZOR_PAGES)]
    own = [*own, *(f"{path}.cs" for path in own)]
    own = _with_bases(own, every, index) if noun in _INHERITED else own
    rank = {path: at for at, path in enumerate(own)} if noun in _INHERITED else {}  # its own before those of bases
    files = lines_of(index, [*own, *pages, *above])
    modes = {mode for word, mode in _MODES.items() if word in question.lower()}
    facts = [
        fact
        for path in sorted(files, key=lambda one: (one in above, rank.get(one, 0), from_the_root(one)))
        for fact in _said(noun, path, files[path], modes, {*known.values()})
    ]
    once = {(one.source, files[one.path][one.line].strip()): one for one in reversed(facts)}  # and not each copy
    return facts_listed([*once.values()][::-1], noun, index)


def _in_part(known: Mapping[str, str], part: str) -> Mapping[str, str]:
    """The components below a folder that is called as a question says: `web app` is `src/WebApp`; all where it calls
    the project."""
    called = re.sub(r"\W", "", part).lower()
    if called in _ALL_OF_IT:
        return known
    folders = {path: re.sub(r"[^\w/]", "", path.rpartition("/")[0]).lower().split("/") for path in known}
    return {path: name for path, name in known.items() if called in folders[path]}


def _every(index: LabelIndex, known: Mapping[str, str]) -> Facts:
    """The components that are no pages, each at the first line of its file; those of the largest project first, which
    has its own `_Imports.razor`."""
    files, scope = lines_of(index, known), index.scope()
    own = [path for path, lines in files.items() if not any(map(_IS_PAGE.match, lines.values()))]
    folders = [
        path.removesuffix(_IMPORTS) for path in index.parts.shard().values("Path", scope) if path.endswith(_IMPORTS)
    ]
    project = {path: max(filter(path.startswith, folders), key=len, default="") for path in own}
    sizes = Counter(project.values())
    own.sort(key=lambda path: (-sizes[project[path]], project[path], path))
    facts = [GraphFact(known[path], "", "", path, 1, True, is_comment=True) for path in own]
    return facts_listed(facts, _ANY, index)


_SCREENS = re.compile(r"(?:^|/)(?P<stem>[^/.]+)(?P<end>\.(?:vue|svelte|tsx|jsx)|\.component\.ts)$")
_IS_PART = re.compile(r"[A-Z]|.*-")
_NO_PART = re.compile(r"(?:^|/)(?:pages?|routes?|views?|screens?|layouts?|stories|__mocks__)/", re.IGNORECASE)
_ENDS = {"react": (".tsx", ".jsx"), "vue": (".vue",), "svelte": (".svelte",), "angular": (".component.ts",)}


def _of_scripts(index: LabelIndex, every: Sequence[str], question: str) -> Facts:
    """The components of Angular, React, Svelte and Vue that no folder has as pages, each at the first line of its file,
    of `Menu/index.tsx` by its folder; of the library alone that a question names."""
    ends = next((known for said, known in _ENDS.items() if said in question), tuple(chain(*_ENDS.values())))
    called = dict[str, str]()
    for path in sorted(product_or_samples(every), key=from_the_root):
        if (found := _SCREENS.search(path)) is None or found["end"] not in ends or _NO_PART.search(path):
            continue
        stem = path.split("/")[-2] if found["stem"] == "index" and "/" in path else found["stem"]
        if found["end"] == ".component.ts" or _IS_PART.match(stem):
            called[path] = stem
    facts = [
        GraphFact(called[path], "", "", path, _begins(called[path], lines), True, is_comment=True)
        for path, lines in sorted(lines_of(index, called).items(), key=lambda one: from_the_root(one[0]))
    ]
    return facts_listed(facts, "component", index)


def _begins(name: str, lines: Mapping[int, str]) -> int:
    """The line of a file that declares what is called so, else the first that is known."""
    declares = re.compile(rf"\b(?:class|const|function|let) {re.escape(name)}\b|^<(?:template|script)\b")
    return next((at for at, text in sorted(lines.items()) if declares.search(text)), min(lines))


def _with_bases(paths: Sequence[str], every: Sequence[str], index: LabelIndex) -> list[str]:
    """Some files with those that declare what their components derive from."""
    found, above = list(paths), [*paths]
    named = {
        end: {path.rpartition("/")[2].removesuffix(end): path for path in every if path.endswith(end)} for end in _CODE
    }
    for _ in range(_MOST_BASES):
        lines = lines_of(index, above).values()
        said = (_DERIVES.search(text) for one in lines for text in one.values())
        bases = dict.fromkeys(base["base"] or base["own"] for base in said if base is not None)
        above = [path for base in bases for end in _CODE if (path := named[end].get(base)) and path not in found]
        found += above
    return found


def _meant(names: set[str], question: str, noun: str) -> Sequence[str]:
    """The components that a question names, in words too; all where it names none and asks for what all may have."""
    asked = re.sub(_WHICH, "", question, flags=re.IGNORECASE)
    words = name_roots(asked)
    rest = set(words) - _BESIDE - _BESIDE_IN.get(noun, frozenset())
    if rest and not names.issuperset(_CODE_NAME.findall(asked)):
        return ()
    own = {name: name_roots(name) for name in names}
    holding = [name for name, roots in own.items() if rest <= {*roots}]
    kinds = _KINDS.intersection(words)
    said = [name for name in holding if rest and kinds and kinds <= {*own[name]}]
    if len(said) != 1:
        said = [one for one in holding if f" {' '.join(own[one])} " in f" {' '.join(words)} "]
        most = max((len(own[one]) for one in said if rest or len(own[one]) > 1), default=0)
        said = [one for one in said if len(own[one]) == most]
    if said or rest:
        return said or (holding if len(holding) == 1 else ())
    return [*names] if noun in _OF_ALL else ()


def _said(noun: str, path: str, lines: Mapping[int, str], modes: set[str], components: set[str]) -> Iterator[GraphFact]:
    """The lines of a file that say what is asked; of an attribute the property that it is on."""
    called, line_of = path.rpartition("/")[2].partition(".")[0], re.compile(_ASKED[noun][1])
    for at, text in sorted(lines.items()):
        for said in line_of.finditer(text):
            groups, line, name = said.groupdict(), at, called
            if text[said.start() : said.end()].startswith("[") and noun not in _ON_PAGES:
                code = ((one, _ATTRIBUTES.sub("", lines.get(one, ""))) for one in range(at, at + _MOST_BETWEEN))
                found = next(((one, made) for one, rest in code if (made := _PROPERTY.search(rest))), None)
                if found is None or (noun == "event callback" and not found[1]["type"].startswith("EventCallback")):
                    continue
                line, name = found[0], f"{called}.{found[1]['name']}"
            is_other = modes and "mode" in groups and not any(one in groups["mode"] for one in modes)
            if not is_other and groups.get("tag", "") in {"", *components} - {called}:
                yield GraphFact(groups.get("tag", name), "", "", path, line, True, is_comment=True)
