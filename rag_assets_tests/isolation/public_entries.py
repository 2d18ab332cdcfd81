"""Every public way into an index, each with requests that try to get across the walls of `walled_shops`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from rag_assets import NO_FILTERS, IndexGroup, SearchFilters, Touched, compare_search
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.errors import RagAssetsError
from rag_assets.graph.impact import Effect, impact
from rag_assets.graph.lookup import find
from rag_assets.graph.neighbourhood import neighbourhood
from rag_assets.search.graph_context import bodies, counts_of, entries_of, graph_of
from rag_assets_tests.cli.conftest import CommandLine
from rag_assets_tests.isolation.walled_shops import CONFIG, LEDGER, QUESTIONS, Asker, WalledShop, World


@dataclass(frozen=True)
class Request:
    """What was said, what was shown, and the labels that it may be about."""

    said: str
    shown: str
    labels: tuple[str, ...]


Entry = Callable[[World, Asker, Random], Request]

LIBRARY_WITHOUT_CONTENT: Mapping[str, str] = {
    "clearance": "what the caller gave",
    "close": "shows nothing",
    "generation": "where the files are, for the code of this program",
    "index_of": "an index that the caller opened",
    "indexes": "what the caller opened",
    "is_narrowed": "yes or no, of what the caller gave",
    "kept_graph": "what the caller gave, for the code of this program",
    "label": "what the caller gave",
    "manifest": "of the generation as a whole",
    "manifests": "of the generations as wholes",
    "may_read": "says yes or no of a path, whether it exists or not",
    "members": "what the caller opened",
    "open": "what the caller names, as `open_index`",
    "overlaid": "how many files of a work tree the clearance reaches for (cli/test_overlay.py)",
    "overlay": "files of a work tree that its user can read, as far as the clearance reaches (cli/test_overlay.py)",
    "parts": "the stores, for the code of this program; every query of them takes a scope",
    "point_id_of": "a pure function of what the caller gave",
    "scope": "what the caller gave",
    "tenant": "what the caller gave",
    "view": "what the caller gave",
    "with_work_tree": "opens the same index over files that its user can read (cli/test_overlay.py)",
}
"""Public names of `Index` and `IndexGroup` that show nothing of what is indexed, and why."""

_OPERATES = "needs the sources or the home itself, whose files its user can read"
COMMANDS_WITHOUT_CONTENT: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "index",
            "plan",
            "watch",
            "rebuild",
            "publish",
            "pull",
            "gc",
            "reset",
            "doctor",
            "dev",
            "validate",
            "train-embedder",
        ),
        _OPERATES,
    ),
    **dict.fromkeys(("init", "config check", "config settings"), "about settings"),
    **dict.fromkeys((f"pipeline {name}" for name in ("list", "validate", "show", "graph")), "about pipelines"),
    **dict.fromkeys((f"agent {name}" for name in ("list", "show", "validate")), "about agents"),
    **dict.fromkeys(("serve", "mcp"), "have tests of their own: every route and tool of them is tried"),
    **dict.fromkeys((f"token {name}" for name in ("create", "list", "revoke")), "about tokens"),
    **dict.fromkeys(("log", "trace", "replay"), "have tests of their own: records have the level of who asked"),
    **dict.fromkeys(("session list", "session delete"), "names of the user's own conversations"),
    **dict.fromkeys((f"generations {name}" for name in ("activate", "rollback", "tag", "untag", "prune")), _OPERATES),
    "generations list": "of generations as wholes",
    "catalog status": "of generations as wholes",
    "catalog search": "has a test of its own: it needs a catalog",
}
"""Commands that show nothing of what is indexed, and why."""


# what an attacker writes


def _victim(world: World, asker: Asker, chance: Random) -> tuple[WalledShop, Confidentiality]:
    """Whose things are asked for: what of their own label is hidden from the asker, anything of it, anything at all."""
    levels = list(Confidentiality)
    hidden = levels[levels.index(asker.clearance) + 1 :]
    shop = asker.shop if chance.random() < 0.7 else chance.choice(world.shops)
    return shop, chance.choice(hidden if hidden and chance.random() < 0.5 else levels)


def _query(world: World, asker: Asker, chance: Random) -> str:
    shop, level = _victim(world, asker, chance)
    name = shop.canary(level).name.capitalize()
    parts = [
        "refund money for returned orders",
        "who calls Post",
        "what implements IOrders",
        f"who implements IOrders{name}",
        f"which tables has Orders{name}",
        f"what is OrderService{name}",
        f"what is OrderServise{name[:-2]}",
        "how is this project structured?",
        "where does the program start?",
        "are there any TODOs left?",
        "list all interfaces",
        "what changed lately?",
        f"when was OrderService{name} last changed?",
        f"who wrote {shop.code(level)}?",
        "which classes have no tests?",
        "how many files are there?",
        "how do I build it?",
        "which background jobs are there?",
        f"what derives from IOrders{name}?",
        f"which exceptions does OrderService{name} throw?",
        f"is Invoices{name} only used in tests?",
        "which public methods have no comments?",
        "which exceptions are never caught?",
        "which files have not been changed for the longest time?",
        "Ledger",
        f"OrderService{name}",
        f"symbol:OrderService{name}",
        "symbol:*",
        "path:**",
        f"path:src/{level}",
        f"-path:{shop.code(level)}",
        '"no invoice"',
        f"at Shop.Orders.OrderService{name}.RefundOrder(Int32 id) in {shop.code(level)}:line 11",
        f"{shop.code(level)}:11",
        f"label:{shop.label} OrgId:{shop.org}",
        "*' OR 1=1 --",
    ]
    return " ".join(chance.sample(parts, chance.randint(1, 2)))


def _point(world: World, asker: Asker, chance: Random) -> dict[str, Any]:
    shop, level = _victim(world, asker, chance)
    of_level = [point for point in shop.points if point["Confidentiality"] == level.value]
    return chance.choice(of_level)


def _place(world: World, asker: Asker, chance: Random) -> str:
    shop, level = _victim(world, asker, chance)
    known = shop.canary(level)
    return chance.choice(
        [
            shop.code(level),
            shop.code(level).lower(),
            f"{shop.code(level)}:11",
            f"{shop.code(level)}:{chance.randint(1, 9_999)}",
            f"{shop.code(level)}:RefundOrder",
            f"./{shop.code(level)}",
            shop.code(level)[:-4] + ".cs",
            f"OrderService{known.name.capitalize()}",
            "Ledger",
            LEDGER.format(level),
            f"{LEDGER.format(level)}:5",
            f"docs/{level}/{known.name}.md",
            f"web/{level}/{known.name}.min.js",
            f"src/{level}/{known.name}/Plain.cs",
            "Plain.cs",
        ]
    )


def _read_place(world: World, asker: Asker, chance: Random) -> str:
    return chance.choice([_place, _node, _identifier])(world, asker, chance)


def _node(world: World, asker: Asker, chance: Random) -> str:
    shop, level = _victim(world, asker, chance)
    name = shop.canary(level).name.capitalize()
    words = ["Ledger", "Post", "RefundOrder", f"OrderService{name}", f"IOrders{name}", f"dbo.Orders{name}"]
    return chance.choice([*words, shop.code(level), f"{shop.code(level)}:11", f"Invoices{name}.Post(int)"])


def _since(world: World, asker: Asker, chance: Random) -> str:
    """A commit of the label: by its id, by steps from the head; or what is none."""
    commits = asker.shop.repository.git("rev-list", "--all").split()
    return chance.choice([*commits, *(f"main~{steps}" for steps in range(1, 6)), _node(world, asker, chance)])


# the library


def _asked(call: Callable[[str, Asker], Any], words: Callable[[World, Asker, Random], str]) -> Entry:
    """An entry of the library that takes one text."""

    def entry(world: World, asker: Asker, chance: Random) -> Request:
        said = words(world, asker, chance)
        return Request(said, _shown(lambda: call(said, asker)), (asker.shop.label,))

    return entry


def _shown(call: Callable[[], Any]) -> str:
    try:
        return repr(call())
    except RagAssetsError as error:  # refused, in words that must not tell either
        return str(error)


def _uri(key: str) -> Callable[[World, Asker, Random], str]:
    def written(world: World, asker: Asker, chance: Random) -> str:
        return str(_point(world, asker, chance)[key])

    return written


def _identifier(world: World, asker: Asker, chance: Random) -> str:
    point = _point(world, asker, chance)
    return str(chance.choice([point["id"], point["id"][:8], point["id"].upper(), point["SemanticId"]]))


def _any_uri(world: World, asker: Asker, chance: Random) -> str:
    point = _point(world, asker, chance)
    uri = str(point[chance.choice(("FullDocumentBlobUri", "SourceSliceBlobUri", "DescriptionBlobUri"))])
    shop, level = _victim(world, asker, chance)
    return chance.choice([uri, f"rag://{asker.shop.label}/{shop.code(level)}", uri.replace("src/", "src/./")])


def _group(asker: Asker, world: World) -> IndexGroup:
    """The labels of one organisation, as `open_indexes` opens them."""
    return IndexGroup([known.index for known in world.askers if _together(known, asker)])


def _together(one: Asker, other: Asker) -> bool:
    return (one.shop.org, one.role) == (other.shop.org, other.role)


def _of_group(call: Callable[[IndexGroup, str], Any]) -> Entry:
    def entry(world: World, asker: Asker, chance: Random) -> Request:
        said, group = _query(world, asker, chance), _group(asker, world)
        return Request(said, _shown(lambda: call(group, said)), tuple(group.indexes))

    return entry


def _compared(world: World, asker: Asker, chance: Random) -> Request:
    said = _query(world, asker, chance)
    other = chance.choice([known for known in world.askers if _together(known, asker)])
    labels = (asker.shop.label, other.shop.label)
    return Request(said, _shown(lambda: compare_search(said, asker.index, other.index, limit=50)), labels)


def _walked(world: World, asker: Asker, chance: Random) -> Request:
    """The graph as a whole and from a node, with the texts of what it reaches."""
    said = _node(world, asker, chance)

    def walk() -> object:
        graph = graph_of(asker.index)
        match = find(graph, said)
        keys = [graph.keys[node] for node in (*match.nodes, *match.candidates)]
        entries = entries_of(asker.index, asker.index.search(said, limit=5))
        around = neighbourhood(graph, [*keys, *entries], depth=3, nodes=200)
        affected = impact(graph, [*match.nodes], effect=chance.choice(list(Effect))) if match.nodes else None
        everything = [graph.keys[node] for node in range(len(graph))]
        return around, affected, everything, counts_of(asker.index), bodies(asker.index, graph, everything)

    return Request(said, _shown(walk), (asker.shop.label,))


_SOURCES = SearchFilters(paths=("src/",))
LIBRARY: Mapping[str, Entry] = {
    "search": _asked(lambda said, asker: asker.index.search(said, limit=200, explain=True), _query),
    "ask": _asked(lambda said, asker: asker.index.ask(said), _query),
    "narrowed ask": _asked(lambda said, asker: asker.index.narrowed((_SOURCES,), NO_FILTERS).ask(said), _query),
    "unfiltered ask": _asked(
        lambda said, asker: asker.index.narrowed((_SOURCES,), NO_FILTERS).unfiltered.ask(said), _query
    ),
    "similar": _asked(lambda said, asker: asker.index.similar(said, limit=200, explain=True), _place),
    "get": _asked(lambda said, asker: asker.index.get(said), _identifier),
    "read": _asked(lambda said, asker: asker.index.read(said), _read_place),
    "impact": _asked(lambda said, asker: asker.index.impact(said, only=[*Touched], limit=500), _since),
    "resolve": _asked(lambda said, asker: asker.index.resolve(said), _any_uri),
    "source_slice": _asked(lambda said, asker: asker.index.source_slice(said), _uri("SourceSliceBlobUri")),
    "description": _asked(lambda said, asker: asker.index.description(said), _uri("DescriptionBlobUri")),
    "group search": _of_group(lambda group, said: group.search(said, limit=200, explain=True)),
    "group similar": _of_group(lambda group, said: group.similar(said, limit=200, explain=True)),
    "group ask": _of_group(lambda group, said: group.ask(said)),
    "compare_search": _compared,
    "graph": _walked,
}


# the command line


def _command(*words: str, about: Callable[[World, Asker, Random], str] | None = None, label: bool = True) -> Entry:
    """A command as somebody types it who has the role of the asker: `--json` in half of the cases."""

    def entry(world: World, asker: Asker, chance: Random) -> Request:
        said = [about(world, asker, chance)] if about is not None else []
        chosen = ["--label", asker.shop.label] if label else []
        return typed(world, asker, chance, (*words, *chosen, *_also(words, chance), "--", *said))

    return entry


def _also(words: tuple[str, ...], chance: Random) -> list[str]:
    made = ["--json"] if chance.random() < 0.5 else []
    if words[0] == "search":
        made += chance.choice([[], ["--explain"], ["--limit", "100"], ["--mode", "bm25", "--kind", "Service"]])
    return made


def typed(
    world: World,
    asker: Asker,
    chance: Random,
    words: tuple[str, ...],
    labels: tuple[str, ...] = (),
    spoken: str | None = None,
) -> Request:
    role = () if asker.role is None else ("--role", asker.role)
    cli = CommandLine(world.home, world.folder)
    done = cli.run(*words, options=("--config", str(world.folder / CONFIG), *role), spoken=spoken)
    return Request(" ".join((*words, spoken or "")), done.out + done.err, labels or (asker.shop.label,))


def _show(world: World, asker: Asker, chance: Random) -> Request:
    point = chance.choice([_identifier, _any_uri, _place])(world, asker, chance)
    return typed(world, asker, chance, ("show", "--label", asker.shop.label, *_also(("show",), chance), "--", point))


def _read(world: World, asker: Asker, chance: Random) -> Request:
    """A place as it is indexed, at either commit of the label, or in the work tree."""
    commits = asker.shop.repository.git("rev-list", "--all").split()
    version = chance.choice([(), ("--work-tree",), ("--commit", chance.choice(commits))])
    also = (*version, *chance.choice([(), ("--max-tokens", "200")]), *_also(("read",), chance))
    said = _read_place(world, asker, chance)
    return typed(world, asker, chance, ("read", "--label", asker.shop.label, *also, "--", said))


def _cite(world: World, asker: Asker, chance: Random) -> Request:
    """A document with places and quotes of somebody else."""
    lines = [
        f"`{_node(world, asker, chance)}` in {_place(world, asker, chance)} says “{_query(world, asker, chance)}”.\n\n"
        for _ in range(3)
    ]
    said = ("cite", "check", "--label", asker.shop.label, *_also(("cite",), chance))
    return typed(world, asker, chance, said, spoken="".join(lines))


def _talk(world: World, asker: Asker, chance: Random) -> Request:
    """A conversation of two questions, and what it can be asked about its answers."""
    said = [_query(world, asker, chance), "/sources", "/graph", "/why", f"and {_query(world, asker, chance)}", "/quit"]
    return typed(world, asker, chance, ("chat", "--label", asker.shop.label), spoken="\n".join(said))


def _artifact(world: World, asker: Asker, chance: Random) -> Request:
    what = chance.choice(["blueprint", "pdr", "workflow", "build_plan"])
    also = _also(("artifact",), chance)
    said = ("artifact", "--label", asker.shop.label, *also, what, "--", _query(world, asker, chance))
    return typed(world, asker, chance, said)


def _everywhere(world: World, asker: Asker, chance: Random) -> Request:
    """All labels of the asker's organisation, as one or two of them compared."""
    own = tuple(shop.label for shop in world.shops if shop.org == asker.shop.org)
    if chance.random() < 0.5:
        words: tuple[str, ...] = ("search", "--all", "--org", asker.shop.org)
    else:
        other = chance.choice(world.shops).label
        words = ("search", "--compare", "--label", asker.shop.label, "--label", other)
    return typed(world, asker, chance, (*words, "--json", "--", _query(world, asker, chance)), own)


