"""`rag-assets eval run --answers`, `eval mine --answers`, and what `eval report` and `eval compare` make of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.answer.abstention import SURE, THRESHOLD
from rag_assets.index.generations import active_generation, generation_directory
from rag_assets_tests.cli.conftest import CommandLine, index_without_dagster, new_repository
from rag_assets_tests.evaluation.graded import BAD, QUESTIONS, TOPICS, new_graded, write_questions
from rag_assets_tests.generation_history import History
from rag_assets_tests.models.llm.model_server import ModelServer, completion

pytestmark = pytest.mark.rule("E24", "E22")
LABEL = "shop@main"
PASTA = {"id": "pasta", "question": "How long should pasta boil?", "answerable": False}
OTHER: dict[str, str | bytes] = {
    "src/PalletCounter.cs": "namespace Depot;\n\n/// <summary>Counts wooden pallets that heavy trucks bring to "
    "the loading ramp of the depot every morning.</summary>\n"
    "public class PalletCounter { public int CountPallets() => 1; }\n",
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Good, then three answers lost."""
    folder = tmp_path_factory.mktemp("asked")
    history = new_graded(folder)
    free = history.repository.model_copy(update={"eval_set": None})
    made = History(history.home, history.source, history.settings, free)
    first = made.index()[0].spec.generation_id
    second = made.commit(dict(BAD))
    index_without_dagster(made.home, new_repository(folder / "depot", OTHER), "depot")
    return History(made.home, made.source, made.settings, free, (first, second))


@pytest.fixture
def history(original: History, tmp_path: Path) -> History:
    return original.copy(tmp_path)


@pytest.fixture
def cli(history: History, tmp_path: Path) -> CommandLine:
    folder = tmp_path / "here"
    folder.mkdir()
    write_questions(folder / "set.jsonl", [*QUESTIONS, PASTA])
    return CommandLine(history.home, folder)


def test_answers_are_shown(cli: CommandLine) -> None:
    done = cli.run("eval", LABEL, "--set", "set.jsonl", "--answers")
    assert done.code == 0, done.err
    for part in (
        "10 questions of set",
        "10 answerable and 1 unanswerable questions",
        "extractive, code_question_answering_offline",
        "of the answerable questions",
        "refused: q-invoice",
        "supported",
    ):
        assert part in done.out, part


def test_one_object_for_programs(cli: CommandLine) -> None:
    found = cli.run("eval", LABEL, "--set", "set.jsonl", "--answers", "--json").json
    assert found["answers"]["refused"]["value"] == 1.0 and found["answers"]["answered"]["value"] < 1.0
    assert [one["id"] for one in found["run"]["answers"]][-1] == "pasta"
    assert cli.run("eval", "depot@main", "--set", "set.jsonl", "--json").code == 1, "a set for another repository"


SAID = TOPICS["Login"]
UNSURE = "Where is the hash of a password stored for sessions?"
GRADED: list[dict[str, object]] = [
    {"id": "fact", "question": SAID, "relevant": "src/LoginService.cs", "facts": "LoginServiceRun()", "kind": "how"},
    {
        "id": "line",
        "question": SAID,
        "relevant": "src/LoginService.cs",
        "spans": "src/LoginService.cs:6",
        "kind": "how",
    },
    {"id": "comment", "question": SAID, "relevant": "src/LoginService.cs", "spans": "src/LoginService.cs:5-5"},
    {"id": "elsewhere", "question": SAID, "relevant": "src/LoginService.cs", "spans": "src/LoginService.cs:7-9"},
    {"id": "unsaid", "question": SAID, "relevant": "src/LoginService.cs", "facts": ["bcrypt"], "kind": "how"},
    {"id": "astray", "question": SAID, "relevant": "src/BackupService.cs", "facts": ["LoginServiceRun"], "kind": "how"},
    {"id": "near", "question": UNSURE, "relevant": "src/LoginService.cs", "kind": "data"},
    {"id": "far", "question": UNSURE, "relevant": "src/BackupService.cs", "kind": "data"},
    {"id": "silent", "question": PASTA["question"], "relevant": "src/BackupService.cs", "kind": "data"},
    PASTA,
    {"id": "nothing-near", "question": UNSURE, "answerable": False},
    {"id": "nothing", "question": SAID, "answerable": False},
]


