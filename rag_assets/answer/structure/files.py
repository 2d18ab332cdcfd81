"""The files of a kind, and those with more lines than a question says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.answer.graph_facts import FactsOrAbsent, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, facts_listed, from_the_root, list_heading
from rag_assets.answer.plans.everyday import COMPOSE_NAME, last_lines
from rag_assets.answer.structure.folders import file_facts
from rag_assets.answer.structure.questions import NUMBER_WORDS, comparison
from rag_assets.identifiers import singular
from rag_assets.languages.detection import SourceType, detect_language, source_type

if TYPE_CHECKING:
    from rag_assets.search.index import LabelIndex

_NAMED = {
    "dockerfile": r"(?:Dockerfile[^/]*|[^/]+\.dockerfile)",
    **dict.fromkeys(("compose file", "docker compose file", "docker-compose file"), COMPOSE_NAME),
    "proto": r"[^/]+\.proto",
    "protobuf file": r"[^/]+\.proto",
    "shell script": r"[^/]+\.(?:sh|bash|zsh)",
    "bash script": r"[^/]+\.(?:sh|bash)",
    "powershell script": r"[^/]+\.psm?1",
    "batch file": r"[^/]+\.(?:bat|cmd)",
    "batch script": r"[^/]+\.(?:bat|cmd)",
    "sql script": r"[^/]+\.sql",
    "python script": r"[^/]+\.py",
    "makefile": r"(?:GNU)?[Mm]akefile|[^/]+\.mk",
    "notebook": r"[^/]+\.ipynb",
    "readme": r"README[^/]*",
    "readme file": r"README[^/]*",
    "solution": r"[^/]+\.slnx?",
    "solution file": r"[^/]+\.slnx?",
    "project file": r"[^/]+\.(?:cs|fs|vb|sql|es|njs|docker)proj",
    "resource file": r"[^/]+\.resx",
    "settings file": r"(?:appsettings[^/]*\.json|local\.settings\.json|settings\.(?:json|py|ya?ml|toml))",
    "config file": r"(?:appsettings[^/]*\.json|(?:app|web)\.config|[^/]*\.config\.[cm]?[jt]s"
    r"|[^/]+\.(?:conf|config|ini|cfg|toml)|\.env[^/]*|application[^/]*\.(?:properties|ya?ml)|(?:local\.settings|settings|config|global|tsconfig[^/]*)\.json"
    r"|config[^/]*\.ya?ml|\.editorconfig)",
}
_NAMED |= {"configuration file": _NAMED["config file"], "appsettings file": _NAMED["settings file"]}
"""What the names of files of a kind are."""
_LANGUAGES = {
    "c#": "csharp",
    "f#": "fsharp",
    "vb": "visual-basic",
    "js": "javascript",
    "ts": "typescript",
    "md": "markdown",
}
_ALSO = {"yaml": "yml", "typescript": "tsx", "javascript": "jsx"}
"""The ending of others that a question means too."""
_CALLED = {
    "dockerfile": "Dockerfile",
    "sql script": "SQL script",
    "makefile": "Makefile",
    "readme": "README",
    **{kind: kind.upper() for kind in ("c#", "f#", "vb", "sql", "xml", "json", "css", "html", "yaml", "csv", "resx")},
}
_UNKNOWN = detect_language("x.unknown")
_KINDS = "|".join(re.escape(kind) for kind in sorted(_NAMED, key=len, reverse=True))
_OF_KIND = re.compile(
    r"^\W*(?:(?:which|what|list|show|find|how many|are|is|there|me|all|any|the|our|different|a) )+"
    rf"(?:(?P<kind>(?:{_KINDS})s?)|(?P<of>\.?[a-z][\w+#-]*) files?)"
    r"(?: (?:are|is|do|does|exist|there|here|we|it|have|has|used"
    r"|(?:in|of) (?:this|the|our) (?:project|repo\w*|code(?: ?base)?|solution)))*\W*$",
    re.IGNORECASE,
)
_OF_LENGTH = re.compile(
    r"^\W*(?:(?:which|what|list|show|find|how many|are|is|there|me|all|any|the|our) )+(?:(?:source|code) )?files"
    r"(?: (?:that|which))?(?: (?:are|have|has|with|contain))? "
    rf"(?P<than>more|longer|larger|bigger|fewer) than (?P<number>\d[\d,.]*|{NUMBER_WORDS}) lines"
    r"(?: of code| long)?\W*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FilesAsked:
    """Files that a question wants: of a `kind`, or the code whose number of lines `fits`."""

    kind: str = ""
    fits: Callable[[int], bool] | None = None


def files_asked(question: str) -> FilesAsked | None:
    """Which files a question wants; None for another question."""
    if (long := _OF_LENGTH.match(question)) is not None:
        than = "fewer than" if long["than"].lower() == "fewer" else "more than"
        return FilesAsked(fits=comparison(than, long["number"].replace(",", "").replace(".", "")))
    found = _OF_KIND.match(question)
    if found is None:
        return None
    kind = (
        " ".join(singular(word) for word in found["kind"].lower().split(" ")) if found["kind"] else found["of"].lower()
    )
    return FilesAsked(kind)


def files_of(index: LabelIndex, wanted: FilesAsked) -> FactsOrAbsent:
    """The files that are wanted, those near the root first; that there is none of a kind that has names of its own."""
    paths = index.parts.shard().values("Path", index.scope())
    if wanted.fits is not None:
        return _of_length(index, wanted.fits)
    kind = wanted.kind.removeprefix(".")
    names = _NAMED.get(kind)
    if names is not None:
        written = re.compile(rf"(?:^|.*/)(?:{names})", re.IGNORECASE)
        found = [path for path in paths if written.fullmatch(path)]
    else:
        endings, language = tuple(f".{one}" for one in (kind, _ALSO.get(kind, kind))), _LANGUAGES.get(kind, kind)
        found = [path for path in paths if path.lower().endswith(endings) or detect_language(path) == language]
    is_known = names is not None or kind != wanted.kind or detect_language(f"x.{kind}") != _UNKNOWN
    noun = _CALLED.get(kind, kind) if names is not None else f"{_CALLED.get(kind, kind)} file"
    facts, at = facts_listed(file_facts(index, sorted(found, key=from_the_root)), noun, index)
    return facts, at, f"no file of the index is a {noun}" if is_known and not at else ""


def _of_length(index: LabelIndex, fits: Callable[[int], bool]) -> FactsOrAbsent:
    """The files of code that are so long, the longest first, with their lines up to the end of the last section."""
    lines = {path: count for path, count in last_lines(index).items() if fits(count) and _is_code(path)}
    ranked = sorted(lines, key=lambda path: (-lines[path], path))
    said = [
        replace(fact, verb="has", target=f"{lines[fact.path]:,} lines")
        for fact in file_facts(index, ranked[:MOST_LISTED])
    ]
    at = facts_at(said, index)
    absent = "" if at else "no file of code in the index is so"
    return GraphFacts(tuple(at), len(ranked), list_heading("file", len(ranked))), at, absent


def _is_code(path: str) -> bool:
    return source_type(detect_language(path)) in (SourceType.CODE, SourceType.SQL)
