"""Ways of asking the same: how many questions get the answer of the plain one, whatever is said around them.

    python benchmarks/ways_of_asking.py --home HOME --label LABEL [--questions FILE]

Asks each question of FILE, one a line, and for the sorts below "which … are there?", in the ways of `AROUND` and
`LISTS`. Prints of each way how many answers begin as that of the plain question, with what `search.wording` and
`list_asked` take off and, as the floor, without both. Offline, not logged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from report import table

from rag_assets import AskOptions, Index, open_index

SORTS = (
    *(
        "endpoints",
        "controllers",
        "services",
        "repositories",
        "events",
        "commands",
        "validators",
        "enums",
        "interfaces",
    ),
    *("exceptions", "settings", "packages", "projects", "tests", "migrations", "tables", "entities", "records"),
)
AROUND: Mapping[str, Callable[[str], str]] = {
    "can you tell me …?": lambda asked: f"can you tell me {asked}?",
    "please tell me …": lambda asked: f"please tell me {asked}",
    "I'd like to know …": lambda asked: f"I'd like to know {asked}",
    "I was wondering …": lambda asked: f"I was wondering {asked}",
    "explain …": lambda asked: f"explain {asked}",
    "so, …?": lambda asked: f"so, {asked}?",
    "… in this project?": lambda asked: f"{asked} in this project?",
    "… exactly?": lambda asked: f"{asked} exactly?",
    "Hi! …? Thanks!": lambda asked: f"Hi! {asked[:1].upper()}{asked[1:]}? Thanks!",
}
LISTS = (
    "what {} exist?",
    "list all {}",
    "can you list the {}?",
    "I need a list of all {}",
    "do we have {}?",
    "how many {} are there?",
    "where are the {}?",
    "{}",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--label", required=True)
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    lines = options.questions.read_text("utf-8").splitlines() if options.questions else []
    plain = [line.strip().rstrip("?") for line in lines if line.strip()]
    with open_index(options.label, home=options.home) as index:
        told = same_by_way(index, plain)
        with (
            patch("rag_assets.search.wording.plainly", lambda text: text),
            patch("rag_assets.answer.planner.list_asked", lambda *_, **__: ""),
        ):
            floor = same_by_way(index, plain)
    rows = [[way, f"{told[way][0]} of {told[way][1]}", f"{floor[way][0]}"] for way in told]
    table(["asked as", "answered as the plain question", "as typed"], rows)


def same_by_way(index: Index, plain: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Of each way how many answers begin as the plain one, and how many were asked."""
    found = {}
    usual = {asked: begins(index, f"{asked}?") for asked in plain}
    usual |= {sort: begins(index, f"which {sort} are there?") for sort in SORTS}
    for way, said in AROUND.items() if plain else ():
        same = [begins(index, said(asked)) == usual[asked] for asked in plain]
        found[way] = (sum(same), len(same))
    for way in LISTS:
        same = [begins(index, way.format(sort)) == usual[sort] for sort in SORTS]
        found[way] = (sum(same), len(same))
    return found


def begins(index: Index, question: str) -> str:
    return index.ask(question, options=AskOptions(offline=True)).text.strip().split("\n")[0]


if __name__ == "__main__":
    main()