def test_answers_are_graded_by_what_they_quote(cli: CommandLine) -> None:
    write_questions(cli.folder / "graded.jsonl", GRADED)
    found = cli.run("eval", LABEL, "--set", "graded.jsonl", "--answers", "--json").json
    assert {one["id"]: (one["grade"], one["cites_expected"]) for one in found["run"]["answers"]} == {
        "fact": ("right", True),
        "line": ("right", True),
        "comment": ("right", True),
        "elsewhere": ("partly", True),
        "unsaid": ("partly", True),
        "astray": ("wrong", False),
        "near": ("not sure", True),
        "far": ("not sure", False),
        "silent": ("refused", False),
        "pasta": ("refused", False),
        "nothing-near": ("not sure", False),
        "nothing": ("wrong", False),
    }
    total, *kinds = found["outcomes"]
    assert total == {
        "category": "all",
        "answerable": 9,
        "right": 3,
        "partly": 2,
        "wrong": 1,
        "unsure_with_place": 1,
        "unsure_without": 1,
        "refused": 1,
        "unanswerable": 3,
        "rightly_refused": 1,
        "rightly_unsure": 1,
        "wrongly_answered": 1,
    }
    assert [(one["category"], one["answerable"], one["right"]) for one in kinds] == [("data", 3, 0), ("how", 4, 2)]
    assert found["answers"]["right"]["value"] == pytest.approx(3 / 9, abs=1e-6)
    assert found["answers"]["declined"]["value"] == pytest.approx(2 / 3, abs=1e-6)
    done = cli.run("eval", LABEL, "--set", "graded.jsonl", "--answers")
    shown = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "all 9 33.3% 22.2% 11.1% 22.2% 11.1% 11.1%" in shown, done.out
    assert "how 4 50.0% 25.0% 25.0% 0.0% 0.0% 0.0%" in shown
    assert "all 3 33.3% 33.3% 33.3%" in shown
    assert f"not sure: near: {UNSURE}" in done.out and "cites nothing expected: astray" in done.out
    report = cli.run("eval", "report", LABEL, "--set", "graded").out
    assert "| all | 9 | 33.3% | 22.2% | 11.1% | 22.2% | 11.1% | 11.1% |" in report
    used = f"| used | {THRESHOLD:.3f} | {SURE:.3f} | 66.7% | 22.2% | 11.1% | 33.3% | 33.3% | 33.3% |"
    assert used in report, report


def test_a_limit_is_of_answers_only(cli: CommandLine) -> None:
    found = cli.run("eval", LABEL, "--set", "set.jsonl", "--answers", "--limit", "4", "--json").json
    assert (len(found["run"]["answers"]), len(found["run"]["results"])) == (4, 10)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eval", "run", "--set", "set.jsonl", "--limit", "3"], "it needs --answers"),
        (["eval", "mine", LABEL, "--beside", "depot@main"], "it needs --answers"),
        (["eval", "mine", LABEL, "--answers", "--since", "HEAD~1"], "not about commits"),
        (["eval", "mine", LABEL, "--answers", "--json"], "name a file for it with --out"),
    ],
    ids=["limit alone", "beside alone", "since", "json without a file"],
)
def test_options_that_do_not_fit(cli: CommandLine, words: list[str], said: str) -> None:
    done = cli.run(*words)
    assert done.code == 2 and said in " ".join(done.err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nope@main"], "nope@main"),
        ([LABEL, "--beside", "nope@main"], "nope@main"),
        ([LABEL, "--beside", LABEL], "is of the same repository as shop@main"),
    ],
    ids=["unknown label", "unknown other", "itself"],
)
def test_indexes_that_cannot_be_mined(cli: CommandLine, words: list[str], said: str) -> None:
    done = cli.run("eval", "mine", "--answers", *words)
    assert done.code == 1 and said in done.err


