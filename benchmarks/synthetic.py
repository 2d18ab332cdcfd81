"""A repository that nobody wrote: C# of the usual shapes, SQL, RESX and markdown, of any size, the same everywhere.

    python benchmarks/synthetic.py FOLDER --files 2000 --commits 6

One area has a file of each kind (entity, contracts, service, repository, EF context, controller, tests …) that refer to
each other as in a real solution, so that constructor injection, resources and SQL have something to be resolved. Names
come from word lists and repeat with a number once these are used up: as in real code the vocabulary grows more slowly
than the files. The first commit has all files; each later one edits, adds, moves and deletes a few.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from history import Commit, Content, write_history
from synthetic_files import CONTRACT, ENTITY, FILES, SERVICE, TESTS, TEXTS, written


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_DOMAINS = _words("Ordering Billing Catalog Shipping Identity Support Planning Quality")
_QUALITIES = _words(
    """Active Archived Blocked Central Daily Delayed Digital Direct Early External Final Foreign Global Grouped Hidden
    Imported Internal Joint Late Local Managed Merged Monthly Nested Open Partial Pending Private Public Quick Regional
    Rejected Remote Secure Shared Signed Special Split Urgent Weekly"""
)
_THINGS = _words(
    """Account Address Agreement Alert Amount Approval Asset Balance Batch Booking Budget Campaign Carrier Case Category
    Certificate Charge Claim Contact Contract Coupon Credit Customer Deposit Device Discount Document Dispute Event Fee
    Forecast Invoice Item Journal Lease License Location Member Message Mission Note Offer Order Package Parcel Payment
    Permit Plan Policy Price Product Project Quota Quote Rating Receipt Refund Report Reservation Return Route Schedule
    Session Shipment Site Stock Subscription Supplier Survey Task Tax Ticket Tour Transfer Vehicle Vendor Visit"""
)
_VERBS = _words(
    "Approve Cancel Check Close Confirm Extend Find List Load Merge Notify Price Reject Release Split Update"
)
_REASONS = _words("expired duplicate incomplete overdue unpaid invalid foreign unknown")
_PROPERTIES = _words("Name Code Total Currency Reference Comment Owner Quantity Priority Region")
_MEMBERS = 5  # operations of a service, properties of an entity
_EDITED_AREAS = 4  # by one commit
_NAME_STEP = 37  # neighbouring areas get different names; shares no factor with the numbers of words


@dataclass(frozen=True, slots=True)
class Area:
    """A business thing with all that belongs to it. `version` counts how often its code was changed."""

    number: int
    seed: int
    version: int = 0

    @property
    def domain(self) -> str:
        return _DOMAINS[self.number % len(_DOMAINS)]

    @property
    def entity(self) -> str:
        again, pick = divmod(self.number * _NAME_STEP, len(_THINGS) * len(_QUALITIES))
        quality, thing = divmod(pick, len(_THINGS))
        return f"{_QUALITIES[quality]}{_THINGS[thing]}{again or ''}"

    @property
    def namespace(self) -> str:
        return f"Synthetic.{self.domain}.{self.entity}s"

    @property
    def operations(self) -> list[tuple[str, str]]:
        verbs = self._random("operations").sample(_VERBS, _MEMBERS)
        return list(zip(verbs, self._random(f"reasons {self.version}").choices(_REASONS, k=_MEMBERS), strict=True))

    @property
    def properties(self) -> list[tuple[str, str]]:
        names = self._random("properties").sample(_PROPERTIES, _MEMBERS)
        return [(name, "decimal" if name in ("Total", "Quantity") else "string") for name in names]

    def path(self, name: str, folder: str = "") -> str:
        """Of a file whose name has a place for the entity."""
        return f"src/{self.domain}/{self.entity}s/{folder}{name.format(self.entity)}"

    def files(self, *names: str) -> Iterator[tuple[str, Content]]:
        """(path, text) of the files with these names; without names of all."""
        return ((self.path(name), written(FILES[name], self)) for name in names or FILES)

    def _random(self, use: str) -> random.Random:
        return random.Random(f"{self.seed}:{self.number}:{use}")


def repository(path: Path, *, files: int, commits: int = 1, seed: int = 0) -> dict[str, str]:
    """Makes a bare repository with a branch main and returns commit name → id, in order ("c0" is the first)."""
    return write_history(path, history(files, commits, seed))


def history(files: int, commits: int, seed: int = 0) -> Iterator[Commit]:
    """The commits; the first has exactly `files` files. One area is moved at most once and not edited from then on."""
    areas, rest = divmod(files, len(FILES))
    yield Commit(name="c0", put=_first(areas, rest, seed))
    chosen = random.Random(f"{seed}:changes")
    settled = list(range(areas))
    for number in range(1, commits):
        edited = chosen.sample(settled, min(len(settled), _EDITED_AREAS))
        move: dict[str, str] = {}
        delete: list[str] = []
        if len(settled) > _EDITED_AREAS:
            going = chosen.choice([area for area in settled if area not in edited])
            settled.remove(going)
            area = Area(going, seed)
            move = {area.path(ENTITY): area.path(ENTITY, "Model/")}
            delete = [area.path(TESTS)]
        yield Commit(name=f"c{number}", move=move, delete=delete, put=_changes(edited, areas + number, seed, number))


def _first(areas: int, rest: int, seed: int) -> Iterator[tuple[str, Content]]:
    for number in range(areas):
        yield from Area(number, seed).files()
    yield from Area(areas, seed).files(*list(FILES)[:rest]) if rest else ()


def _changes(edited: list[int], new: int, seed: int, version: int) -> Iterator[tuple[str, Content]]:
    """What one commit writes: bodies of services, every second time contracts and texts too, a new area, a document."""
    names = (SERVICE,) if version % 2 else (SERVICE, CONTRACT, TEXTS)
    for number in edited:
        yield from Area(number, seed, version).files(*names)
    yield from Area(new, seed).files()
    yield "docs/changes.md", f"# Changes\n\n## Edition {version}\n\n{len(edited)} services work in another way.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="of the new bare repository")
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--commits", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    made = repository(arguments.folder, files=arguments.files, commits=arguments.commits, seed=arguments.seed)
    for name, commit in made.items():
        print(name, commit)


if __name__ == "__main__":
    main()
