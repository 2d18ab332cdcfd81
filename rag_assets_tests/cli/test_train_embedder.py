"""A table of one's own, on the way of a user: trained on an indexed repository, configured, indexed with, searched."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import FILES, CommandLine, index_without_dagster, new_repository

pytest.importorskip("scipy", reason="only training needs it")

from rag_assets.training.model import Table
from rag_assets.training.own_table import KindScore
from rag_assets.training.own_table import Trained as TrainedTable

PARTS = {
    "Falcon": "billing",
    "Marble": "shipping",
    "Cedar": "payroll",
    "Anchor": "inventory",
    "Velvet": "taxation",
    "Copper": "insurance",
    "Harbor": "recruiting",
    "Lantern": "marketing",
    "Meadow": "legal",
    "Orchid": "travel",
    "Pepper": "pension",
    "Quartz": "customs",
    "Raven": "catering",
}
"""What the team calls a part in its code, and what everybody else calls it: no table can know that they are one."""
VERBS = ("Load", "Store", "Merge", "Check", "Print", "Count")
NOUNS = ("Entry", "Report", "Total", "Draft")


def source_of(code_name: str, business: str) -> str:
    members = [
        f"    /// <summary>{verb}s the {noun.lower()} that {business} people need today.</summary>\n"
        f"    public int {verb}{code_name}{noun}(int number, string owner) =>\n"
        f"        {code_name.lower()}Items.{verb}(number, owner).Length + number;\n\n"
        for verb, noun in product(VERBS, NOUNS)
    ]
    return f"namespace House.{code_name};\n\npublic class {code_name}Desk\n{{\n{''.join(members)}}}\n"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"src/{name}Desk.cs": source_of(name, business) for name, business in PARTS.items()}
    return new_repository(tmp_path_factory.mktemp("house") / "house", files).path


@dataclass(frozen=True)
class Trained:
    cli: CommandLine
    house: Path
    told: dict[str, Any]
    said: str

    @property
    def file(self) -> Path:
        return Path(self.told["file"])


@pytest.fixture(scope="module")
def trained(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """An index of the house, and a table of its own, made by the command and not used yet."""
    base = tmp_path_factory.mktemp("trained")
    (base / "here").mkdir()
    cli = CommandLine(IndexHome(base / "home"), base / "here")
    cli.build(house)
    done = cli.run("train-embedder", "--from", "house", "--json")
    assert done.code == 0, done.err
    return Trained(cli, house, done.json, done.err)


def configure(cli: CommandLine, table: Path | str) -> None:
    embedder = {"provider": "static-code", "table": str(table)}
    (cli.folder / "rag_assets.yaml").write_text(json.dumps({"embedder": embedder}), encoding="utf-8")


def models(cli: CommandLine) -> list[Path]:
    return sorted(cli.home.root.glob("models/*"))


def test_a_better_table_is_written_into_the_home_and_said_how_to_use(trained: Trained) -> None:
    told = trained.told
    assert models(trained.cli) == [trained.file]
    assert (told["better"], told["fell"]) == (True, [])
    assert told["model"] == trained.file.stem and re.fullmatch(r"static-code-own-[0-9a-f]{8}", told["model"])
    gained = {kind["kind"]: kind["dense_after"] - kind["dense_before"] for kind in told["kinds"]}
    assert gained["documentation"] > 0.1 and gained["name"] > -0.01
    assert f'embedder: {{provider: static-code, table: "{trained.file}"}}' in trained.said


def test_an_index_is_built_and_searched_with_the_configured_table(trained: Trained) -> None:
    cli, question = trained.cli, ("search", "payroll people", "--mode", "semantic", "--json")
    configure(cli, trained.file)
    before = cli.run(*question).json
    assert before["hits"] and before["warnings"] == [], "the index of the other table is served until the next build"
    cli.build(trained.house)
    assert trained.told["model"] in str(cli.run("status", "--json").json)
    assert trained.told["model"] in cli.run("doctor").out
    found = cli.run(*question).json
    assert (found["hits"][0]["path"], found["warnings"]) == ("src/CedarDesk.cs", [])

    (cli.folder / "rag_assets.yaml").unlink()
    assert cli.run(*question).json["hits"] == found["hits"], "without a configuration the home has the table"
    moved = trained.file.rename(cli.folder / "moved.bin")
    (warning,) = cli.run(*question[:2], "--json").json["warnings"]
    assert "neither" in warning and "rag-assets index" in warning
    configure(cli, "moved.bin")  # relative to the configuration file
    assert cli.run(*question).json["hits"] == found["hits"]
    moved.rename(trained.file)
    (cli.folder / "rag_assets.yaml").unlink()


def test_nothing_is_learnt_of_what_the_index_leaves_out_or_hides(
    trained: Trained, cli: CommandLine, tmp_path: Path
) -> None:
    """The table is the one of the house without these files: excluded, ignored by the tree, or above the reader. Its
    bytes are the same too: the same pairs and seed give the same table."""
    files = {f"src/{name}Desk.cs": source_of(name, business) for name, business in PARTS.items()}
    kept_out = {f"{place}/Desk.cs": source_of("Walnut", "espionage") for place in ("drafts", "private", "secret")}
    made = new_repository(tmp_path / "house", {**files, **kept_out, ".rag_assets_ignore": "private/\n"})
    changed = {path: text.replace("today", "tomorrow") for path, text in kept_out.items()}
    made.commit(changed, "Espionage people need their papers tomorrow morning")
    repository = {"id": "house", "location": str(made.path), "ref": "main", "exclude": ["drafts/"]}
    told = {"repositories": [repository | {"confidential_paths": {"secret/": "confidential"}}]}
    (cli.folder / "rag_assets.yaml").write_text(json.dumps(told), encoding="utf-8")
    cli.build("house", lexical_only=True)
    learnt = cli.run("train-embedder", "--from", "house", "--to", "own.bin", "--json").json
    assert (learnt["pairs"], learnt["model"]) == (trained.told["pairs"], trained.told["model"])
    assert (cli.folder / "own.bin").read_bytes() == trained.file.read_bytes()
    refused = cli.run("train-embedder", "--from", "house", "--to", "own.bin")
    assert refused.code == 2 and "--force" in refused.err


def test_who_may_see_hidden_files_learns_of_them(cli: CommandLine, tmp_path: Path) -> None:
    """Told by the number of pairs, too few of which are said before any work."""
    shop = new_repository(tmp_path / "shop", FILES | {"secret/Desk.cs": source_of("Walnut", "espionage")})
    repository = {"id": "shop", "location": str(shop.path), "confidential_paths": {"secret/": "confidential"}}
    told = {"repositories": [repository], "roles": {"chief": "restricted"}}
    (cli.folder / "rag_assets.yaml").write_text(json.dumps(told), encoding="utf-8")
    cli.build("shop", lexical_only=True)
    home, words = ("--home", str(cli.home.root)), ("train-embedder", "--from", "shop")
    said = [cli.run(*words, options=(*home, *role)).err for role in ((), ("--role", "chief"))]
    public, all_of_them = (re.search(r"shop@main: (\d+) pairs", one) for one in said)
    assert public is not None and all_of_them is not None
    assert (int(public[1]), int(all_of_them[1]) > 20) == (2, True)


def test_gc_removes_the_tables_that_nobody_names(trained: Trained) -> None:
    cli, here = trained.cli, trained.file.parent
    configure(cli, trained.file)
    cli.build(trained.house)
    unused, configured, new = (here / f"static-code-own-{digit * 8}.bin" for digit in "012")
    for path in (unused, configured, new, trained.file):
        if path != trained.file:
            path.write_bytes(b"vectors")
        if path != new:  # perhaps the next command configures it
            os.utime(path, (0, 0))
    configure(cli, configured)
    for option in (("--dry-run",), ()):
        (swept,) = (one for one in cli.run("gc", *option, "--json").json["swept"] if one["kind"] == "tables")
        assert (swept["names"], swept["bytes"] > 0) == ([unused.name], True)
    assert models(cli) == sorted([configured, new, trained.file]), "one is configured, one embedded the index"
    (cli.folder / "rag_assets.yaml").unlink()
    assert cli.run("gc").code == 0
    assert models(cli) == sorted([new, trained.file])
    new.unlink()


def test_a_table_that_is_not_better_is_not_written(cli: CommandLine, tmp_path: Path) -> None:
    """Documentation that says what the code says is found already: there is nothing to gain."""
    files = {f"src/{name}Desk.cs": source_of(name, name.lower()) for name in PARTS}
    index_without_dagster(cli.home, new_repository(tmp_path / "house", dict(files)), "house")
    done = cli.run("train-embedder", "--from", "house", "--json")
    assert done.code == 1 and "did not rise" in done.err and "nothing is written" in done.err
    assert {kind["dense_before"] for kind in done.json["kinds"]} == {1.0}
    assert (done.json["better"], done.json["model"], done.json["file"]) == (False, None, None)
    assert models(cli) == []


def kind(name: str, before: float, after: float, questions: int = 50) -> KindScore:
    scores = {"dense_before": before, "dense_after": after, "blend_before": 0.5, "blend_after": 0.1}
    return KindScore(kind=name, questions=questions, **scores)


@pytest.mark.parametrize(
    ("kinds", "better"),
    [
        ([kind("commit", 0.3, 0.4), kind("name", 0.5, 0.495)], True),
        ([kind("commit", 0.3, 0.4), kind("name", 0.5, 0.485)], False),
        ([kind("commit", 0.3, 0.3), kind("name", 0.5, 0.5)], False),
        ([kind("commit", 0.3, 0.4), kind("name", 0.5, 0.1, questions=3)], True),
    ],
    ids=["a small fall", "one kind falls", "no gain", "three questions say nothing"],
)
def test_better_is_a_higher_mean_without_a_kind_that_falls(kinds: list[KindScore], *, better: bool) -> None:
    table = Table(*(np.zeros(0, np.float32) for _ in range(3)))
    assert TrainedTable(table=table, pairs=1, kinds=tuple(kinds)).is_better is better


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (lambda content: b"", "is no table of vectors"),
        (lambda content: b"embedder: {}", "is no table of vectors"),
        (lambda content: content[:5_000] + b"\xff\xff\xff" + content[5_003:], "it is damaged"),
        (lambda content: content.replace(b"static-code-own-", b"static-code-new-"), "train-embedder did not make"),
        (None, "No such file"),
    ],
    ids=["empty", "another file", "damaged", "of another model", "absent"],
)
def test_a_file_that_is_no_such_table_is_an_error_with_the_command(
    trained: Trained, cli: CommandLine, damaged: Callable[[bytes], bytes] | None, said: str
) -> None:
    if damaged is not None:
        (cli.folder / "a.bin").write_bytes(damaged(trained.file.read_bytes()))
    configure(cli, "a.bin")
    for command in (("index", trained.house), ("doctor",)):
        done = cli.run(*command)
        assert done.code == 1 and f"embedder.table: {cli.folder / 'a.bin'}" in done.out + done.err
        assert said in done.out + done.err and "rag-assets train-embedder --from LABEL" in done.out + done.err


@pytest.mark.parametrize("location", ["shop", "file://shop", "shop/src"])
def test_a_small_repository_is_too_little(cli: CommandLine, tmp_path: Path, location: str) -> None:
    """A folder, the mirror of an address, or a part of a repository: the numbers say that it was read."""
    new_repository(tmp_path / "shop")
    cli.build(location.replace("shop", str(tmp_path / "shop")), lexical_only=True, identifier="small")
    done = cli.run("train-embedder", "--from", "small")
    assert done.code == 1
    assert "small@main: 2 pairs" in done.err and "training needs 500 and 30" in done.err and "--from" in done.err
    assert models(cli) == []


def test_what_has_no_history_is_refused(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "Orders.cs").write_text("public class Orders { public int Count() => 1; }\n")
    cli.build(tmp_path / "plain", lexical_only=True)
    done = cli.run("train-embedder", "--from", "plain")
    assert done.code == 1 and "not indexed from a git repository" in done.err


def test_without_scipy_the_extra_is_named(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.cli.train_embedder.find_spec", lambda name: None)
    done = cli.run("train-embedder", "--from", "house")
    assert done.code == 1 and "pip install 'rag-assets[training]'" in done.err


def test_a_table_of_another_provider_is_refused(cli: CommandLine) -> None:
    (cli.folder / "rag_assets.yaml").write_text("embedder: {provider: minilm, table: a.bin}\n", encoding="utf-8")
    done = cli.run("config", "check")
    assert done.code == 1 and "table is of provider static-code" in done.out + done.err
