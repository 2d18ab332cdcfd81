"""Adversarial requests against one store of many tenants with the very same texts: how many show a foreign point?

    python benchmarks/isolation.py [--requests 10000] [--seed 1] [--server]

Prints requests, leaks and CPU time, and ends with code 1 where there is a leak. The requests are those of
`rag_assets_tests/query/tenants.py`: every public entry, filters, phrases, traces, ids and names of other tenants.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from pathlib import Path

from rag_assets.stores.home import Home
from rag_assets_tests.query.tenants import OWNERS, askers, shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", action="store_true", help="one collection of a server instead of an embedded store")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    leaked: set[str] = set()
    answered = points = 0
    with tempfile.TemporaryDirectory() as folder, askers(Home(Path(folder)), on_server=options.server) as everybody:
        begun = time.process_time()
        for _ in range(options.requests):
            asked = chance.choice(everybody)
            found = shown(asked, everybody, chance)
            answered += bool(found)
            points += len(found)
            leaked |= found - asked.allowed
        spent = time.process_time() - begun
    print(f"{options.requests:,} requests of {len(OWNERS)} owners with {len(everybody)} indexes: {len(leaked)} leaks")
    print(f"{answered:,} were answered, with {points:,} points")
    print(f"{1000 * spent / options.requests:.2f} ms of CPU a request")
    for point in sorted(leaked):
        print(f"leaked {point}")
    return 1 if leaked else 0


if __name__ == "__main__":
    raise SystemExit(main())