def test_report_and_compare_show_answers(cli: CommandLine, history: History) -> None:
    for generation in history.ids:
        assert cli.run("eval", LABEL, "--set", "set.jsonl", "--answers", "-g", generation).code == 0
    done = cli.run("eval", "report", LABEL, "--html", "page.html")
    for part in (
        "### Answers",
        "### What became of the answerable questions",
        "### What became of the unanswerable questions",
        "### Three outcomes",
        "### Risk over coverage",
        "citation precision",
        "| refused | q-invoice",
    ):
        assert part in done.out, part
    page = (cli.folder / "page.html").read_text("utf-8")
    for part in (
        'aria-label="risk over coverage"',
        f"refused below {THRESHOLD:.3f}",
        f"sure from {SURE:.3f}",
        "answered 70%",
    ):
        assert part in page, part
    done = cli.run("eval", "compare", "previous", "-l", LABEL, "--set", "set.jsonl")
    assert "right → refused" in done.out and "q-invoice" in done.out and "ANSWERS" in done.out
    found = cli.run("eval", "compare", "previous", "-l", LABEL, "--set", "set.jsonl", "--json").json["answers"]
    assert found["metrics"]["answered"][1]["change"]["value"] < 0
    assert {one["now"] for one in found["changed"]} == {"refused"} and found["conditions"] == {}


def test_a_report_without_answers_does_not_mention_them(cli: CommandLine) -> None:
    cli.run("eval", LABEL, "--set", "set.jsonl")
    done = cli.run("eval", "report", LABEL, "--html", "page.html")
    assert "### Answers" not in done.out and "isk over coverage" not in (cli.folder / "page.html").read_text("utf-8")


def test_questions_are_mined_from_the_index(cli: CommandLine, history: History) -> None:
    words = ("eval", "mine", LABEL, "--answers", "--beside", "depot@main", "--out", "mined.jsonl")
    done = cli.run(*words)
    assert done.code == 0, done.err
    assert "they set no threshold" in done.err
    next_one = f"rag-assets --home {cli.home.root} eval run shop@main --set mined.jsonl --answers"
    assert done.raw.splitlines()[-1].strip() == next_one
    text = (cli.folder / "mined.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len({row["id"] for row in rows}) == len(rows)
    kinds = {row["tags"][0] for row in rows}
    absent = {"other repository", "name of another", "near miss", "false premise", "the world"}
    assert {"definition", "usage", *absent} <= kinds
    service = next(row for row in rows if row["question"] == "What does LoginService do?")
    assert service["relevant"] == ["src/LoginService.cs"]
    assert all(bool(row.get("relevant")) is row.get("answerable", True) for row in rows)
    again = cli.run(*words)
    assert again.code == 2 and "mined.jsonl exists" in again.err
    assert cli.run(*words, "--force").code == 0 and (cli.folder / "mined.jsonl").read_text("utf-8") == text
    found = cli.run(*words, "--json", "--force").json
    assert found["questions"] == len(rows) == found["answerable"] + found["unanswerable"]
    commit = active_generation(history.home, LABEL).manifest.commit_sha
    assert found["commit"] == commit == rows[0]["revision"]


def test_a_mined_set_sets_the_threshold_of_ask(cli: CommandLine, history: History) -> None:
    rows = [{**question, "id": f"{question['id']}-{n}"} for n in range(5) for question in [*QUESTIONS, *[PASTA] * 10]]
    rows = [row | {"id": f"{row['id']}-{number}"} for number, row in enumerate(rows)]
    write_questions(cli.folder / "many.jsonl", rows)
    done = cli.run("eval", LABEL, "--set", "many.jsonl", "--answers", "-g", history.ids[0])
    assert "calibrated" in done.out, done.out + done.err
    assert (generation_directory(history.home, LABEL, history.ids[0]) / "threshold.json").is_file()
    assert not (generation_directory(history.home, LABEL, history.ids[1]) / "threshold.json").exists()


# a judge


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        said = {"reason": "Names *the* <service>.", "faithful": 5, "relevant": 5, "complete": 2}
        running.script(completion(json.dumps(said)))
        yield running


@pytest.fixture
def judging(cli: CommandLine, server: ModelServer) -> CommandLine:
    """Quotes answer; there are models to judge them, and none by default."""
    profile = {"model": "wise", "price_in": 1_000.0}
    answer = {"base_url": server.url, "balanced": profile, "pipeline": "code_question_answering_offline"}
    (cli.folder / "rag_assets.yaml").write_text(json.dumps({"answer": answer}), encoding="utf-8")
    return cli


@pytest.mark.rule("E25")
def test_a_judge_is_asked_where_somebody_wants_it(judging: CommandLine, server: ModelServer) -> None:
    assert "judge" not in judging.run("eval", LABEL, "--set", "set.jsonl", "--answers").out and not server.asked
    done = judging.run("eval", LABEL, "--set", "set.jsonl", "--answers", "--judge", "balanced")
    assert done.code == 0, done.err
    out = " ".join(done.out.split())
    assert "judge 0.750 (0.750–0.750) of 7 answers by wise, rubric" in out
    assert "faithful 5.0, relevant 5.0, complete 2.0; 700 + 140 tokens; cost 0.7000" in out
    assert "Names *the* <service>." in out
    found = judging.run("eval", LABEL, "--set", "set.jsonl", "--answers", "--judge", "balanced", "--json").json
    assert found["answers"]["judge"]["judged"] == 7 and found["answers"]["judge"]["not_judged"] == 0
    page = judging.run("eval", "report", LABEL, "--html", "page.html")
    assert "### Judged, the worst first" in page.out and "Names \\*the\\* \\<service\\>." in page.out
    assert "Names *the* &lt;service&gt;." in (judging.folder / "page.html").read_text("utf-8")


@pytest.mark.rule("E25")
def test_the_configuration_may_name_a_judge_and_a_rubric(judging: CommandLine, server: ModelServer) -> None:
    file = judging.folder / "rag_assets.yaml"
    rules = {"judge": "balanced", "judge_rubric": "strict.md"}
    file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"evaluation": rules}), encoding="utf-8")
    done = judging.run("eval", LABEL, "--set", "set.jsonl", "--answers")
    assert done.code == 1 and "strict.md:1: the rubric cannot be read" in done.err
    rubric = "# system\nBe strict.\n# user\n{question}\n{evidence}\n{draft}\n"
    (judging.folder / "strict.md").write_text(rubric, encoding="utf-8")
    assert judging.run("eval", LABEL, "--set", "set.jsonl", "--answers").code == 0
    assert server.asked[0].body["messages"][0]["content"] == "Be strict."