def _generations(world: World, asker: Asker, chance: Random) -> Request:
    """Two generations of the label, or one of it and one of somebody else."""
    own = chance.choice(asker.shop.generations)
    other = chance.choice(world.shops)
    words = (f"{asker.shop.label}:{own}", f"{other.label}:{chance.choice(other.generations)}")
    limit = chance.choice([(), ("--limit", "0"), ("--graph",), ("--graph", "--limit", "0")])
    labels = tuple(shop.label for shop in (asker.shop, other) if shop.org == asker.shop.org)
    said = ("generations", "compare", *words, *limit, *_also(("generations",), chance))
    return typed(world, asker, chance, said, labels)


def _impact(world: World, asker: Asker, chance: Random) -> Request:
    also = chance.choice([(), ("--only", "code,document"), ("--until", "main")])
    said = ("impact", "--label", asker.shop.label, "--since", _since(world, asker, chance), *also)
    return typed(world, asker, chance, (*said, *_also(said, chance)))


def _eval_compare(world: World, asker: Asker, chance: Random) -> Request:
    old, new = (f"{asker.shop.label}:{known}" for known in asker.shop.generations)
    chosen = chance.choice([QUESTIONS, QUESTIONS.partition(".")[0]])
    said = ("eval", "compare", old, new, "--set", chosen, *_also(("eval",), chance))
    return typed(world, asker, chance, said)


