"""`rag-assets eval run|compare|report|mine` on a label with a good commit, one that lost answers, and its past."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from rag_assets.index.generations import generation_directory
from rag_assets.index.layout import require_whole_record
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.evaluation.graded import BAD, QUESTIONS, good, new_graded, write_questions
from rag_assets_tests.generation_history import History
from rag_assets_tests.records import edit_record

pytestmark = pytest.mark.rule("E24")
LABEL = "shop@main"
PAST = ("Pay money back for parcels", "Mail campaigns once a month", "Verify the password twice")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Good, then three answers lost; nothing is configured, so no gate keeps that from being served."""
    history = new_graded(tmp_path_factory.mktemp("asked"))
    free = history.repository.model_copy(update={"eval_set": None})
    made = History(history.home, history.source, history.settings, free)
    first = made.index()[0].spec.generation_id
    second = made.commit(dict(BAD))
    return History(made.home, made.source, made.settings, free, (first, second))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    return original.copy(tmp_path)


@pytest.fixture
def cli(history: History, tmp_path: Path) -> CommandLine:
    folder = tmp_path / "here"
    folder.mkdir()
    write_questions(folder / "set.jsonl")
    return CommandLine(history.home, folder)


@pytest.mark.parametrize(
    "words",
    [["eval", "--set", "set.jsonl"], ["eval", LABEL, "--set", "set.jsonl"], ["eval", "run", "--set", "set.jsonl"]],
)
def test_run_is_the_default(cli: CommandLine, words: list[str]) -> None:
    done = cli.run(*words)
    assert done.code == 0, done.err
    assert "10 questions of set" in done.out and "95 % BETWEEN" in done.out and "p95" in done.out


def test_the_group_has_help(cli: CommandLine) -> None:
    said = cli.run("eval", "--help").out
    assert [word for word in ("run", "compare", "report", "mine") if word not in said] == []


def test_categories_and_a_run_in_a_file(cli: CommandLine) -> None:
    tagged = [question | {"tags": ["money" if number < 3 else "rest"]} for number, question in enumerate(QUESTIONS)]
    write_questions(cli.folder / "tagged.jsonl", tagged)
    done = cli.run("eval", "--set", "tagged.jsonl", "--out", "kept.json")
    assert "CATEGORY" in done.out and "money" in done.out
    found = cli.run("eval", "--set", "tagged.jsonl", "--json").json
    assert [(one["name"], one["questions"]) for one in found["categories"]] == [("all", 10), ("money", 3), ("rest", 7)]
    assert found["categories"][2]["metrics"]["recall@10"]["value"] == 1.0 and found["latency_ms"]["p50"] > 0
    assert cli.run("eval", "compare", "kept.json", "active", "--set", "tagged.jsonl", "--json").json["same"] == 10


def test_compare_asks_what_was_not_asked_yet(cli: CommandLine, history: History) -> None:
    done = cli.run("eval", "compare", "previous", "--set", "set.jsonl")
    assert done.code == 0, done.err
    for part in ("3 lost", "lost: rank 1 → none  q-refund: Pays money back", "recall@10", "-0.300", "clear"):
        assert part in done.out, part
    for known in history.ids:
        assert (generation_directory(history.home, LABEL, known) / "eval" / "set.json").is_file()
    found = cli.run("eval", "compare", "previous", "active", "--set", "set", "--json").json
    lost = {"id": "q-invoice", "question": "Bills a customer at the end of the month.", "move": "lost"}
    assert found["moved"][0] == lost | {"before": 1, "now": 0}
    assert found["categories"][0]["metrics"]["recall@10"]["change"]["value"] == -0.3
    assert cli.run("eval", "compare", "previous", "--json").json == found, "the only set that both were asked"


