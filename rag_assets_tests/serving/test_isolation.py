"""No route, tool or resource shows what its caller must not see (B02, E12, R17)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets_tests.isolation.served_entries import SERVED, TOOLS, ServedWorld, served
from rag_assets_tests.isolation.walled_shops import walled_shops

REQUESTS = 8
"""Of each entry; `benchmarks/isolation.py` makes 10,000 in all."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWorld]:
    with walled_shops(tmp_path_factory.mktemp("served")) as made, served(made) as one:
        yield one


@pytest.mark.rule("B02", "E12", "R17")
@pytest.mark.parametrize("name", SERVED)
def test_nothing_behind_a_wall_is_served(world: ServedWorld, name: str) -> None:
    chance = random.Random(f"requests of {name}")
    for number in range(REQUESTS):
        asked = chance.choice(world.world.askers)
        found = SERVED[name](world, asked, chance)
        leaked = world.world.leaks(found.shown, found.said, found.labels, asked.clearance)
        assert not leaked, f"{number}: {found.said!r} of {asked.shop.org} as {asked.role}: {leaked}\n{found.shown}"


@pytest.mark.rule("B02")
def test_a_label_of_somebody_else_does_not_exist(world: ServedWorld) -> None:
    """It is told as a label that is nowhere."""
    stranger = next(one for one in world.world.askers if one.shop.org == "globex")

    def told(label: str) -> str:
        answers = []
        for name, arguments in TOOLS.items():
            asked = arguments(world.world, stranger, random.Random(1)) | {"label": label}
            answers.append(
                world.client.post(f"/api/v1/{name}", json=asked, headers=world.headers(stranger)).json()["error"][
                    "message"
                ]
            )
        return "\n".join(answers).replace(label, "LABEL")

    assert told("shop@main") == told("ship@main")


@pytest.mark.rule("E12")
def test_who_sees_everything_is_served_everything(world: ServedWorld) -> None:
    """The tests above could pass with a server that tells nothing."""
    one = next(one for one in world.world.askers if one.role == "restricted" and one.shop.label == "shop@main")
    hidden = one.shop.canary(Confidentiality.RESTRICTED)
    code = {"place": one.shop.code(Confidentiality.RESTRICTED), "label": "shop@main"}
    assert hidden.secret in world.client.post("/api/v1/read", json=code, headers=world.headers(one)).text
    asked = {"query": f"OrderService{hidden.name.capitalize()}", "label": "shop@main"}
    assert hidden.name in world.client.post("/api/v1/search", json=asked, headers=world.headers(one)).text.lower()
