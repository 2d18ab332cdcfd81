"""Citations in an answer: how they are written, read and shown (E19, R26). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.contracts.evidence import Evidence

CITATION = re.compile(r"\[chunk:\s*(?P<ids>[0-9A-Za-z][0-9A-Za-z-]*(?:\s*[,;]\s*(?:chunk:\s*)?[0-9A-Za-z-]+)*)\s*\]")
"""`[chunk: 1a2b3c4d]`; models also write several ids into one pair of brackets."""

_MARK = re.compile(r"[ \t]*[\[［【]\s*chunk\s*[:：](?P<ids>[^\]］】\n]*)[\]］】]", re.IGNORECASE)
"""Everything that a reader takes for a citation, well written or not."""

_ID = re.compile(r"(?:chunk:\s*)?([0-9A-Za-z-]+)")
_BLANK_BEFORE = re.compile(r"[ \t]+(?=[.,;:!?](?:\s|$))")


@dataclass(frozen=True, slots=True)
class Citation:
    """What an answer cites: the id as it is written there, and where that is."""

    id: str
    path: str
    line_start: int
    line_end: int
    commit_sha: str
    label: str
    symbol: str
    rendered: str  # `path:lines@commit`


def marker(identifier: str) -> str:
    """`[chunk: 1a2b3c4d]`, the canonical form."""
    return f"[chunk: {identifier}]"


def cited_ids(text: str) -> tuple[str, ...]:
    """The ids that a text cites, in order of first use."""
    found = [one for mark in CITATION.finditer(text) for one in _ID.findall(mark["ids"])]
    return tuple(dict.fromkeys(found))


def without_citations(text: str) -> str:
    return _BLANK_BEFORE.sub("", CITATION.sub("", text)).strip()


def with_known_only(text: str, known: Container[str]) -> str:
    """`text` without what looks like a citation and names nothing that is `known`: whoever reads it would take it for a
    source. Of a mark with several ids the known ones stay."""

    def kept(mark: re.Match[str]) -> str:
        if not CITATION.fullmatch(mark.group().lstrip()):
            return ""
        ids = _ID.findall(mark["ids"])
        left = [identifier for identifier in ids if identifier in known]
        if len(left) == len(ids):
            return mark.group()
        return f" {marker(', '.join(left))}" if left else ""

    return _MARK.sub(kept, text)


def by_id(evidence: Iterable[Evidence]) -> dict[str, Evidence]:
    """Every id under which a piece of evidence may be cited, those of the sections merged into it too."""
    return {identifier: known for known in evidence for identifier in known.ids}


def citations_of(text: str, evidence: Sequence[Evidence]) -> tuple[Citation, ...]:
    """What a text cites of the evidence, in order of first use; ids that are none of its are not among them."""
    known = by_id(evidence)
    return tuple(citation(identifier, known[identifier]) for identifier in cited_ids(text) if identifier in known)


def citation(identifier: str, known: Evidence) -> Citation:
    return Citation(
        identifier,
        known.path,
        known.line_start,
        known.line_end,
        known.commit_sha,
        known.label,
        known.symbol,
        known.cited,
    )


def rendered(text: str, show: Callable[[str], str | None]) -> str:
    """`text` with every citation as `show` writes its id; one that `show` has nothing for stays as it is."""

    def replaced(mark: re.Match[str]) -> str:
        shown = [show(identifier) for identifier in _ID.findall(mark["ids"])]
        return mark.group() if None in shown else ", ".join(f"[{one}]" for one in shown)

    return CITATION.sub(replaced, text)


def numbered(citations: Sequence[Citation]) -> Mapping[str, int]:
    """id → its number in a list of sources; citations of one place share a number."""
    places = {place: at for at, place in enumerate(dict.fromkeys(known.rendered for known in citations), 1)}
    return {known.id: places[known.rendered] for known in citations}