def test_a_run_of_another_generation_keeps_what_it_answers_differently(cli: CommandLine, history: History) -> None:
    assert cli.run("eval", "--set", "set.jsonl").code == 0
    said = cli.run("eval", "--set", "set.jsonl", "-g", "previous").out
    assert f"against {history.ids[1]}: 3 gained, 7 the same" in said
    kept = json.loads((generation_directory(history.home, LABEL, history.ids[0]) / "eval" / "set.json").read_bytes())
    assert kept["against"]["generation_id"] == history.ids[1] and len(kept["against"]["moved"]) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["compare", "previous"], "no question set that both were asked", id="never asked"),
        pytest.param(["compare", "previous", "--set", "gone"], "was never asked 'gone'", id="set never asked"),
        pytest.param(
            ["compare", "previous", "--set", "gone.jsonl"],
            "gone.jsonl: cannot be read: there is no such file",
            id="no file",
        ),
        pytest.param(["compare", "20010101", "--set", "set.jsonl"], "it may have been pruned", id="pruned generation"),
        pytest.param(["compare", "set.json"], "there is no such file; write a file with: ", id="no run in no file"),
        pytest.param(["compare", "set.jsonl"], "no run that this version can read", id="questions instead of a run"),
        pytest.param(["compare", "bad.json"], "no run that this version can read", id="no run in a file"),
        pytest.param(["report"], "nothing was ever asked of shop@main", id="report of nothing"),
        pytest.param(["report", "--set", "x"], "set 'x' was never asked", id="report of another set"),
        pytest.param(["run"], "has no question set; name one with --set FILE", id="no set"),
        pytest.param(["run", "--set", "empty.jsonl"], "no questions in it", id="empty set"),
        pytest.param(["run", "--set", "twice.jsonl"], ":2: id 'q-refund' is that of line 1", id="same id twice"),
        pytest.param(
            ["run", "--set", "web.jsonl"], "no question is about shop; it has questions about: a/web", id="web"
        ),
        pytest.param(["mine", "elsewhere"], "neither a configured repository nor a label", id="unknown repository"),
        pytest.param(["mine", "files"], "has no history", id="no repository"),
        pytest.param(["mine", LABEL, "--since", "nowhere"], "nowhere", id="no such commit"),
        pytest.param(["mine", LABEL, "--since", "2001-01-01"], "no commit until 2001-01-01", id="too early"),
    ],
)
def test_what_cannot_be_done_says_what_can(cli: CommandLine, words: list[str], said: str) -> None:
    (cli.folder / "empty.jsonl").write_text("", encoding="utf-8")
    (cli.folder / "bad.json").write_text("{}", encoding="utf-8")
    (cli.folder / "files").mkdir()
    (cli.folder / "files" / "a.cs").write_text("class A { }", encoding="utf-8")
    write_questions(cli.folder / "twice.jsonl", [QUESTIONS[0], QUESTIONS[0]])
    write_questions(cli.folder / "web.jsonl", [QUESTIONS[0] | {"repository": "a/web"}])
    done = cli.run("eval", *words)
    assert (done.code, done.out) == (1, "") and said in done.err and done.err.startswith("error: ")


@pytest.mark.parametrize("place", [".", "set.jsonl/run.json"], ids=["a folder", "under a file"])
def test_a_place_where_no_run_can_be_kept_is_refused_before_anything_is_asked(
    cli: CommandLine, history: History, place: str
) -> None:
    done = cli.run("eval", LABEL, "--set", "set.jsonl", "--out", place)
    assert done.code == 2 and "--out" in done.err
    assert not (generation_directory(history.home, LABEL, history.ids[1]) / "eval").exists()


@pytest.mark.parametrize("command", ["run", "report"])
def test_one_of_several_labels_is_an_argument(cli: CommandLine, command: str) -> None:
    index_without_dagster(cli.home, new_repository(cli.folder / "depot"), "depot")
    done = cli.run("eval", command)
    assert done.code == 1 and f"choose one as rag-assets eval {command} LABEL: depot@main, {LABEL}" in done.err


