"""The hosts of other systems whose addresses code and settings name."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts
from rag_assets.answer.passages import PROSE
from rag_assets.answer.plans.code_lines import MOST_LISTED, by_place, facts_naming, lines_of, part_counted, product_of
from rag_assets.answer.question_analysis import recognizer

if TYPE_CHECKING:
    from rag_assets.search.index import Searchable

_OTHERS = r"(?:external|third[- ]party|3rd[- ]party|remote|outside) (?:web |online |hosted )?"
_SYSTEMS = r"(?:apis?|services?|systems?|hosts?|servers?|domains?|sites?|providers?|integrations?)"
_CONTACTED = (
    r"call(?:ed|s)?|contact(?:ed|s)?|talk(?:s|ed)? to|communicates? with|connect(?:s|ed)?(?: to)?|reach(?:es|ed)?"
    r"|access(?:es|ed)?|requested"
)
_SUBJECTS = r"(?: (?:are|is|does|do|it|this|we|the|app\w*|code|project|system|backend|server|product|that|being|get))*"
_VERBS = (
    rf"{_CONTACTED}|depends? on|integrate[sd]?(?: with)?|used?|uses|rel(?:y|ies) on|need(?:s|ed)?|known|named"
    r"|referenced"
)
asks_hosts = recognizer(
    rf"^\W*(?:(?:what|which|list|show|are|is|any|all|the|do|does|me|there) )*{_OTHERS}{_SYSTEMS}{_SUBJECTS}"
    rf"(?: (?:{_VERBS}|here|there))?\W*$"
    rf"|^\W*(?:what|which|list|show)(?: me)?(?: the| all)* (?:(?:other )?(?:hosts?|hostnames?){_SUBJECTS} (?:{_VERBS})"
    rf"|(?:(?:web|internet) )?(?:other systems|domains?|urls?){_SUBJECTS} (?:{_CONTACTED}))\W*$"
)
"""Whether a question is for the systems that a product talks to."""
_ADDRESS = re.compile(
    r"(?:https?|wss?|amqps?|ftps?|smtps?|grpcs?)://(?:[^\s/\"'`<>@]*@)?(?P<host>(?:[\w-]+\.)+[A-Za-z]{2,})(?=[:/\"'`?#\s)]|$)",
    re.MULTILINE,
)
_NO_SYSTEM = re.compile(
    r"(?:^|\.)(?:example\.(?:com|org|net)|localhost|w3\.org|xmlsoap\.org|purl\.org|json-schema\.org|tempuri\.org"
    r"|schemas?\.[\w.-]+|aka\.ms|opensource\.org|creativecommons\.org|apache\.org|gnu\.org|mozilla\.org|spdx\.org"
    r"|(?:learn|docs|msdn|go)\.microsoft\.com|stackoverflow\.com|wikipedia\.org|ietf\.org|local|test|internal|invalid)$",
    re.IGNORECASE,
)
"""Names of formats and licences, pages that comments cite, and hosts that are made up."""
_COMMENT = re.compile(r"\s*(?://|/\*|\*|#|--|<!--|;|rem\b)", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?:^|/)\.|\.(?:lock|resx|svg|\w*proj|props|targets|nuspec|sln\w*|gradle|kts|sbt|toml)$"
    r"|(?:^|/)(?:docs?|nuke|locales?|i18n|lang|swagger|openapi)/|(?:^|/)[^/]*Dockerfile[^/]*$|(?:^|/)Gemfile$"
    r"|(?:^|/)(?:package|composer|pnpm|pom|packages)(?:-lock)?\.(?:json|ya?ml|xml)$",
    re.IGNORECASE,
)
"""Files that build a product or translate it, and descriptions of its own API."""
_MARKUP = frozenset({"html", "xml", "css", "scss", "less", "razor", "markdown", "shell", "bash", "powershell", "batch"})
_LINK = re.compile(r"<a\s|\b(?:href\s*[=:]|to=)|<(?:link|script|img)\s|\$schema\b|\]\(https?:|\bhomepage\b")
_ASIDE = re.compile(r"\s(?://|#)\s[^\"'`]*$")
_MOST_CHARS = 2_000  # of a line: a bundle has its text in one


def host_facts(target: Searchable) -> Facts:
    """Each host of an address in the product, but in documents and comments, where it is named first, those first that
    most places name."""
    payloads = {
        point: one
        for point, one in product_of(target.parts.shard().ids(target.scope()), target).items()
        if one.get("CodeLanguage") not in _MARKUP and not _BESIDE.search(str(one.get("Path", "")))
    }
    told = by_place(facts_naming(_ADDRESS, payloads, target, ("", "", True), PROSE, each_line=True))
    lines = {index: lines_of(index, {fact.path for fact in told}) for index in target.members.values()}
    found = defaultdict[str, list[tuple[GraphFact, str]]](list)
    for fact, point in told.items():
        texts = (known.get(fact.path, {}).get(fact.line, "") for known in lines.values())
        text = next(filter(None, texts), "")
        if len(text) > _MOST_CHARS or _COMMENT.match(text) or _LINK.search(text):
            continue
        text = _ASIDE.sub("", text)
        for host in dict.fromkeys(one["host"].lower() for one in _ADDRESS.finditer(text)):
            if not _NO_SYSTEM.search(host):
                found[host].append((fact, point))
    shown = {}
    for host in sorted(found, key=lambda host: (-len(found[host]), host))[:MOST_LISTED]:
        (first, point), count = found[host][0], len(found[host])
        said = f"{host}{f' ({count:,} places do)' if count > 1 else ''}"
        shown[GraphFact(first.source, "names", said, first.path, first.line, True, is_comment=True)] = point
    counted = "One host" if len(found) == 1 else f"{len(found):,} hosts"
    heading = part_counted(f"{counted} that code and settings name", len(found), MOST_LISTED)
    return GraphFacts(tuple(shown), len(found), f"**{heading}:**"), shown