@pytest.mark.rule("E25")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--judge", "balanced"], 2, "there are answers to judge with --answers only"),
        (["--answers", "--judge", "best"], 2, "no profile 'best'; valid: cheap, balanced, premium"),
        (
            ["--answers", "--judge", "cheap"],
            1,
            "no model judges as 'cheap': set answer.base_url and",
        ),
    ],
    ids=["no answers", "unknown", "no model"],
)
def test_a_judge_that_cannot_be_asked(judging: CommandLine, words: list[str], code: int, said: str) -> None:
    done = judging.run("eval", LABEL, "--set", "set.jsonl", *words)
    assert done.code == code and said in " ".join(done.err.replace("│", " ").split())


@pytest.mark.rule("E25")
def test_two_configurations_are_compared_by_the_rule_of_promotion(cli: CommandLine, history: History) -> None:
    for name, generation in zip(("good", "bad"), history.ids, strict=True):
        words = ("eval", LABEL, "--set", "set.jsonl", "--answers", "-g", generation, "--out", f"{name}.json")
        assert cli.run(*words).code == 0
    done = cli.run("eval", "compare", "good.json", "bad.json")
    assert done.code == 0 and "NOW may not take the place of BEFORE: recall@10 is 0.700, -30.0%" in done.out
    assert "citation correctness" in done.out and "ret@5" in done.out
    back = cli.run("eval", "compare", "bad.json", "good.json", "--json").json["promotion"]
    assert back["may_replace"] and back["reason"] == "nothing fell by more than 5%"
    (cli.folder / "rag_assets.yaml").write_text(json.dumps({"evaluation": {"tolerance": 0.4}}), encoding="utf-8")
    assert "NOW may take the place of BEFORE" in cli.run("eval", "compare", "good.json", "bad.json").out
