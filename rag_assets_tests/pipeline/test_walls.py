"""Files of several levels in one label: what a description tells of others, and what changes with the levels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets.contracts.confidentiality import Confidentiality
from rag_assets.dependency_trace import ScopedServices, in_scope, replay_lookups, trace, tracked
from rag_assets.index.generations import Generation, read_generation
from rag_assets.index.layout import IndexHome
from rag_assets_tests.git_repository import Repository
from rag_assets_tests.pipeline.conftest import Built, built, lexical

pytestmark = pytest.mark.rule("E12")
FILES: dict[str, str | bytes] = {
    "open/Ledger.cs": "namespace Shop;\npublic partial class Ledger\n{\n    public void Show() { }\n}\n",
    "pay/Ledger.cs": "namespace Shop;\npublic partial class Ledger\n{\n    public void Pay() { }\n}\n",
    "open/IPayer.cs": "namespace Shop;\npublic interface IPayer\n{\n    void Pay();\n}\n",
    "pay/Payer.cs": "namespace Shop;\npublic class Payer : IPayer\n{\n    public void Pay() { }\n}\n",
}
WALL = {"pay": "restricted"}
OTHER_WALL = {"open": "restricted"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.new(tmp_path_factory.mktemp("walls") / "source", FILES)


def described(label: Built) -> dict[tuple[str, str], str]:
    """(path, section) → its description, as who sees everything reads it."""
    home = IndexHome(label.settings.home)
    generation = read_generation(home, label.label, label.build.spec.generation_id)
    return dict(_described(home, generation))


def _described(home: IndexHome, generation: Generation) -> Iterator[tuple[tuple[str, str], str]]:
    with Index(home, generation, clearance=Confidentiality.RESTRICTED) as index:
        shard, scope = index.parts.shard(), index.scope()
        for payload in shard.retrieve(list(shard.ids(scope)), scope).values():
            yield (payload["Path"], payload["SectionKey"]), index.description(payload["DescriptionBlobUri"])


def of_path(texts: dict[tuple[str, str], str], path: str) -> str:
    return "\n".join(text for (known, _), text in sorted(texts.items()) if known == path)


@pytest.mark.parametrize(
    ("levels", "open_tells", "pay_tells"),
    [
        ({}, True, True),
        (WALL, False, True),
        (OTHER_WALL, True, False),
        ({"open": "restricted", "pay": "restricted"}, 1, 1),
    ],
    ids=["no walls", "pay is hidden", "open is hidden", "one level"],
)
def test_a_file_tells_of_those_that_its_readers_may_see(
    source: Repository, tmp_path: Path, levels: dict[str, str], open_tells: bool, pay_tells: bool
) -> None:
    texts = described(built(source, lexical(tmp_path / "home"), confidential_paths=levels))
    assert ("pay/Ledger.cs" in of_path(texts, "open/Ledger.cs")) == open_tells
    assert ("Shop.Payer" in of_path(texts, "open/IPayer.cs")) == open_tells
    assert ("open/Ledger.cs" in of_path(texts, "pay/Ledger.cs")) == pay_tells


def test_other_levels_describe_as_a_clean_build_does(source: Repository, tmp_path: Path) -> None:
    """What an earlier build described is found again only where the walls are the same."""
    one_home = lexical(tmp_path / "home")
    for number, levels in enumerate(({}, WALL, OTHER_WALL, WALL, {})):
        clean = built(source, lexical(tmp_path / f"clean{number}"), confidential_paths=levels)
        later = built(source, one_home, confidential_paths=levels)
        assert described(later) == described(clean), levels
    assert later.reports["descriptions"].work["described"] == 0, "the first of them was kept"


class Names:
    """A service with one question."""

    def __init__(self, *names: str) -> None:
        self.names = names

    @tracked("names.all")
    def all(self) -> tuple[str, ...]:
        return self.names


def test_questions_behind_walls_are_asked_of_those_behind_them() -> None:
    everyone, few = Names("a", "b"), Names("a")
    with trace() as answers:
        everyone.all()
        with in_scope("public"):
            assert few.all() == ("a",)
        with in_scope(""):
            assert everyone.all() == ("a", "b")
    assert answers == {("names.all", ()): ("a", "b"), ("public/names.all", ()): ("a",)}
    assert replay_lookups([everyone, ScopedServices("public", (few,))], answers) == answers
    with pytest.raises(KeyError):
        replay_lookups([everyone], answers)
