"""Semantic search, second look: the candidates of the vector search, each by its outline and by its nearest passage.

The vector of a section is that of its outline, which says what is there; how it is done is in the source. A section is
as near as its outline, under its path and names, and the nearest passage of its source are on average ("MaxP": Dai and
Callan 2019). That takes a model for which a text costs microseconds; of others the vector search alone decides.

nDCG@10 of mode `semantic` as in `search.ranking`, with `static-code-2`: vector search alone .291 .615 .758 .730; with
passages of 300 characters .357 .620 .789 .714, and the outline under its path and names .361 .629 .792 .761, and what
is beside the product demoted .419 .654 .804 .761. Passages of 500 and 1,000 characters: annotators -.02 and -.05. 50
candidates: commit -.01, 200 +.006. In the blend of mode `hybrid` the same numbers gain nothing: words have read the
source already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag_assets.index.blobs import BlobError
from rag_assets.search.fusion import Candidate, Ranked
from rag_assets.search.ranking.penalties import BesideProduct, demotion
from rag_assets.search.section_source import section_source

if TYPE_CHECKING:
    from rag_assets.contracts.embedder import Embedder, Vectors
    from rag_assets.index.vectors.vector_api import Dense

PASSAGE = 300
"""Characters after which a passage ends with its line: about a method."""

_FOLDERS = 3  # the last ones of a path, and the name of the file


def by_passages(
    question: Dense,
    dense: Sequence[Candidate],
    payloads: Mapping[str, Mapping[str, Any]],
    sources: Mapping[str, str],
    texts: Embedder,
    sides: Collection[BesideProduct],
) -> list[Ranked]:
    """The candidates of a vector search, best first, in their new order. `sources` are the source texts by id, `texts`
    embeds documents into the space of `question`. A candidate without a payload keeps its cosine. Ties: dense rank."""
    read = [one.id for one in dense if one.id in payloads]
    headers = {one: _header(payloads[one]) for one in read}
    passages = {one: passages_of(sources.get(one, "")) for one in read}
    outlines = [f"{headers[one]}\n{payloads[one].get('FinderSnippet', '')}\n{_name(payloads[one])}" for one in read]
    whole = [*outlines, *(f"{headers[one]}\n{passage}" for one in read for passage in passages[one])]
    cosines = _cosines(texts.embed(whole), question) if whole else []
    ends = [len(outlines)]
    for one in read:
        ends.append(ends[-1] + len(passages[one]))
    nearest = {
        one: (cosines[at], max(cosines[start:end], default=cosines[at]))
        for at, (one, (start, end)) in enumerate(zip(read, pairwise(ends), strict=True))
    }
    ranked = [_ranked(one, nearest.get(one.id), payloads.get(one.id, {}), sides) for one in dense]
    return sorted(ranked, key=lambda one: -one.score)


def sources_of(payloads: Mapping[str, Mapping[str, Any]], document: Callable[[str], str]) -> dict[str, str]:
    """Point → its source, of the `document` at an address; without those whose document is not there."""
    text_of = cache(document)
    found = {}
    for identifier, payload in payloads.items():
        with suppress(BlobError):
            found[identifier] = section_source(payload, text_of)
    return found


def passages_of(source: str) -> list[str]:
    """Runs of whole lines of at least PASSAGE characters; the last one may be shorter."""
    made: list[str] = []
    start = 0
    while start < len(source):
        end = source.find("\n", start + PASSAGE)
        end = len(source) if end < 0 else end + 1
        made.append(source[start:end])
        start = end
    return made


def _header(payload: Mapping[str, Any]) -> str:
    folders, _, name = str(payload.get("Path", "")).rpartition("/")
    return " ".join((*folders.split("/")[-_FOLDERS:], name.rpartition(".")[0] or name))


def _name(payload: Mapping[str, Any]) -> str:
    return str(payload.get("Symbol", "")).rpartition(".")[2]


def _cosines(vectors: Vectors, question: Dense) -> list[float]:
    found: list[float] = (vectors @ question).tolist()
    return found


def _ranked(
    found: Candidate,
    nearest: tuple[float, float] | None,
    payload: Mapping[str, Any],
    sides: Collection[BesideProduct],
) -> Ranked:
    said = {"dense": found.score}
    score = found.score
    if nearest is not None:
        said |= {"outline": nearest[0], "passage": nearest[1]}
        score = sum(nearest) / 2
    factor = demotion(str(payload.get("Path", "")), sides)
    if factor != 1.0:
        said["demotion"] = factor
    return Ranked(found.id, score * factor, said)
