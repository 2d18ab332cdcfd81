"""What compose files and app hosts start, with the ports and the environment of each service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import (
    MOST_LISTED,
    from_the_root,
    lines_of,
    points_naming,
    product_of,
)
from rag_assets.answer.question_analysis import roots_of
from rag_assets.search.ranking.penalties import non_product_code

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

    Place = tuple[str, str, int]  # of a package, an image or a file: its name, path and line
    Lines = Mapping[str, Mapping[int, str]]
from rag_assets.answer.plans.everyday import COMPOSE_FILE, indent_of

_COMPOSED = {
    "ports": re.compile(
        r"\bports?\b(?=.*\b(?:compose|containers?|docker)\b)|\b(?:compose|containers?|docker|host)\b.*\bports?\b",
        re.IGNORECASE,
    ),
    "environment": re.compile(r"\benv(?:ironment)? var(?:iable)?s?\b", re.IGNORECASE),
}
"""What a question calls a key of a service of a compose file."""
_OF_COMPOSE = roots_of(
    "all and are by compose container define defined do docker does environment env expose exposed file for has have"
    " host in is list listen map mapped of on open port publish published run set service setup show the there to use"
    " used uses var variable vars what which with"
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
_YAML_KEY = re.compile(r"(?P<indent>\s*)(?P<quote>[\"']?)(?P<name>[\w.-]+)(?P=quote)\s*:\s*(?:#.*)?$")


def compose_facts(index: LabelIndex, asked: str) -> tuple[GraphFacts, dict[GraphFact, str]]:
    """The ports, or the variables of the environment, that compose files give the services that a question names: all
    services where it has no word for anything else."""
    key = next((key for key, pattern in _COMPOSED.items() if pattern.search(asked)), "")
    paths = [path for path in index.parts.shard().values("Path", index.scope()) if key and COMPOSE_FILE.fullmatch(path)]
    found: dict[str, list[GraphFact]] = {}
    for path, lines in lines_of(index, sorted(paths, key=from_the_root)).items():
        for service, number in _composed(lines, key):
            fact = GraphFact(service, "", "", path, number, certain=True, is_comment=True)
            found.setdefault(service, []).append(fact)
    said = roots_of(asked)
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


def started_facts(index: LabelIndex, asked: str) -> tuple[GraphFacts, dict[GraphFact, str]]:
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
