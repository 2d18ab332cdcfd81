"""All overloads of a method that a question names, each by its parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from rag_assets.answer.graph_facts import Facts, GraphFact, GraphFacts, facts_at
from rag_assets.answer.plans.code_lines import MOST_LISTED, lines_of, list_heading
from rag_assets.answer.plans.listing import places_of
from rag_assets.contracts.graph import NodeType
from rag_assets.graph.csr_graph import Graph
from rag_assets.graph.declared_types import of_kind
from rag_assets.search.index import LabelIndex
from rag_assets.search.ranking.penalties import non_product_code

_MOST_BEFORE = 40
_PARAMETERS = re.compile(r"\((?P<all>.*)\)[^)]*$", re.DOTALL)


def overload_facts(index: LabelIndex, graph: Graph, names: Sequence[str]) -> Facts:
    """Where the product declares each method that is called so, of the type that a name says, if it says one."""
    for name in names:
        owner, _, last = name.rpartition(".")
        nodes = [node for node in of_kind(graph, NodeType.METHOD) if graph.names[node].rpartition(".")[2] == last]
        places = [one for one in places_of(graph, np.array(nodes, np.int64)) if non_product_code(one.path) is None]
        lines = lines_of(index, {one.path for one in places})
        written = re.compile(rf"(?<![\w.]){re.escape(last)}\s*[(<]")
        found: dict[tuple[str, int], GraphFact] = {}
        for one in sorted(places, key=lambda one: (one.path, one.line)):
            symbol = one.key.partition("|")[0]
            before, parameters = symbol.partition("(")[0], _PARAMETERS.search(symbol.rpartition(f".{last}")[2])
            if owner and not re.search(rf"(?<!\w){re.escape(owner)}(?:\W|$)", before or symbol):
                continue
            said = f"{last}({parameters['all']})" if parameters else last
            known = lines.get(one.path, {})
            near = range(one.line, one.line + _MOST_BEFORE)  # behind its comment and its attributes
            line = next((at for at in near if written.search(known.get(at, ""))), one.line)
            found.setdefault((one.path, line), GraphFact(said, "", "", one.path, line, certain=True, is_comment=True))
        if found:
            facts = [*found.values()]
            at = facts_at(facts[:MOST_LISTED], index)
            heading = list_heading("overload", len(facts)).replace(":**", f" of {last}:**")
            return GraphFacts(tuple(at), len(facts), heading), at
    return GraphFacts(), {}
