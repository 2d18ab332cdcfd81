"""Search, and the source that a hit leads to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rag_assets.search import Hit
from rag_assets.search.outline import (
    USUAL_KIND,
    Detail,
    asked_stems,
    counts_by_folder,
    kind_of,
    lines_under,
    named_part,
    place_of,
)
from rag_assets.serving.operations.search import SearchReply
from rag_assets.serving.page.coloring import colored_lines
from rag_assets.serving.page.viewing import MOST_LABELS, Link, View, source_url
from rag_assets.serving.requests import ReadRequest, SearchRequest, parsed

_LIMIT = 10
_WIDTH = 110  # characters of a line under a hit
_MOST_CHIPS = {"kind": 8, "path": 5}


def search_page(view: View) -> str:
    query, kinds, paths = view.said("q"), view.all_said("kind"), view.all_said("path")
    if not view.labels or not query:
        return view.rendered("search.html", title="Search", query=query, kinds=kinds, paths=paths, reply=None)
    wanted = view.all_said("label") or (view.labels if len(view.labels) <= MOST_LABELS else None)
    arguments = {"query": query, "label": wanted, "kinds": kinds, "paths": paths, "limit": _LIMIT}
    asked = parsed(SearchRequest, arguments | {"cursor": view.said("cursor") or None})
    reply = view.operations.search(asked, view.caller)
    stems = asked_stems(reply.result.question)
    hits = [_hit(hit, rank, stems) for rank, hit in enumerate(reply.result.hits, reply.offset + 1)]
    known = view.operations.kinds(wanted, view.caller)
    found = {"reply": reply, "hits": hits, "several": not reply.result.label, "next": _next(view, reply)}
    chips = {"kind_chips": _chips(view, "kind", [*known], kinds), "path_chips": _path_chips(view, reply, paths)}
    return view.rendered("search.html", title=query, query=query, kinds=kinds, paths=paths, **found, **chips)


def source_page(view: View) -> str:
    request = parsed(
        ReadRequest, {"place": view.said("place"), "label": view.label, "commit": view.said("commit") or None}
    )
    found = view.operations.source(request, view.caller)
    lines, shown = found.asked, found.around
    numbered = enumerate(colored_lines(shown.text, shown.language), shown.start_line) if shown.shown_lines else ()
    return view.rendered(
        "source.html",
        title=lines.place,
        found=found,
        lines=lines,
        shown=shown,
        numbered=list(numbered),
        outline=sorted(shown.declared or lines.declared, key=lambda one: (one.start_line, -one.end_line)),
        is_asked=lambda number: not found.is_whole_file and lines.start_line <= number <= lines.end_line,
    )


def _hit(hit: Hit, rank: int, asked: frozenset[str]) -> dict[str, Any]:
    under = list(lines_under(hit, rank, Detail.SNIPPET, asked, _WIDTH))
    members = []
    for line in under:
        if line.place and not line.is_source:
            start, _, end = line.place.partition("-")
            members.append(Link(line.place, source_url(hit.label, hit.path, int(start), int(end or start)), line.text))
    folder, _, name = place_of(hit).rpartition("/")
    return {
        "rank": rank,
        "folder": f"{folder}/" if folder else "",
        "name": name,
        "url": source_url(hit.label, hit.path, *hit.best_lines),
        "label": hit.label,
        "symbol": named_part(hit.symbol, hit.part_index, hit.part_total),
        "kind": kind_of(hit),
        "source": [(line.place, line.text) for line in under if line.is_source],
        "members": members,
        "more": next((line.text for line in under if not line.place), ""),
    }


def _next(view: View, reply: SearchReply) -> str:
    return view.here(cursor=reply.cursor) if reply.cursor else ""


def _chips(view: View, name: str, offered: Sequence[str], chosen: Sequence[str]) -> list[tuple[Link, bool]]:
    """Filters to add, and those that are set, to take away."""
    shown = [*chosen, *(one for one in offered if one not in chosen and one != USUAL_KIND)][: _MOST_CHIPS[name]]
    return [
        (
            Link(one, view.here(**{name: [kept for kept in (*chosen, one) if kept != one or one not in chosen]})),
            one in chosen,
        )
        for one in shown
    ]


def _path_chips(view: View, reply: SearchReply, chosen: Sequence[str]) -> list[tuple[Link, bool]]:
    folders = [folder for folder, _ in counts_by_folder(reply.result.hits) if folder != "."]
    return _chips(view, "path", folders if len(folders) > 1 or chosen else [], chosen)