def test_an_expected_file_that_is_not_there_is_a_warning(cli: CommandLine) -> None:
    moved = QUESTIONS[0] | {"relevant": ["old/RefundService.cs", "src/Moved.cs"]}
    write_questions(cli.folder / "old.jsonl", [moved, QUESTIONS[1]])
    done = cli.run("eval", "--set", "old.jsonl")
    assert done.code == 0 and "2 of the 3 expected files are not in shop@main (commit " in done.err
    assert "old/RefundService.cs (near: src/RefundService.cs), src/Moved.cs; correct the paths" in done.err


def test_a_set_that_this_index_cannot_answer_is_refused(cli: CommandLine, history: History) -> None:
    foreign = [question | {"relevant": [f"web/{number}.ts"]} for number, question in enumerate(QUESTIONS)]
    foreign[0]["relevant"] = ["app/refundservice.cs"]
    write_questions(cli.folder / "web.jsonl", foreign)
    done = cli.run("eval", "--set", "web.jsonl")
    assert (done.code, done.out) == (1, "")
    for part in (
        "web seems to be for another repository or commit: 0 of the 10 files that it expects are in shop@main",
        "app/refundservice.cs (near: src/RefundService.cs), web/1.ts, web/2.ts, web/3.ts, web/4.ts and 5 more;",
        "rag-assets eval mine shop@main",
    ):
        assert part in done.err, done.err
    assert not (generation_directory(history.home, LABEL, history.ids[1]) / "eval").exists()


def test_settings_of_the_search_are_asked_and_kept(cli: CommandLine) -> None:
    """Two configurations of one index: the numbers are compared, and said not to be of two indexes."""
    kept: list[dict[str, object]] = []
    for name, candidates in (("wide.json", 200), ("narrow.json", 1)):
        config = f"search: {{keyword_candidates: {candidates}}}\n"
        (cli.folder / "rag_assets.yaml").write_text(config, encoding="utf-8")
        assert cli.run("eval", "--set", "set.jsonl", "--out", name).code == 0
        kept.append(json.loads((cli.folder / name).read_text(encoding="utf-8")))
    assert [run["conditions"]["keyword_candidates"] for run in kept] == [200, 1]  # type: ignore[index]
    assert [run["conditions"]["clearance"] for run in kept] == ["internal", "internal"]  # type: ignore[index]
    done = cli.run("eval", "compare", "wide.json", "narrow.json")
    assert done.code == 0 and "more than the commit differs (keyword_candidates 200 → 1)" in done.err
    found = cli.run("eval", "compare", "wide.json", "narrow.json", "--json").json
    assert (found["comparable"], found["conditions"]) == (False, {"keyword_candidates": ["200", "1"]})
    again = cli.run("eval", "compare", "wide.json", "active", "--set", "set", "--json").json
    assert again["now"]["conditions"]["keyword_candidates"] == 1, "what the generation keeps is the newest run"


def test_a_run_of_another_ranking_is_asked_again(cli: CommandLine, history: History) -> None:
    cli.run("eval", "compare", "previous", "--set", "set.jsonl")
    stored = generation_directory(history.home, LABEL, history.ids[0]) / "eval" / "set.json"
    ranking = json.loads(require_whole_record(stored.read_bytes()))["conditions"]["ranking"]
    edit_record(stored, f'"ranking": {ranking}', '"ranking": 0')
    said = "more than the commit differs (ranking 0 → "
    assert said in cli.run("eval", "compare", "previous", "--set", "set").err, "by its name a run is taken as it is"
    by_file = cli.run("eval", "compare", "previous", "--set", "set.jsonl")
    assert by_file.code == 0 and said not in by_file.err
    assert json.loads(require_whole_record(stored.read_bytes()))["conditions"]["ranking"] > 0


def test_another_name_of_the_repository_is_said_by_hand(cli: CommandLine) -> None:
    write_questions(cli.folder / "web.jsonl", [QUESTIONS[3] | {"repository": "a/web"}])
    assert "1 questions of web" in cli.run("eval", "--set", "web.jsonl", "--repository", "a/web").out


