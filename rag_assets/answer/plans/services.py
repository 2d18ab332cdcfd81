"""What compose files and app hosts start, with the ports and the environment of each service; what workflows of
continuous integration run; and what the code of an infrastructure declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, FactsOrAbsent, GraphFact, GraphFacts, facts_at
from rag_assets.answer.passages import indent_of
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    facts_listed,
    from_the_root,
    lines_of,
    points_naming,
    product_of,
)
from rag_assets.answer.question_analysis import roots_of
from rag_assets.identifiers import singular
from rag_assets.search.line_references import meant
from rag_assets.search.ranking.penalties import non_product_code, product_or_samples

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

from rag_assets.answer.plans.everyday import COMPOSE_FILE

_COMPOSED = {
    "ports": re.compile(
        r"\bports?\b(?=.*\b(?:compose|containers?|docker)\b)|\b(?:compose|containers?|docker|host)\b.*\bports?\b",
        re.IGNORECASE,
    ),
    "environment": re.compile(  # those of a case are not asked for: "… if no environment variables are set?"
        r"^(?!.*\b(?:if|unless|when|without)\b.*\benv).*\benv(?:ironment)? var(?:iable)?s?\b", re.IGNORECASE
    ),
    "images": re.compile(
        r"^\W*\w+ (?:docker |container )?images? (?:do|does|is|are) .*\b(?:pull|run|start|use)\w*", re.IGNORECASE
    ),
}
"""What a question calls a key of a service of a compose file."""
_OF_COMPOSE = roots_of(
    "all and are by compose container define defined do docker does environment env expose exposed file for has have"
    " host in is list listen map mapped of on open port publish published pull run set service setup show start"
    " the there to use used uses var variable vars what which with"
)
"""What a question for all services says."""
_OF_SERVICES = roots_of("api app application server service the web")
_PARTS_STARTED = roots_of("application container resource service")
_OF_ASPIRE = roots_of("apphost aspire")
_OF_STARTING = (
    _OF_COMPOSE
    | _PARTS_STARTED
    | roots_of("apphost aspire bring brings it launch launched local locally need needed orchestrate run setup start")
    | roots_of("started up when with")
)
"""What a question for all that is started says."""
_ADDS_RESOURCE = re.compile(
    r"^(?!\s*//).*?\.Add(?!Parameter|ConnectionString|Header|Json|Environment)[A-Z]\w*(?:<[^<>]*>)?\(\s*\"(?P<name>[\w.-]+)\""
)
"""Of an app host of Aspire: `builder.AddRedis("cache")`."""
_MOST_OF_A_BLOCK = 40  # lines
_YAML_KEY = re.compile(r"(?P<indent>\s*)(?P<quote>[\"']?)(?P<name>[\w.-]+)(?P=quote)\s*:\s*(?:#.*)?$")


def compose_facts(index: LabelIndex, asked: str) -> Facts:
    """The ports, or the variables of the environment, that compose files give the services that a question names: all
    services where it has no word for anything else."""
    key = next((key for key, pattern in _COMPOSED.items() if pattern.search(asked)), "")
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if key and COMPOSE_FILE.fullmatch(path)]
    found: dict[str, list[GraphFact]] = {}
    for path, lines in lines_of(index, sorted(paths, key=from_the_root)).items():
        for service, number in _composed(lines, "" if key == "images" else key):
            fact = GraphFact(service, "", "", path, number, certain=True, is_comment=True)
            found.setdefault(service, []).append(fact)
    said = roots_of(asked.lower().replace("container image", "container").replace("docker image", "docker"))
    said |= roots_of("db") if "database" in asked.lower() else frozenset()
    named = {
        service: len(roots_of(service) & said) * bool(roots_of(service) & said - _OF_SERVICES) for service in found
    }
    most = max(named.values(), default=0)
    if not most and said <= _OF_COMPOSE | _OF_SERVICES:  # `the api`, where one is called so
        named = {service: len(roots_of(service) & said - _OF_COMPOSE) for service in found}
        most = max(named.values(), default=0)
    elif not most:
        return GraphFacts(), {}
    facts = [fact for service, known in found.items() if named[service] == most for fact in known]
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts), f"**{key.capitalize()} in compose files:**"), at


def started_facts(index: LabelIndex, asked: str) -> Facts:
    """The services of compose files, and the resources that an app host of Aspire adds, where a question asks for all
    of what one of them, or both, start; of compose files those in a folder, or with a name, that it says."""
    said = roots_of(asked)
    if not said & _PARTS_STARTED:
        return GraphFacts(), {}
    of_aspire, of_compose = bool(said & _OF_ASPIRE), bool(said & roots_of("compose"))
    both = not (of_aspire or of_compose) and bool(said & roots_of("docker container"))
    named = said - _OF_STARTING  # folders, or the files themselves: `docker-compose.tests.yml`
    paths = [
        path
        for path in index.parts.shard().values("Path", index.scope())
        if non_product_code(path) is None and named <= roots_of(path)
    ]
    composed = lines_of(index, filter(COMPOSE_FILE.fullmatch, paths)) if of_compose or both else {}
    services: dict[str, GraphFact] = {}
    for path in sorted(
        composed, key=lambda one: (len(one.rpartition("/")[2]), *from_the_root(one))
    ):  # overrides are longer
        for name, number in _composed(composed[path], ""):
            made = GraphFact(name, "", "", path, number, certain=True, group="Compose files", is_comment=True)
            services.setdefault(name, made)
    is_of_hosts = not named and (of_aspire or both)
    hosts = product_of(points_naming("DistributedApplication", index).ids, index) if is_of_hosts else {}
    resources = [
        GraphFact(one["name"], "", "", path, number, certain=True, group="App host", is_comment=True)
        for path, lines in sorted(lines_of(index, {one["Path"] for one in hosts.values()}).items())
        for number, text in lines.items()
        if (one := _ADDS_RESOURCE.search(text)) is not None
    ]
    found = [*services.values(), *resources]
    at = facts_at(found[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(found)), at


def _composed(lines: Mapping[int, str], key: str) -> Iterator[tuple[str, int]]:
    """(service, line) of what stands below a key of the services of a compose file; of the image, or what it is built
    from, where it is ''."""
    above: list[tuple[int, str]] = []  # (indent, key) of the lines around
    for number, line in sorted(lines.items()):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = indent_of(line)
        is_item = line.lstrip().startswith("-")
        while above and (above[-1][0] > indent or (above[-1][0] == indent and not is_item)):
            above.pop()
        names = [name for _, name in above]
        if (names[:1] == ["services"] and names[2:] == [key]) or (
            not key and names[:1] == ["services"] and len(names) == 2 and line.lstrip().startswith(("image:", "build:"))
        ):
            yield names[1], number
        elif (match := _YAML_KEY.match(line)) is not None:
            above.append((indent, match["name"]))


_INTEGRATION = r"(?:ci(?:/cd)?|continuous integration|github actions?|(?:build|ci) (?:pipelines?|workflows?))"
_EVENT = r"(?:push|commit|pull request|pr)"
_RUN = rf"(?:the |our )?(?:{_INTEGRATION}(?: pipelines?| workflows?)?|(?:pipelines?|workflows?)(?=.* {_EVENT}))"
_WORKFLOWS_ASKED = re.compile(
    r"\W*(?:show (?:me|us) |tell (?:me|us) )?(?:"
    rf"what (?:does|do) {_RUN} (?:do|run|check)\b|what {_RUN} (?:does|do|runs?|checks?)\b"
    rf"|what (?:happens|runs|is (?:checked|done|executed|run)) (?:in|by|during) {_RUN}\b"
    r"|what (?:runs|is (?:checked|executed|run)) (?:when (?:i|we|one|somebody|someone) (?:opens?|push(?:es)?)"
    rf"|(?:at|for|on|with) (?:an?|each|every)) .*?{_EVENT}s?(?:\W*$| (?:against|from|to)\b)"
    rf"|(?:what|which) (?:checks|jobs|steps|tasks) .*\b{_INTEGRATION}\b)",
    re.IGNORECASE,
)
_ASKS_EVENT = re.compile(r"\b(?:(?P<push>push|commit)|(?P<pull>pull request|prs?\b))", re.IGNORECASE)
_WORKFLOW_FILE = re.compile(r"\.github/workflows/[^/]+\.ya?ml")
_STARTED_BY = {"push": re.compile(r"\bpush\b"), "pull": re.compile(r"\bpull_request")}
_JOB = re.compile(r"  (?P<job>[\w-]+):\s*(?:#.*)?$")
_STEP = re.compile(r"\s*(?:-\s+)?(?P<key>name|run|uses):\s*(?P<said>\S.*?)\s*$")
_BLOCK = re.compile(r"[|>][-+]?")
_OF_ANY_JOB = re.compile(r"['\"]?actions/(?:cache|checkout|(?:down|up)load-artifact|setup-)")


def workflow_facts(index: LabelIndex, asked: str) -> Facts:
    """What the workflows of GitHub run, step by step, of those that a push or a pull request starts where one is asked
    about."""
    if _WORKFLOWS_ASKED.match(asked) is None:
        return GraphFacts(), {}
    paths = filter(_WORKFLOW_FILE.fullmatch, index.parts.shard().values("Path", index.scope()))
    event = _ASKS_EVENT.search(asked)
    starts = _STARTED_BY[str(event.lastgroup)] if event is not None else None
    facts: list[GraphFact] = []
    for path, lines in lines_of(index, sorted(paths)).items():
        begin = min((at for at, line in lines.items() if line.startswith("jobs:")), default=0)
        if begin and (starts is None or any(starts.search(line) for at, line in lines.items() if at < begin)):
            facts += _steps_in(path, {at: line for at, line in sorted(lines.items()) if at > begin})
    at = facts_at(facts[:MOST_LISTED], index)
    return GraphFacts(tuple(at), len(facts)), at


def _steps_in(path: str, lines: Mapping[int, str]) -> Iterator[GraphFact]:
    """The first command of each step of the jobs of a workflow, or the action that it uses, with what it is called."""
    job = called = ""
    for at, line in lines.items():
        if (found := _JOB.match(line)) is not None:
            job = found["job"]
        if line.lstrip().startswith("- "):
            called = ""
        if (step := _STEP.match(line)) is None:
            continue
        if step["key"] == "name":
            called = step["said"].strip("'\"")
        elif _OF_ANY_JOB.match(step["said"]) is None:
            group = f"{path.rpartition('/')[2]}, {job}"
            number = at + 1 if _BLOCK.fullmatch(step["said"]) else at
            yield GraphFact(called or job, "", "", path, number, certain=True, group=group, is_comment=True)


_CLOUD = r"aws|azure|cloud|gcp|google"
_SORTS: Mapping[str, tuple[str, str, str]] = {
    "variable": (r"(?:input )?variables|inputs", r"\.tf$", r"variable\s+\"(?P<name>[^\"]+)\""),
    "parameter": (r"parameters|params", r"\.bicep$", r"param\s+(?P<name>\w+)\s+(?:(?P<required>[^?=]+$)|.)"),
    "output": (r"outputs", r"\.(?:bicep|tf)$", r"output\s+\"?(?P<name>[\w-]+)"),
    "resource": (
        rf"(?:(?:{_CLOUD}|bicep|terraform) )*resources|(?:{_CLOUD}) services|infrastructure",
        r"\.(?:bicep|tf)$",
        r"(?:resource|module)\s+(?:(?P<name>\w+)\s+'(?!.*\bexisting\b)|\"(?P<type>\w+)\"\s+\"(?P<own>[\w-]+))",
    ),
    "chart value": (r"(?:chart|helm) values|values(?=.*\b(?:chart|helm))", r"(?:^|/)values\.ya?ml$", ""),
    "npm script": (
        r"(?:npm|package(?:\.json)?|pnpm|yarn) scripts",
        r"(?:^|/)package\.json$",
        r"\"(?P<name>[^\"]+)\"\s*:\s*\"",
    ),
    "exported command": (
        r"(?:commands|cmdlets|functions)(?=.*\bexport)",
        r"\.psd1$",
        r"['\"](?P<name>[\w-]+)['\"]",
    ),
    "secret": (
        r"secrets?(?=.*\b(?:actions?|build\w*|ci|deploy\w*|github|pipelines?|publish\w*|releas\w*|workflows?)\b)",
        r"(?:^|/)\.github/.*\.ya?ml$",
        r"(?<![\w.])secrets\.(?P<name>\w+)",
    ),
    "object": (
        r"dapr components|config ?maps|daemon ?sets|deployments|ingress(?:es)?|stateful ?sets"
        r"|services(?=.*\b(?:cluster|k8s|kubernetes|make up)\b)",
        r"\.ya?ml$",
        r"kind:\s*(?P<name>[A-Z]\w+)\s*$",
    ),
}
"""What a question calls each sort of declaration, in which files they are, and how a line declares one."""
_DECLARATIONS_ASKED = re.compile(
    r"^\W*(?:which|what|list|show)(?: me| all| the| are| is| required| mandatory)*"
    r" (?P<before>(?:(?!(?:an?|do|does|env|environment|has|have|is|of|that|the)\b)[\w.-]+ ){0,2}?)"
    rf"(?:{'|'.join(f'(?P<{sort.replace(chr(32), chr(95))}>{said})' for sort, (said, *_) in _SORTS.items())})"
    r"(?P<rest>\W*$|(?: \w+){0,2}? (?:are|belong|can|control|create|do|does|exist|exported|exposes?|for|gets?|has|have"
    r"|in|is|make|must|need|of|required|runs?|set|should|there|to)\b.*$)",
    re.IGNORECASE,
)
_OF_INFRASTRUCTURE = re.compile(
    rf"\b(?:bicep|charts?|hcl|helm|infra\w*|modules?|stack|templates?|terraform|{_CLOUD})\b|\.(?:bicep|tf)\b"
    r"|\bresources\b.*\b(?:creat|provision)",
    re.IGNORECASE,
)
_REQUIRED = re.compile(r"^[^,]*?(?<!and which are )(?<!which of them are )\b(?:mandatory|required)\b", re.IGNORECASE)
_OF_A_FILE = re.compile(r"[\w./-]+\.(?:bicep|json|tf|ya?ml)\b")
_BY_FOLDER = re.compile(r"\b(?:apps?|charts?|modules?|projects?|stacks?|templates?|workflows?)\b", re.IGNORECASE)
_OF_DECLARATIONS = roots_of(
    "action all and are aws azure be belong bicep can chart ci cloud cluster configured control create declare default"
    " define defined deploy do does exist export exported expose for from gcp get github google has have helm hold i in"
    " infra infrastructure input is it its k8s kubernetes make mandatory me module must need npm of on optional or our"
    " output package pass pipeline project provision require required return run set stack take template terraform that"
    " the their them there these they this to type up use used value we what which with workflow yarn you your"
)
_OWN_NAME = re.compile(r"(?P<indent>\s+)name:\s*(?:[\"']?(?P<name>[\w.-]+)[\"']?\s*(?:#.*)?$)?")
"""Of an object of Kubernetes, of its lines with a name the least indented; a chart may write it as a template."""
_WITHIN = {
    "npm script": (re.compile(r"\s*\"scripts\"\s*:"), re.compile(r"\s*\}")),  # and no `*.{ts,tsx}`
    "exported command": (re.compile(r"\s*(?:Cmdlets|Functions)ToExport\s*="), re.compile(r"[^)]*\)")),
}
"""What begins, and ends, the lines that declare something."""
_DEFAULT = re.compile(r"\s*default\s*=")
_ON_ONE_LINE = re.compile(r"[^{]*\{(?P<block>.*)\}\s*$")
_VALUE = re.compile(r"(?P<name>[\w.-]+):\s*(?P<value>[^#\s].*)?")


def declared_facts(index: LabelIndex, asked: str) -> FactsOrAbsent:
    """What the code of an infrastructure declares of the sort that a question asks for: in the file that it names, else
    in the folder, or with the names, that its other words say. The text says why there is none."""
    found = _DECLARATIONS_ASKED.match(asked.strip())
    sort = next((sort for sort in _SORTS if found and found[sort.replace(" ", "_")]), "")
    if found is None or (sort in ("parameter", "resource") and not _OF_INFRASTRUCTURE.search(asked)):
        return GraphFacts(), {}, ""
    noun = found[sort.replace(" ", "_")].replace(" ", "").lower().removeprefix("dapr")
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if re.search(_SORTS[sort][1], path)]
    file = _OF_A_FILE.search(asked)
    paths = [*meant(file[0], paths)] if file is not None else paths
    lines = lines_of(index, product_or_samples(paths))
    declared = [one for path in sorted(lines, key=from_the_root) for one in _declared_in(sort, path, lines[path])]
    if sort == "object":
        of_kind = [one for one in declared if noun.startswith(one[0].target.lower())]
        if declared and not of_kind and noun != "services":
            return GraphFacts(), {}, f"no manifest of Kubernetes declares an object of the kind {noun}"
        declared, sort = of_kind, singular(noun) if not noun.startswith("ingress") else "ingress"
    said = roots_of(f"{found['before']} {found['rest']}".lower()) - _OF_DECLARATIONS
    if said and file is None:
        in_folder = [one for one in declared if said <= roots_of(one[0].path)]
        declared = [one for one in declared if said <= roots_of(one[1]) or one in in_folder]
        declared = in_folder if in_folder and _BY_FOLDER.search(asked) else declared
    if _REQUIRED.search(found[0]) and declared and sort in ("variable", "parameter"):
        declared = [one for one in declared if one[0].verb]
        if not declared:
            return GraphFacts(), {}, f"each {sort} there has a default"
    facts = [replace(fact, target=fact.target if fact.verb else "") for fact, _ in declared]
    if sort == "secret":
        facts = [one for at, one in enumerate(facts) if one.source not in {before.source for before in facts[:at]}]
    return *facts_listed(facts, sort, index), ""


def defaults_declared(index: LabelIndex) -> Iterator[tuple[GraphFact, str]]:
    """The variables of Terraform and Bicep that have a default, each with the line that says it."""
    known = index.parts.shard().values("Path", index.scope())
    for sort in ("variable", "parameter"):
        paths = product_or_samples(path for path in known if re.search(_SORTS[sort][1], path))
        for path, lines in lines_of(index, sorted(paths, key=from_the_root)).items():
            yield from ((one, lines[one.line]) for one, _ in _declared_in(sort, path, lines) if not one.verb)


def _declared_in(sort: str, path: str, lines: Mapping[int, str]) -> Iterator[tuple[GraphFact, str]]:
    """The declarations of a sort in a file, each with its names and what it is said to be."""
    declares = re.compile(_SORTS[sort][2])
    above: list[tuple[int, str]] = []  # (indent, key) of YAML
    begins, ends = _WITHIN.get(sort, (None, None))
    is_inside = False
    for number, text in sorted(lines.items()):
        at, verb, name, said = number, "", "", ""
        if sort == "secret":  # a line may use several
            for named in declares.finditer(text.partition("#")[0]):
                yield GraphFact(named["name"], "", "", path, number, certain=True, is_comment=True), named["name"]
            continue
        if begins is not None and ends is not None:
            is_first = begins.match(text) is not None
            names = declares.finditer(text.partition("=")[2] if is_first else text) if is_first or is_inside else ()
            for named in names:
                yield GraphFact(named["name"], "", "", path, number, certain=True, is_comment=True), named["name"]
            is_inside = (is_inside or (is_first and text.rstrip().endswith(("(", "{", "=")))) and not ends.match(text)
            continue
        if sort == "chart value":
            if (value := _VALUE.match(text.lstrip())) is None:
                continue
            while above and above[-1][0] >= indent_of(text):
                above.pop()
            above.append((indent_of(text), value["name"]))
            name = ".".join(key for _, key in above) if value["value"] else ""
        elif (one := declares.match(text)) is not None:
            groups = one.groupdict()
            verb = "is" if groups.pop("required", None) else ""
            name = ".".join(filter(None, groups.values()))
        if not name:
            continue
        target = "required" if verb else ""
        block = _block(lines, number) if sort in ("variable", "object", "output") else {}
        if sort == "variable":
            at = next((one for one, line in block.items() if _DEFAULT.match(line)), 0)
            at, verb, target = (at, "", "") if at else (number, "is", "required")
        if sort == "object":
            named_so = filter(None, map(_OWN_NAME.match, block.values()))
            own = min(named_so, key=lambda line: len(line["indent"]), default=None)
            name, target = (own and own["name"]) or path.rpartition("/")[2].partition(".")[0], name
        said = " ".join(line for line in block.values() if line.lstrip().startswith("description"))
        yield GraphFact(name, verb, target, path, at, certain=True, is_comment=True), f"{name} {said}"


def _block(lines: Mapping[int, str], start: int) -> Mapping[int, str]:
    """The lines below one until a block of Terraform, or a document of YAML, ends; what is in a block of one line."""
    if (whole := _ON_ONE_LINE.match(lines[start])) is not None:
        return {start: whole["block"]}
    found: dict[int, str] = {}
    for number in range(start + 1, start + _MOST_OF_A_BLOCK):
        if lines.get(number, "").startswith(("}", "---")):
            break
        found[number] = lines.get(number, "")
    return found