def _eval_run(world: World, asker: Asker, chance: Random) -> Request:
    generation = chance.choice(asker.shop.generations)
    said = ("eval", "run", asker.shop.label, "--set", QUESTIONS, "-g", generation, *_also(("eval",), chance))
    return typed(world, asker, chance, said)


def _eval_tokens(world: World, asker: Asker, chance: Random) -> Request:
    generation = chance.choice(asker.shop.generations)
    said = ("eval", "tokens", QUESTIONS, "--label", asker.shop.label, "-g", generation, *_also(("eval",), chance))
    return typed(world, asker, chance, said)


def _mined(world: World, asker: Asker, chance: Random) -> Request:
    first = asker.shop.repository.git("rev-list", "--max-parents=0", "HEAD")
    return typed(world, asker, chance, ("eval", "mine", asker.shop.label, "--since", first))


def _report(world: World, asker: Asker, chance: Random) -> Request:
    return typed(world, asker, chance, ("eval", "report", asker.shop.label))


def _path(world: World, asker: Asker, chance: Random) -> Request:
    ends = (_node(world, asker, chance), _node(world, asker, chance))
    return typed(world, asker, chance, ("graph", "path", "--label", asker.shop.label, "--json", "--", *ends))


COMMANDS: Mapping[str, Entry] = {
    "search": _command("search", about=_query),
    "search --all": _everywhere,
    "ask": _command("ask", about=_query),
    "artifact": _artifact,
    "chat": _talk,
    "read": _read,
    "show": _show,
    "cite check": _cite,
    "explain": _command("explain", about=_place),
    "status": _command("status", "--skipped"),
    "graph around": _command("graph", "around", about=_node),
    "graph callers": _command("graph", "callers", about=_node),
    "graph path": _path,
    "graph impact": _command("graph", "impact", about=_node),
    "graph uses": _command("graph", "uses", about=_node),
    "graph overview": _command("graph", "overview"),
    "graph list": _command("graph", "list", "METHOD"),
    "impact": _impact,
    "generations compare": _generations,
    "eval run": _eval_run,
    "eval tokens": _eval_tokens,
    "eval compare": _eval_compare,
    "eval report": _report,
    "eval mine": _mined,
}

ENTRIES: Mapping[str, Entry] = {
    **{f"library {name}": entry for name, entry in LIBRARY.items()},
    **{f"command {name}": entry for name, entry in COMMANDS.items()},
}
