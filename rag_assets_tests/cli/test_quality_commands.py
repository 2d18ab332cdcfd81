"""The promotion gate and `eval` on the command line: exit codes, tables, objects, and what to type next."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from rag_assets.index.generations import active_generation, finished_generations, generation_directory
from rag_assets.index.layout import IndexHome
from rag_assets_tests.cli.conftest import CommandLine, new_repository
from rag_assets_tests.evaluation.graded import BAD, QUESTIONS, good, write_questions
from rag_assets_tests.generation_history import copy_sparse
from rag_assets_tests.git_repository import Repository

pytestmark = pytest.mark.rule("E25")
LABEL = "shop@main"


@dataclass(frozen=True)
class Graded:
    cli: CommandLine
    source: Repository

    @property
    def served(self) -> str:
        return active_generation(self.cli.home, LABEL).manifest.generation_id

    def configure(self, **evaluation: object) -> None:
        values = {
            "home": "home",
            "embedder": {"provider": "lexical-only"},
            "repositories": [{"id": "shop", "location": "shop", "ref": "main", "eval_set": "questions.jsonl"}],
            "evaluation": {"k": 3} | evaluation,
        }
        path = self.cli.folder / "rag_assets.yaml"
        path.write_text(yaml.safe_dump(values), encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One good commit, indexed."""
    at = tmp_path_factory.mktemp("graded")
    made = Graded(CommandLine(IndexHome(at / "home"), at), new_repository(at / "shop", dict(good())))
    write_questions(at / "questions.jsonl")
    made.configure()
    done = made.cli.run("index", "--json")
    assert done.code == 0, done.err
    (result,) = done.json["results"]
    assert result["quality"]["verdict"] == "passed" and result["quality"]["changes"][0]["candidate"] == 1.0
    return at


def copied(folder: Path, to: Path) -> Graded:
    shutil.copytree(folder, to, dirs_exist_ok=True, copy_function=copy_sparse)
    return Graded(CommandLine(IndexHome(to / "home"), to), Repository(to / "shop"))


@pytest.fixture
def graded(folder: Path, tmp_path: Path) -> Graded:
    return copied(folder, tmp_path)


