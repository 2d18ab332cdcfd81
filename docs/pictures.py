"""The pictures of the concepts as SVG, drawn on a grid; `make reference` writes them to docs/images."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

_COLUMN, _ROW = 200, 92
_WIDTH, _HEIGHT = 160, 52
_MARGIN = 24
_LINE = 16
_FILLS = {
    "step": ("#ffffff", "#334155"),
    "data": ("#e0ecff", "#2f5fb3"),
    "good": ("#dcf5e3", "#1f7a41"),
    "unsure": ("#fff3d0", "#9a6b00"),
    "bad": ("#fde3e1", "#b3261e"),
    "reader": ("#efe6fb", "#6b3fa0"),
}


@dataclass(frozen=True)
class Box:
    """Column and row on the grid (halves are fine), the lines in it, and what it is (`_FILLS`)."""

    column: float
    row: float
    text: str
    kind: str = "step"
    width: float = 1.0


@dataclass(frozen=True)
class Picture:
    title: str
    boxes: dict[str, Box]
    arrows: tuple[str, ...]
    """`from > to`, with `: words` behind it where the arrow says something, and `--` for `>` where it is dashed."""


PICTURES = {
    "overview": Picture(
        "A commit becomes an index by a build; people, agents and programs search it and ask it",
        {
            "git": Box(0, 1, "git repository\none commit", "data"),
            "build": Box(1, 1, "build\nDagster assets"),
            "gate": Box(2, 1, "checks and\nyour questions"),
            "index": Box(3, 1, "index\nwhat is served", "data"),
            "people": Box(4, 0, "people\ncommand line, page", "reader"),
            "agents": Box(4, 1, "agents\nMCP", "reader"),
            "programs": Box(4, 2, "programs\nPython, HTTP", "reader"),
            "kept": Box(2, 2, "refused build\nkept, not served", "bad"),
        },
        (
            "git > build",
            "build > gate",
            "gate > index",
            "gate > kept",
            "index > people",
            "index > agents",
            "index > programs",
        ),
    ),
    "build": Picture(
        "The assets of a build, from the files of a commit to what is served",
        {
            "git": Box(0, 0, "repository\nhead of the ref", "data"),
            "files": Box(0, 1, "discovered_files\nread, masked"),
            "segments": Box(1, 1, "segments\none per declaration"),
            "descriptions": Box(2, 1, "descriptions\nkind and facts"),
            "sections": Box(3, 1, "summary_sections\nthe texts to find"),
            "embeddings": Box(4, 0, "embeddings"),
            "bm25": Box(4, 1, "bm25_artifacts\nkeywords"),
            "graph": Box(4, 2, "code_graph"),
            "points": Box(5, 0.5, "qdrant_points\nvectors and payload"),
            "eval": Box(5, 2, "eval_runs\nyour questions"),
            "active": Box(5, 3, "active_index\nserved", "good"),
        },
        (
            "git > files",
            "files > segments",
            "segments > descriptions",
            "descriptions > sections",
            "sections > embeddings",
            "sections > bm25",
            "sections > graph",
            "embeddings > points",
            "bm25 > points",
            "points > eval",
            "graph > eval",
            "eval > active",
        ),
    ),
    "points": Picture(
        "A file is cut into segments, each is described, and a description becomes sections, each of which is a point",
        {
            "file": Box(0, 1, "Suppliers.cs", "data"),
            "one": Box(1, 0.5, "segment\nclass Supplier"),
            "two": Box(1, 1.5, "segment\nclass SupplierManager"),
            "description": Box(2, 0.5, "description\nModel, its facts"),
            "first": Box(3, 0, "section\noverview"),
            "second": Box(3, 1, "section\nproperties"),
            "point": Box(4, 0, "point\nvector, keywords,\npayload", "data"),
            "source": Box(4, 1.5, "source\npath, lines, commit", "good"),
        },
        (
            "file > one",
            "file > two",
            "one > description",
            "description > first",
            "description > second",
            "first > point",
            "point > source: leads back to",
        ),
    ),
    "generations": Picture(
        "Each build is a folder of its own; one pointer says which is served",
        {
            "a": Box(0, 0, "generation A\ncommit 1a2b", "data"),
            "b": Box(1, 0, "generation B\ncommit 3c4d", "data"),
            "c": Box(2, 0, "generation C\nrefused", "bad"),
            "d": Box(3, 0, "generation D\nbeing built"),
            "pointer": Box(1, 1, "active pointer", "good"),
            "parts": Box(2.5, 1, "parts by content\nshared by all"),
            "reader": Box(0, 1, "searches", "reader"),
        },
        ("reader > pointer", "pointer > b", "pointer -- a: rollback", "d > parts: only what changed"),
    ),
    "search": Picture(
        "A question is read, words and vectors give candidates, files are ranked, and the lines that answer are shown",
        {
            "question": Box(0, 1, "question", "reader"),
            "filters": Box(1, 0, "filters\nkind, path, role"),
            "words": Box(1, 1, "words\nnames, endings"),
            "vector": Box(1, 2, "vector\nwhat it means"),
            "candidates": Box(2, 1, "candidates\nof the index", "data"),
            "files": Box(3, 1, "files ranked\nname, words, kind"),
            "sections": Box(4, 1, "sections"),
            "lines": Box(5, 1, "members and\nbest lines", "good"),
        },
        (
            "question > filters",
            "question > words",
            "question > vector",
            "filters > candidates: before ranking",
            "words > candidates",
            "vector > candidates",
            "candidates > files",
            "files > sections",
            "sections > lines",
        ),
    ),
    "answers": Picture(
        "Evidence is gathered, each statement is compared with its source, and two thresholds decide what is said",
        {
            "question": Box(0, 1, "question", "reader"),
            "evidence": Box(1, 1, "evidence\nsearch and graph"),
            "statements": Box(2, 1, "statements\nquotes, or a model"),
            "check": Box(3, 1, "check\nquote = source?"),
            "answer": Box(4.3, 0, "answer\nwith its sources", "good"),
            "unsure": Box(4.3, 1, "not sure\nwhat is closest", "unsure"),
            "refusal": Box(4.3, 2, "refusal\nwhat is missing", "bad"),
        },
        (
            "question > evidence",
            "evidence > statements",
            "statements > check",
            "check > answer: sure",
            "check > unsure: between",
            "check > refusal: weak",
        ),
    ),
    "graph": Picture(
        "What is around a method of the example shop: its route, its caller, its test, and the table that it writes",
        {
            "route": Box(0, 0, "DELETE\n/api/orders/{number}", "data"),
            "action": Box(0, 1, "OrdersController\n.CancelAsync"),
            "interface": Box(1.4, 1, "IOrderManager\n.CancelAsync"),
            "manager": Box(1.4, 0, "OrderManager\n.CancelAsync", "good"),
            "entity": Box(2.8, 0, "entity Order"),
            "table": Box(4.2, 0, "table sales.Orders", "data"),
            "test": Box(2.8, 1, "OrderManagerTests\n.A_shipped_order_…"),
            "procedure": Box(4.2, 1, "procedure\nsales.CancelOrder"),
        },
        (
            "action > route: exposes",
            "action > interface: calls",
            "manager > interface: implements",
            "manager > entity: writes",
            "entity > table: maps to",
            "test > manager: calls",
            "procedure > table: writes",
        ),
    ),
    "gate": Picture(
        "A build is checked and asked before it is served; what is worse is kept aside with its reasons",
        {
            "build": Box(0, 0.5, "new build", "data"),
            "checks": Box(1, 0.5, "blocking checks\npoints, texts, graph"),
            "questions": Box(2, 0.5, "your questions\nasked of both builds"),
            "compare": Box(3, 0.5, "no worse than\nthe served one?"),
            "served": Box(4.2, 0, "served", "good"),
            "refused": Box(4.2, 1, "refused\nold one stays", "bad"),
        },
        (
            "build > checks",
            "checks > questions",
            "questions > compare",
            "compare > served: yes",
            "compare > refused: no",
        ),
    ),
    "readers": Picture(
        "A role has a level; what is above it does not exist for the reader, from the index query to the answer",
        {
            "role": Box(0, 1, "reader\nrole: developer", "reader"),
            "level": Box(1, 1, "level\ninternal"),
            "public": Box(2.2, 0, "public", "good"),
            "internal": Box(2.2, 1, "internal", "good"),
            "confidential": Box(2.2, 2, "confidential,\nrestricted", "bad"),
            "query": Box(3.4, 0.5, "index query\nscores, graph"),
            "answer": Box(4.6, 0.5, "hits, answers,\nrefusals"),
        },
        (
            "role > level",
            "level > public",
            "level > internal",
            "level -- confidential: not seen",
            "public > query",
            "internal > query",
            "query > answer",
        ),
    ),
}


def svg(picture: Picture) -> str:
    """A picture on a light ground, so that it can be read on a dark page too."""
    right = max(_x(box) + box.width * _WIDTH for box in picture.boxes.values()) + _MARGIN
    bottom = max(_y(box) + _HEIGHT for box in picture.boxes.values()) + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right:g}" height="{bottom:g}" '
        f'viewBox="0 0 {right:g} {bottom:g}" role="img" font-family="system-ui, sans-serif" font-size="13">',
        f"<title>{escape(picture.title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="#475569"/></marker></defs>',
        f'<rect width="{right:g}" height="{bottom:g}" rx="10" fill="#f8fafc"/>',
    ]
    said = [_arrow(picture, arrow) for arrow in picture.arrows]
    lines += [line for line, _ in said]
    for box in picture.boxes.values():
        fill, stroke = _FILLS[box.kind]
        lines.append(
            f'<rect x="{_x(box):g}" y="{_y(box):g}" width="{box.width * _WIDTH:g}" height="{_HEIGHT}" '
            f'rx="{26 if box.kind == "reader" else 6}" fill="{fill}" stroke="{stroke}"/>'
        )
        texts = box.text.split("\n")
        for number, text in enumerate(texts):
            y = _y(box) + _HEIGHT / 2 + 4.5 + (number - (len(texts) - 1) / 2) * _LINE
            weight = ' font-weight="600"' if number == 0 else ""
            x = _x(box) + box.width * _WIDTH / 2
            lines.append(f'<text x="{x:g}" y="{y:g}" text-anchor="middle" fill="#0f172a"{weight}>{escape(text)}</text>')
    lines += [label for _, label in said if label]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(picture: Picture, arrow: str) -> tuple[str, str]:
    """The line, from the edge of one box to the edge of the other, and its words."""
    way, _, words = arrow.partition(": ")
    start, mark, end = way.split(" ")
    one, other = picture.boxes[start], picture.boxes[end]
    (x1, y1), (x2, y2) = _centre(one), _centre(other)
    x1, y1 = _edge(one, x1, y1, x2, y2)
    x2, y2 = _edge(other, x2, y2, x1, y1)
    dashes = ' stroke-dasharray="5 4"' if mark == "--" else ""
    line = (
        f'<path d="M{x1:.1f} {y1:.1f} {x2:.1f} {y2:.1f}" stroke="#475569" stroke-width="1.4"{dashes} '
        'marker-end="url(#tip)"/>'
    )
    if not words:
        return line, ""
    beside = abs(x1 - x2) < 1  # a way down has its words at its side, any other above it
    x, y, anchor = (x1 + x2) / 2, (y1 + y2) / 2 - 4, "middle"
    if beside:
        x, y, anchor = x + 8, y + 8, "start"
    label = (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="#334155" '
        f'stroke="#f8fafc" stroke-width="4" paint-order="stroke">{escape(words)}</text>'
    )
    return line, label


def _x(box: Box) -> float:
    return _MARGIN + box.column * _COLUMN


def _y(box: Box) -> float:
    return _MARGIN + box.row * _ROW


def _centre(box: Box) -> tuple[float, float]:
    return _x(box) + box.width * _WIDTH / 2, _y(box) + _HEIGHT / 2


def _edge(box: Box, x: float, y: float, to_x: float, to_y: float) -> tuple[float, float]:
    """Where the way from the centre of a box to another point leaves it."""
    dx, dy = to_x - x, to_y - y
    ways = [half / abs(step) for half, step in ((box.width * _WIDTH / 2, dx), (_HEIGHT / 2, dy)) if step]
    share = min([*ways, 1.0])
    return x + dx * share, y + dy * share