def test_the_report_on_stdout_and_as_a_page(cli: CommandLine) -> None:
    cli.run("eval", "compare", "previous", "--set", "set.jsonl")
    cli.run("eval", "--set", "set.jsonl")
    done = cli.run("eval", "report", "--html", "page.html")
    assert done.code == 0 and "### Over generations" in done.out and done.out.count("| bm25 |") == 2
    page = (cli.folder / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "<polyline" in page and "q-refund" in page
    only = cli.run("eval", "report", LABEL, "--set", "set", "-g", "previous").out
    assert "Not answered first" not in only, "the older one answers everything first"


def test_numbers_of_a_pruned_generation_stay_in_the_report(cli: CommandLine, history: History) -> None:
    cli.run("eval", "compare", "previous", "--set", "set.jsonl")
    shutil.rmtree(generation_directory(history.home, LABEL, history.ids[0]))
    assert cli.run("eval", "report").out.count("| bm25 |") == 2


def grown(history: History) -> None:
    """Three commits after the one that is indexed, and one that says nothing."""
    for text, name in zip(PAST, ("Refund", "Newsletter", "Login"), strict=True):
        path = f"src/{name}Service.cs"
        history.source.commit({path: good()[path] + f"// {text}\n"}, f"{text} (#7)")
    history.source.commit({"docs/a.md": "# A\n"}, "Write about what was done")


def test_a_mined_set_is_asked_of_the_commit_that_it_is_about(cli: CommandLine, history: History) -> None:
    grown(history)
    indexed = history.source.git("rev-parse", "main~4")
    done = cli.run("eval", "mine", LABEL, "--since", indexed, "--out", "mined.jsonl")
    assert done.code == 0 and done.out == "", done.err
    assert "3 questions about commit" in done.err and "changed no source file beside tests" in done.err
    assert f"index {LABEL} --commit " in done.err and "--set mined.jsonl" in done.err and "say little" in done.err
    rows = [json.loads(line) for line in (cli.folder / "mined.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["query"], row["relevant"], row["type"]) for row in rows] == [
        (PAST[0], ["src/RefundService.cs"], "commit"),
        (PAST[1], ["src/NewsletterService.cs"], "commit"),
        (PAST[2], ["src/LoginService.cs"], "commit"),
    ]
    fair = cli.run("eval", "--set", "mined.jsonl")
    assert fair.code == 0 and "warning" not in fair.err
    history.index()
    leaked = cli.run("eval", "--set", "mined.jsonl", "--json")
    assert "3 of 3 questions are of commits that this index knows" in leaked.err
    assert leaked.json["run"]["metrics"]["recall@10"] == 1.0, "each is found by its own words"
    assert [one["tags"] for one in leaked.json["run"]["results"]] == [["commit", "non-leaky", "known-commit"]] * 3
    without = cli.run("eval", "--set", "mined.jsonl", "--without-leaky")
    assert without.code == 1 and "every question is leaky" in without.err


def test_mining_to_stdout_until_a_commit(cli: CommandLine, history: History) -> None:
    grown(history)
    first, last = (history.source.git("rev-parse", f"main~{back}") for back in (4, 2))
    done = cli.run("eval", "mine", history.source.path, "--since", first, "--until", last)
    assert [json.loads(line)["query"] for line in done.out.splitlines()] == list(PAST[:2])
    assert cli.run("eval", "mine", LABEL, "-n", "1", "--out", "a.jsonl", "--json").json["questions"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--json"], "--out"),
        (["--out", "set.txt"], "is no .jsonl file"),
        (["--out", "set.jsonl"], "set.jsonl exists; choose another name or add --force"),
        (["--out", "nowhere/a.jsonl"], "there is no folder nowhere"),
        (["-n", "0"], "--limit"),
    ],
)
def test_wrong_usage_of_mine(cli: CommandLine, words: list[str], said: str) -> None:
    done = cli.run("eval", "mine", LABEL, *words)
    assert done.code == 2 and said in " ".join(done.err.replace("│", " ").split())