@pytest.fixture(scope="module")
def refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second commit, refused by a minimum."""
    at = tmp_path_factory.mktemp("refused")
    made = copied(folder, at)
    made.source.commit(BAD)
    made.configure(tolerance=0.3, minimum={"recall": 1.0})
    assert made.cli.run("index").code == 3, "the minimum holds whatever the tolerance"
    return at


def test_a_refused_build_has_an_exit_code_of_its_own(graded: Graded) -> None:
    old = graded.served
    graded.source.commit(BAD)
    done = graded.cli.run("index")
    assert done.code == 3 and graded.served == old
    for part in (
        f"recall@3 is 0.700, 30.0% below the 1.000 of {old} (tolerance 5%)",
        "rag-assets generations activate",
    ):
        assert part in done.err
    assert "refused by the promotion gate" in done.out and "rank 1 → none" in done.out
    again = graded.cli.run("index", "--json")
    (result,) = again.json["results"]
    assert (again.code, result["status"], result["quality"]["verdict"]) == (3, "refused", "refused")
    candidate = result["generation"]

    listed = graded.cli.run("generations", "list")
    assert "refused" in listed.out and "recall@3 0.700" in listed.out and "recall@3 1.000" in listed.out
    (label,) = graded.cli.run("generations", "list", "--json").json["labels"]
    assert {entry["state"] for entry in label["generations"]} == {"active", "refused"}

    status = graded.cli.run("status")
    assert "recall@3 1.000" in status.out and f"the promotion gate refused {candidate}" in status.out
    (found,) = graded.cli.run("status", "--json").json["labels"]
    assert found["refused"]["generation_id"] == candidate and found["quality"][0]["metrics"]["recall@3"] == 1.0

    compared = graded.cli.run("generations", "compare", old, candidate)
    assert "questions: recall@3 1.000 → 0.700" in compared.out

    (line,) = graded.cli.run("watch", "--once").out.splitlines()
    assert "recall@3 is 0.700" in line and "asking again" not in line

    assert graded.cli.run("generations", "activate", candidate).code == 0
    assert graded.served == candidate
    assert graded.cli.run("index").code == 0, "what a person serves is up to date"
    (found,) = graded.cli.run("status", "--json").json["labels"]
    assert found["refused"] is None


@pytest.mark.usefixtures("without_dagster")
@pytest.mark.parametrize(
    "rules", [{"tolerance": 0.3}, {"gate": False}, {"gate": False, "minimum": {"recall": 1.0}}], ids=str
)
def test_rules_that_are_weaker_serve_what_was_refused(refused: Path, tmp_path: Path, rules: dict[str, object]) -> None:
    again = copied(refused, tmp_path)
    before = again.served
    again.configure(**rules)
    done = again.cli.run("index", "--json")
    assert done.code == 0, done.err
    assert done.json["results"][0]["generation"] == again.served != before


def test_a_broken_set_is_known_before_the_work(graded: Graded) -> None:
    (graded.cli.folder / "questions.jsonl").write_text("{", encoding="utf-8")
    graded.source.commit(BAD)
    done = graded.cli.run("index")
    assert done.code == 1 and "questions.jsonl:1: not one JSON object" in done.err
    assert len(list(generation_directory(graded.cli.home, LABEL, "x").parent.iterdir())) == 1, "nothing was begun"
    checked = graded.cli.run("config", "check")
    assert checked.code == 1 and "questions.jsonl:1" in checked.out


@pytest.mark.rule("E24")
def test_eval_shows_and_keeps_a_run(graded: Graded) -> None:
    done = graded.cli.run("eval")
    assert done.code == 0, done.err
    assert "10 questions of questions" in done.out and "recall@3" in done.out and "1.000" in done.out
    other = [*QUESTIONS[:2], {"id": "q-none", "question": "Where is the moon?", "relevant": ["src/Moon.cs"]}]
    write_questions(graded.cli.folder / "other.jsonl", other)
    found = graded.cli.run("eval", LABEL, "--set", "other.jsonl", "--json").json
    assert found["stored"] is True
    assert found["run"]["metrics"]["recall@3"] == pytest.approx(2 / 3)
    assert found["run"]["results"][0]["files"][0]["path"] == "src/RefundService.cs"
    assert (generation_directory(graded.cli.home, LABEL, graded.served) / "eval" / "other.json").is_file()
    said = graded.cli.run("eval", "--set", "other.jsonl").out
    assert "q-none: Where is the moon? (not in this commit: src/Moon.cs)" in said


def test_eval_of_a_refused_build_stands_beside_the_served_one(refused: Path, tmp_path: Path) -> None:
    again = copied(refused, tmp_path)
    (candidate,) = set(finished_generations(again.cli.home, LABEL)) - {again.served}
    said = again.cli.run("eval", "shop", "--generation", candidate).out
    assert "ACTIVE" in said and "-0.300" in said
    found = again.cli.run("eval", "--generation", candidate, "--json").json
    assert found["active"]["generation"] == again.served


def test_eval_without_a_set_says_where_to_name_one(graded: Graded) -> None:
    (graded.cli.folder / "rag_assets.yaml").write_text("home: home\n", encoding="utf-8")
    done = graded.cli.run("eval")
    assert done.code == 1 and "--set FILE" in done.err and "eval_set" in done.err
    gone = graded.cli.run("eval", "--set", "gone.yaml")
    assert gone.code == 1 and "there is no such file" in gone.err


@pytest.mark.usefixtures("without_dagster")
def test_rules_of_the_evaluation_are_in_what_a_build_measures(graded: Graded) -> None:
    def measured(**evaluation: object) -> list[str]:
        graded.configure(**evaluation)
        (result,) = graded.cli.run("index", "--force", "--json").json["results"]
        return [change["metric"] for change in result["quality"]["changes"]]

    def answered() -> list[int]:
        (found,) = graded.cli.run("eval", "report", LABEL, "--json").json["sets"]
        return [record["answers"]["answerable"] for record in found["records"] if record["answers"]]

    assert "recall@3" in measured() and answered() == []
    assert "recall@2" in measured(k=2)
    measured(answers=True, answer_limit=4)
    assert answered() == [4]
    graded.source.commit(BAD)
    graded.configure(metrics=["mrr"])
    refused = graded.cli.run("index")
    assert refused.code == 3 and "mrr@10 is" in refused.err and "recall@3 is" not in refused.err
