"""The plan of the projects that a repository is built from, and which of them refers to which."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import FEWEST_LISTED, facts_listed, lines_of
from rag_assets.answer.question_analysis import roots_of
from rag_assets.answer.whole_project import WHOLES
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import BesideProduct, is_test_path, non_product_code, product_or_samples

_PROJECT = re.compile(
    r"(?:^|/)(?:(?P<name>[^/]+)\.(?:(?:cs|es|fs|sql|vb|vcx)proj|asmdef)"
    r"|(?:build\.gradle(?:\.kts)?|Cargo\.toml|go\.mod|package\.json|pom\.xml|pyproject\.toml))$",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"^\s*(?:<Project\b|\"name\"\s*:\s*\"(?P<json>[^\"]+)\"|module\s+(?P<go>\S+)|name\s*=\s*[\"'](?P<toml>[^\"']+)"
    r"|<artifactId>(?P<maven>[^<]+))",
    re.IGNORECASE,
)
"""The line of a project that says that it is one, or what it is called."""
_REFERENCE = re.compile(
    r"<ProjectReference\b[^>]*\bInclude=\"(?:[^\"]*[\\/])?(?P<net>[^\"\\/]+)\.\w+proj\""
    r"|\bproject\(\s*(?:path\s*[:=]\s*)?[\"']:(?:[^\"']*:)?(?P<gradle>[^\"':]+)[\"']"
)
_OF_ASSEMBLY = re.compile(r"\"references\"\s*:\s*\[(?P<all>[^\]]*)")
_ASSEMBLY = re.compile(r"\"(?:GUID:)?(?P<name>[\w.-]+)\"")
"""What an assembly of Unity refers to, one or several on a line."""
_CALLED = r"(?:projects?|asmdefs?|assembl(?:y|ies)(?: definitions?)?)"
_REFER = r"(?:depends? on|refers? to|references?)"
_PROJECTS = re.compile(
    r"^\W*(?:which|what|list|show|how many)\b(?: me| all| the| are| c#| \.net| build| different)*"
    rf" (?P<tests>(?:(?P<kind>unit|integration|functional|architecture|e2e|end[- ]to[- ]end) )?tests? )?{_CALLED}"
    r"(?: (?:are|is|do|does|has|have|make|exist|there|in|of|the|this|our|each|repo\w*|solutions?|code ?base|up|it"
    r"|belongs?|to|contain|built?|consists?|from))*\W*$",
    re.IGNORECASE,
)
_MODULES = re.compile(
    r"^\W*(?:which|what|list|show|how many)\b(?: me| all| the| are| different)* (?:gradle |maven )?(?:sub)?modules"
    r"(?: (?:are|is|do|does|has|have|make|exist|there|in|of|the|this|our|repo\w*|app|application|project|build"
    r"|code ?base|up|it|contain|built?|consists?|from|we))*\W*$",
    re.IGNORECASE,
)
_OF_MODULE = re.compile(r"(?P<folder>.+)/(?:build\.gradle(?:\.kts)?|pom\.xml)")
_SAYS_MODULE = re.compile(r"\s*(?:namespace\b|plugins\b|<artifactId>)")
_OF_A_PART = (
    r"(?: (?:are there|do we have|(?:(?:does|do|in|of|has) )?(?:(?:the|this|our|its) )?(?P<part>[\w.]+)(?: \w+)?"
    r"(?: have| has| consists? of)?))?"
)
_LAYERS = re.compile(
    r"^\W*(?:which|what)(?: are)?(?: the| architectural)* layers"
    rf"{_OF_A_PART}(?P<refer> and (?:how|which)\b.*)?\W*$",
    re.IGNORECASE,
)
_PROGRAMS = re.compile(
    r"^\W*(?:which|what|list|how many)(?: are)?(?: the| different)* "
    r"(?:applications|apps|executables|hosts|programs|micro-?services)"
    r"(?: (?:are|is|do|does|has|have|make|exist|there|in|of|the|this|our|repo\w*|solution|code ?base|up|it|contain"
    r"|consists?|from|system|project))*\W*$"
    r"|^\W*(?:is|are) (?:it|this|they|the \w+) (?:an? )?(?:modular )?(?:monolith(?:ic)?|micro-?services?)"
    r"(?: (?:or|and)(?: \w+){1,3})?\W*$",
    re.IGNORECASE,
)
_SAMPLES = re.compile(
    r"^\W*(?:which|what|list|show|how many|are there(?: any)?)(?: me| all| are| the)* "
    r"(?:samples?|examples?|demos?)(?: (?:app(?:lication)?s?|code|programs?|projects?|solutions?))*"
    r"(?: (?:are|is|do|does|exist|there|in|of|the|this|our|repo\w*|solution|code ?base|it|we|you|have|has|contain"
    r"|available|included|provided))*\W*$",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\bSdk=\"[^\"]*\.(?:Web|Worker|BlazorWebAssembly)\b|<OutputType>(?:Win)?Exe<|<Project\b.*\bAspire\.AppHost",
    re.IGNORECASE,
)
"""Of a project that is a program."""
_SHARED = re.compile(r"\.(?:props|targets)$", re.IGNORECASE)
_REFERS_SO = re.compile(r"<ProjectReference\b")
_OF_MANY = re.compile(r"<ProjectReference\b[^>]*\bInclude\s*=\s*\"[^\"]*(?:\*|\$\()")
"""A reference by a pattern or a property: to which projects a build alone knows."""
_FEWEST_LAYERS, _MOST_COUNTED = 3, 12
_REFERENCES = re.compile(
    rf"^\W*(?:which|what) {_CALLED} {_REFER} (?:which|what|each other"
    rf"|(?:the )?(?P<to>[\w.]+(?: \w+)??)(?: {_CALLED})?)\W*$"
    rf"|^\W*(?:what|which (?:other )?{_CALLED}) does (?:the )?(?P<of>[\w.]+)(?P<is_said> {_CALLED})?"
    r" (?:depend on|refer to|reference)\W*$"
    rf"|^\W*(?:what|who) {_REFER} (?:the )?(?P<on>[\w.]+)(?: {_CALLED})?\W*$"
    rf"|^\W*how (?:do|are) (?:the |our |all )?projects (?:{_REFER}|related|connected)\b.*$"
    r"|^\W*(?:what|which|show|list)\b.* (?:project (?:dependencies|references)"
    r"|(?:dependencies|references) (?:between|of) (?:the |our |all )*projects)\W*$"
    rf"|^\W*(?:which|what)\b.* projects\b.* and (?:what|which)\b.* {_REFER}\W*$",
    re.IGNORECASE,
)
_ONE = rf"(?:the |our )?(?P<{{}}>[\w.]+)(?: {_CALLED}| layer)?"
_LEADS = re.compile(
    rf"^\W*(?:does|do|is|can|may) {_ONE.format('source')} (?:directly |indirectly |ever )?"
    r"(?:depend(?:ent)? on|refer to|references?|know(?: about| of)?|use|allowed to (?:depend on|use)) "
    rf"{_ONE.format('target')}\W*$",
    re.IGNORECASE,
)
_CIRCLES = re.compile(
    r"^\W*(?:(?:are|is|do|does|any|there|have|has|we|which|what|find|show|the|our) )*(?:circular|cyclic) "
    rf"(?:dependenc(?:y|ies)|references?) (?:between|among|of|in) (?:(?:the|our|all|these) )*{_CALLED}\W*$",
    re.IGNORECASE,
)
_MOST = re.compile(
    rf"^\W*(?:which|what) {_CALLED} (?:(?:has|have|contains?) the most (?:project )?(?:dependenc(?:y|ies)|references)"
    rf"|depends? on the most(?: other)? {_CALLED}"
    rf"|(?P<used>(?:is|are) (?:the most (?:referenced|used|depended on)|(?:referenced|used) (?:the )?most(?: often)?"
    rf"|(?:referenced|used) by the most(?: other)? {_CALLED})))\W*$",
    re.IGNORECASE,
)
_UNTESTED = re.compile(
    rf"^\W*(?:(?:which|what|list|show|are|there|any|all|the) )+(?:{_CALLED}(?: that| which)?"
    r" (?:(?:has|have|with) no|without(?: any| an?)?|lacks?|(?:do|does)(?:n't| not) have(?: any| an?)?)"
    r" (?:unit |integration |own )*(?:tests?|test projects?|test coverage)"
    rf"|{_CALLED} (?:(?:are|is)(?:n't| not| never)) (?:tested|covered)(?: by (?:any )?tests?)?|untested {_CALLED})\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ProjectsAsked:
    """A question for projects, or for what `refers` to what: from a `source`, or to a `target`, where it names one;
    `maybe` where it does not say that the source is a project. `layers`: for those of the product, of a `part`;
    `programs` for what can be started, `samples` for those that show how, `modules` for those of Gradle or Maven;
    whether the source `leads` to the target, be it through others, and which `circles` there are. `most`: of the
    `sources` or the `targets` those with the most references. `untested`: to which no project with tests refers.
    `tests`: those with tests, of a kind that the `part` says."""

    refers: bool = False
    source: str = ""
    target: str = ""
    maybe: bool = False
    layers: bool = False
    programs: bool = False
    samples: bool = False
    modules: bool = False
    part: str = ""
    leads: bool = False
    circles: bool = False
    most: str = ""
    untested: bool = False
    tests: bool = False


def projects_asked(question: str) -> ProjectsAsked | None:
    """What a question asks of projects; None for another question."""
    if (layers := _LAYERS.match(question)) is not None:
        part = layers["part"] or ""
        part = "" if part.lower() in WHOLES else part
        return ProjectsAsked(refers=layers["refer"] is not None and not part, layers=True, part=part)
    if _PROGRAMS.match(question) is not None:
        return ProjectsAsked(programs=True)
    if _SAMPLES.match(question) is not None:
        return ProjectsAsked(samples=True)
    if _MODULES.match(question) is not None:
        return ProjectsAsked(modules=True)
    if (leads := _LEADS.match(question)) is not None:
        return ProjectsAsked(True, leads["source"], leads["target"], leads=True)
    if _UNTESTED.match(question) is not None:
        return ProjectsAsked(refers=True, untested=True)
    if _CIRCLES.match(question) is not None:
        return ProjectsAsked(refers=True, circles=True)
    if (most := _MOST.match(question)) is not None:
        return ProjectsAsked(refers=True, most="targets" if most["used"] else "sources")
    found = _REFERENCES.match(question)
    if found is None and (listed := _PROJECTS.match(question)) is not None:
        return ProjectsAsked(tests=listed["tests"] is not None, part=listed["kind"] or "")
    if found is None:
        return None
    source, target = found["of"] or "", found["to"] or found["on"] or ""
    return ProjectsAsked(True, source, target, maybe=bool(found["on"] or (source and not found["is_said"])))


def projects_listed(index: LabelIndex, wanted: ProjectsAsked) -> Facts:
    """All projects with the line that declares each, those of the product first; of layers those that are called as a
    part, of samples those in their folders, and of programs those that can be started, of .NET alone."""
    known = [
        fact
        for fact, lines in _projects(index)
        if not wanted.programs or any(_RUNS.search(text) for text in lines.values())
    ]
    if wanted.tests:
        known = tests_called(index, wanted.part)
    if wanted.samples:
        known = [one for one in known if non_product_code(one.path) is BesideProduct.SAMPLE]
    if wanted.layers or wanted.programs:
        roots = roots_of(wanted.part)
        own = product_or_samples(one.path for one in known)
        known = [one for one in known if one.path in own and roots <= roots_of(one.path)]
        is_told = all(one.path.endswith("proj") for one in known)
        known = known if is_told and len(known) >= (_FEWEST_LAYERS if wanted.layers else FEWEST_LISTED) else []
    if wanted.modules:
        known = list(_modules(index))
        return facts_listed(known, "module", index) if len(known) >= FEWEST_LISTED else (GraphFacts(), {})
    known.sort(key=lambda one: (non_product_code(one.path) is not None, one.path))
    noun = (
        "test project"
        if wanted.tests
        else "program"
        if wanted.programs
        else "sample project"
        if wanted.samples
        else "project"
    )
    return facts_listed(known, noun, index) if known else (GraphFacts(), {})


def _modules(index: LabelIndex) -> Iterator[GraphFact]:
    """The folders of a build of Gradle or Maven that are modules, as it calls them: `core:data` of `core/data`."""
    found = map(_OF_MODULE.fullmatch, index.parts.shard().values("Path", index.scope()))
    folders = {one[0]: one["folder"].replace("/", ":") for one in found if one and non_product_code(one[0]) is None}
    for path, lines in sorted(lines_of(index, folders).items()):
        at = next((line for line, text in sorted(lines.items()) if _SAYS_MODULE.match(text)), min(lines))
        yield GraphFact(folders[path], "", "", path, at, True, is_comment=True)


def tests_called(index: LabelIndex, kind: str) -> list[GraphFact]:
    """The projects with tests that are called as a kind of these: `Shop.IntegrationTests`."""
    wanted = roots_of(f"{kind} test")
    return [one for one, _ in _projects(index) if is_test_path(one.path) and wanted <= roots_of(one.path)]


def references_between(index: LabelIndex, wanted: ProjectsAsked) -> FactsOrAbsent:
    """Which project refers to which, each at its line, or what a question wants of that; a project is called in full or
    by its last part, `Web` of `Shop.Web`. That one does not lead to another, or none to itself, is said where both are
    known, and where the projects alone say to what they refer, as is needed to count references too."""
    found = [
        GraphFact(project.source, "refers to", to, project.path, line, True, is_comment=True)
        for project, lines in _projects(index)
        if not (wanted.layers and non_product_code(project.path))
        for line, to in _references(project.path, lines)
    ]
    if wanted.leads or wanted.circles:
        facts, at, absent = _ways(index, found, wanted)
        return facts, at, "" if _refers_elsewhere(index) else absent
    if wanted.untested:
        return _untested(index, found)
    if (wanted.most or wanted.maybe) and not wanted.source and _refers_elsewhere(index):
        return GraphFacts(), {}, ""
    if wanted.most:
        return *_counted(index, found, by_target=wanted.most == "targets"), ""
    if wanted.source:
        sources = _meant({one.source for one in found}, wanted.source)
        found = [one for one in found if one.source in sources]
    if wanted.target:
        targets = _meant({one.target for one in found}, wanted.target)
        found = [one for one in found if one.target in targets]
    found.sort(key=lambda one: (non_product_code(one.path) is not None, one.path, one.line))
    return *facts_listed(found, "reference", index), ""


def _refers_elsewhere(index: LabelIndex) -> bool:
    """Whether projects refer to others by what other files say, or by patterns, so that the references are not all."""
    paths = index.parts.shard().values("Path", index.scope())
    shared = lines_of(index, [path for path in paths if _SHARED.search(path)]).values()
    return any(_REFERS_SO.search(text) for lines in shared for text in lines.values()) or any(
        _OF_MANY.search(text) for _, lines in _projects(index) for text in lines.values()
    )


def _ways(index: LabelIndex, references: Sequence[GraphFact], wanted: ProjectsAsked) -> FactsOrAbsent:
    """The references on the way from one project to another, or from each back to itself."""
    names = {name for one in references for name in (one.source, one.target)} | {
        one.source for one, _ in _projects(index)
    }
    if wanted.circles:
        way = circle_of(references)
        absent = f"none of {len(names):,} projects refers to itself through others" if references else ""
    else:
        sources, targets = (sorted(_meant(names, said), key=len)[:1] for said in (wanted.source, wanted.target))
        if not sources or not targets or sources == targets:
            return GraphFacts(), {}, ""
        way = _way(references, sources[0], targets[0])
        absent = f"{sources[0]} does not refer to {targets[0]}, nor does any project that it refers to"
    at = facts_at(way, index)
    return GraphFacts(tuple(at), len(way), "**It does, by these references:**" if at else ""), at, "" if at else absent


def circle_of(references: Sequence[GraphFact]) -> list[GraphFact]:
    """The references that lead from a project back to itself; none where there is no circle."""
    of_source, waiting = _by_source(references), Counter(one.target for one in references)
    queue = [one for one in of_source if not waiting[one]]
    for project in queue:  # what nothing refers to, or only what is of no circle (Kahn's sort)
        for one in of_source.get(project, ()):
            waiting[one.target] -= 1
            if not waiting[one.target]:
                queue.append(one.target)
    left = set(waiting) - set(queue)
    before = {one.target: one.source for one in references if one.source in left and one.target in left}
    at, passed = min(before, default=""), set[str]()
    while at and at not in passed:  # each has one before it that is left
        passed.add(at)
        at = before[at]
    way = _way(references, at, at) if at else []
    first = min((one.source for one in way), default="")
    return _way(references, first, first)


def _untested(index: LabelIndex, references: Sequence[GraphFact]) -> FactsOrAbsent:
    """The projects of the product to which none with tests refers itself, and that none is called after; nothing where
    none with tests refers to another."""
    projects = [one for one, _ in _projects(index)]
    tests = [one for one in projects if is_test_path(one.path)]
    tested = {one.target for one in references if is_test_path(one.path)}
    if not tested or _refers_elsewhere(index):
        return GraphFacts(), {}, ""
    own = [one for one in projects if non_product_code(one.path) is None]
    found = [
        one for one in own if one.source not in tested and not any(test.source.startswith(one.source) for test in tests)
    ]
    facts, at = facts_listed(found, "project", index) if found else (GraphFacts(), {})
    heading = facts.heading.replace(":**", f" of {len(own):,} to which no project with tests refers:**")
    return replace(facts, heading=heading), at, "" if found else f"a project with tests refers to each of {len(own):,}"


def _by_source(references: Sequence[GraphFact]) -> dict[str, list[GraphFact]]:
    found: dict[str, list[GraphFact]] = {}
    for one in references:
        found.setdefault(one.source, []).append(one)
    return found


def _way(references: Sequence[GraphFact], start: str, end: str) -> list[GraphFact]:
    """The fewest references that lead from a project to another, or to itself."""
    of_source = _by_source(references)
    came_by, reached = dict[str, GraphFact](), [start]
    for project in reached:
        for one in of_source.get(project, ()):
            if one.target not in came_by:
                came_by[one.target] = one
                reached.append(one.target)
    way, at = list[GraphFact](), end
    while at in came_by and (not way or at != start):
        way.insert(0, came_by[at])
        at = came_by[at].source
    return way


def _counted(index: LabelIndex, references: Sequence[GraphFact], *, by_target: bool) -> Facts:
    """The projects with the most references, each at its first."""
    counts = Counter(one.target if by_target else one.source for one in references)
    firsts = {one.target if by_target else one.source: one for one in reversed(references)}
    verb = "is referred to by" if by_target else "refers to"
    ranked = sorted(counts, key=lambda name: (-counts[name], name))[:_MOST_COUNTED]
    facts = [
        replace(firsts[name], source=name, verb=verb, target=f"{counts[name]:,} project{'s' * (counts[name] != 1)}")
        for name in ranked
    ]
    at = facts_at(facts, index)
    return GraphFacts(tuple(at), len(at)), at


def _references(path: str, lines: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """(line, what is referred to there) of a project."""
    numbers = sorted(lines)
    if not path.endswith(".asmdef"):
        found = ((number, _REFERENCE.search(lines[number])) for number in numbers)
        yield from ((number, to["net"] or to["gradle"]) for number, to in found if to is not None)
        return
    text = "\n".join(lines[number] for number in numbers)
    for listed in _OF_ASSEMBLY.finditer(text):
        for to in _ASSEMBLY.finditer(text, *listed.span("all")):
            yield numbers[text.count("\n", 0, to.start())], to["name"]


def _projects(index: LabelIndex) -> Iterator[tuple[GraphFact, dict[int, str]]]:
    paths = {
        path: found for path in index.parts.shard().values("Path", index.scope()) if (found := _PROJECT.search(path))
    }
    of_net = [path for path, found in paths.items() if found["name"]]
    for path, lines in sorted(lines_of(index, sorted(of_net or paths)).items()):
        at, named = next(
            ((line, one) for line, text in sorted(lines.items()) if (one := _NAMED.match(text))), (1, None)
        )
        said = next(filter(None, named.groups()), "") if named is not None else ""
        name = paths[path]["name"] or said or path.rpartition("/")[0].rpartition("/")[2] or path
        yield GraphFact(name, "", "", path, at, True, is_comment=True), dict(lines)


def _meant(names: set[str], said: str) -> set[str]:
    """The names that are as a question says, else those that end so, else those of the product with such a part."""
    wanted = said.casefold()
    parts = {name: name.casefold().split(".") for name in names}
    exact = {name for name in names if name.casefold() == wanted}
    ending = exact or {name for name in names if name.casefold().endswith(f".{wanted}")}
    if " " in wanted:  # `the payment contracts` may be `Shop.Payment.Application.Contracts`
        said_roots = roots_of(wanted)
        beside = {name: len(own - said_roots) for name in names if said_roots <= (own := roots_of(name))}
        return {name for name, count in beside.items() if count == min(beside.values())}
    return ending or {name for name, of in parts.items() if wanted in of and not {"test", "tests"} & {*of}}
