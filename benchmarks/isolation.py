"""Adversarial requests of many tenants and roles to every public entry: how many show what their reader must not see?

    python benchmarks/isolation.py [--requests 10000] [--pairs 2300] [--served 10000] [--seed 1] [--server]

Half of the requests go to one store that has the very same texts of twelve owners at every level of confidentiality
(`rag_assets_tests/search/tenants.py`); any point of somebody else that is shown is a leak. The other half goes to real
indexes of three owners, through the library and the command line (`rag_assets_tests/isolation`), whose files have words
that give a leak away. Besides, `--served` requests go to every route, tool and resource of `rag-assets serve` with the
tokens of all roles and organisations. A pair is a request with a word that only hidden texts have, and the same request
with one that is nowhere: two answers that differ in more than the word are a leak. Ends with code 1 where there is one.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from report import table

from rag_assets.index.layout import IndexHome
from rag_assets_tests.isolation.hidden_words import PAIRED, told_apart
from rag_assets_tests.isolation.public_entries import ENTRIES, Request
from rag_assets_tests.isolation.served_entries import SERVED, served
from rag_assets_tests.isolation.walled_shops import Asker, World, walled_shops
from rag_assets_tests.search.tenants import OWNERS, askers, shown


@dataclass
class Tally:
    """Of one entry; `answered` had something of the asker's own to show, CPU is of this process."""

    asked: int = 0
    answered: int = 0
    seconds: float = 0.0
    leaks: Counter[str] = field(default_factory=Counter)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=2_300)
    parser.add_argument("--served", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", action="store_true", help="one collection of a server instead of an embedded store")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    half = options.requests // 2
    with tempfile.TemporaryDirectory() as folder:
        tallies = {f"one store of {len(OWNERS)} owners": one_store(Path(folder), half, chance, options.server)}
    with tempfile.TemporaryDirectory() as folder:
        tallies |= every_entry(Path(folder), options.requests - half, options.pairs, chance)
    with tempfile.TemporaryDirectory() as folder:
        tallies |= every_route(Path(folder), options.served, chance)
    rows = [
        (
            name,
            f"{one.asked:,}",
            f"{one.answered:,}",
            f"{1000 * one.seconds / max(one.asked, 1):.1f}",
            str(len(one.leaks)),
        )
        for name, one in tallies.items()
    ]
    leaks = [f"{name}: {leak}" for name, one in tallies.items() for leak in sorted(one.leaks)]
    total = (
        "all",
        f"{options.requests + options.pairs + options.served:,}",
        f"{sum(one.answered for one in tallies.values()):,}",
        "",
        str(len(leaks)),
    )
    table(("entry", "requests", "answered", "CPU ms each", "leaks"), [*rows, total])
    for leak in leaks:
        print(f"leaked by {leak}")
    return 1 if leaks else 0


def one_store(folder: Path, requests: int, chance: random.Random, on_server: bool) -> Tally:
    made = Tally(asked=requests)
    with askers(IndexHome(folder), on_server=on_server) as everybody:
        begun = time.process_time()
        for _ in range(requests):
            asked = chance.choice(everybody)
            found = shown(asked, everybody, chance)
            made.answered += bool(found)
            made.leaks.update(found - asked.allowed)
        made.seconds = time.process_time() - begun
    return made


def every_entry(folder: Path, requests: int, pairs: int, chance: random.Random) -> dict[str, Tally]:
    """Each entry is asked equally often."""
    names, paired = sorted(ENTRIES), sorted(PAIRED)
    made = {name: Tally() for name in names} | {f"pairs of {name}": Tally() for name in paired}
    with walled_shops(folder) as world:
        _ask(made, ENTRIES, world, world, requests, chance)
        for number in range(pairs):
            name = paired[number % len(paired)]
            asked, one = chance.choice([one for one in world.askers if one.above]), made[f"pairs of {name}"]
            begun = time.process_time()
            told = told_apart(world, asked, name, f"{number}")
            one.seconds += time.process_time() - begun
            one.asked += 1
            one.answered += not told
            one.leaks.update([f"{asked.shop.label} as {asked.role}: {told}"] if told else [])
    return made


def every_route(folder: Path, requests: int, chance: random.Random) -> dict[str, Tally]:
    made = {name: Tally() for name in SERVED}
    with walled_shops(folder) as world, served(world) as server:
        _ask(made, SERVED, server, world, requests, chance)
    return made


def _ask(
    made: dict[str, Tally],
    entries: Mapping[str, Callable[[Any, Asker, random.Random], Request]],
    behind: object,
    world: World,
    requests: int,
    chance: random.Random,
) -> None:
    """Asks each entry equally often, as anybody; `behind` is what the entries are of."""
    names = sorted(entries)
    for number in range(requests):
        name = names[number % len(names)]
        asked, one = chance.choice(world.askers), made[name]
        begun = time.process_time()
        found = entries[name](behind, asked, chance)
        one.seconds += time.process_time() - begun
        one.asked += 1
        one.answered += bool(world.leaks(found.shown, found.said, (), asked.clearance))
        one.leaks.update(world.leaks(found.shown, found.said, found.labels, asked.clearance))


if __name__ == "__main__":
    raise SystemExit(main())
